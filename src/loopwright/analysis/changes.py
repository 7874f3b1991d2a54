"""Commits as landed changes: a merged branch is one change, and lands with its merge. Pure.

A problem that was fixed before it landed affected no user, so the order of landing counts, not the order of writing.
Paths are classified by the pre-registered patterns: test or build file, prose, noise; and by their surface.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

import msgspec

from loopwright.analysis.history import Commit
from loopwright.analysis.messages import ChangeKind, ReadMessage
from loopwright.analysis.preregistered import HEURISTICS, NUMBERS, SURFACE_RULES
from loopwright.reflection.risk import evaluate_risk_floor

_CACHE_SIZE: Final = 1 << 16
_TEST = re.compile(HEURISTICS.test_paths, re.IGNORECASE)
_BUILD = re.compile(HEURISTICS.build_paths, re.IGNORECASE)
_PROSE = re.compile(HEURISTICS.prose_paths, re.IGNORECASE)
_NOISE = re.compile(HEURISTICS.noise_paths, re.IGNORECASE)


@lru_cache(_CACHE_SIZE)
def is_checked(path: bytes) -> bool:
    """Whether the path is a test or build file, in which a machine finds mistakes."""
    return is_test(path) or _BUILD.search(path.decode("utf-8", "replace")) is not None


def is_test(path: bytes) -> bool:
    """Whether the path is a test, by its folder or name; prose about tests is not."""
    text = path.decode("utf-8", "replace")
    return _TEST.search(text) is not None and _PROSE.search(text) is None


@lru_cache(_CACHE_SIZE)
def is_telling(path: bytes) -> bool:
    """Whether two changes that share this file are related: it is neither prose nor a generated lock file."""
    text = path.decode("utf-8", "replace")
    return _PROSE.search(text) is None and _NOISE.search(text) is None


def surface_weight(paths: Iterable[bytes]) -> float:
    """The risk of a change's surface by the pre-registered table; the riskiest path decides."""
    names = (path.decode("utf-8", "surrogateescape") for path in paths)
    return float(evaluate_risk_floor(names, rules=SURFACE_RULES).base)


class LandedChange(msgspec.Struct, frozen=True, gc=False):
    """A change that landed: `order` is its position on the main line, `members` are its commits."""

    id: str
    order: int
    time: int
    message: ReadMessage
    files: frozenset[bytes]
    members: tuple[str, ...]
    is_wide: bool

    @property
    def kind(self) -> ChangeKind:
        """The kind of change, by its message."""
        return self.message.kind


def changes_of(commits: Sequence[Commit], tip: str) -> list[LandedChange]:
    """All changes, in the order in which they landed on the first-parent line below `tip`."""
    by_id = {commit.id: commit for commit in commits}
    changes: list[LandedChange] = []
    landed: set[str] = set()
    order = 0
    for landing in _main_line(by_id, tip):
        landed.add(landing.id)
        brought = _brought_in(landing, by_id, landed)
        changes += _landed(landing, brought, order)
        order += 1
    # Commits outside the first-parent line (a range with several tips) landed by themselves.
    for commit in sorted((commit for commit in commits if commit.id not in landed), key=lambda commit: commit.time):
        changes += _landed(commit, [], order)
        order += 1
    return changes


def _main_line(by_id: dict[str, Commit], tip: str) -> list[Commit]:
    line: list[Commit] = []
    current = by_id.get(tip)
    while current is not None:
        line.append(current)
        current = by_id.get(current.parents[0]) if current.parents else None
    return line[::-1]


def _brought_in(landing: Commit, by_id: dict[str, Commit], landed: set[str]) -> list[Commit]:
    """The commits that a merge brought into the main line, oldest first as far as parents tell."""
    brought: list[Commit] = []
    pending = list(landing.parents[1:])
    while pending:
        name = pending.pop()
        commit = by_id.get(name)
        if commit is None or name in landed:
            continue
        landed.add(name)
        brought.append(commit)
        pending += commit.parents
    return brought[::-1]


def _landed(landing: Commit, brought: list[Commit], order: int) -> Iterator[LandedChange]:
    if not brought:
        yield _single(landing, order, landing.time)
        return
    is_one_change = landing.message.kind not in (ChangeKind.OTHER, ChangeKind.RELAND)
    for commit in brought:
        # A commit that names what it fixes or reverts is a separate signal, even inside a feature.
        if not is_one_change or (commit.message.names and landing.message.kind is ChangeKind.FEATURE):
            yield _single(commit, order, landing.time)
    if is_one_change:
        yield _merged(landing, brought, order)


def _single(commit: Commit, order: int, time: int) -> LandedChange:
    return LandedChange(commit.id, order, time, commit.message, frozenset(commit.files), (commit.id,), commit.is_wide)


def _merged(landing: Commit, brought: list[Commit], order: int) -> LandedChange:
    files = frozenset(file for commit in brought for file in commit.files)
    is_wide = len(files) > NUMBERS.wide_files or any(commit.is_wide for commit in brought)
    message = landing.message
    if message.kind in (ChangeKind.FIX, ChangeKind.REVERT):
        names = (*message.names, *(name for commit in brought for name in commit.message.names))
        hints = (message.hint, *(commit.message.hint for commit in brought))
        hint = next((hint for hint in hints if hint), None)
        message = ReadMessage(message.kind, message.title, names, message.undone, hint)
    members = (landing.id, *(commit.id for commit in brought))
    return LandedChange(landing.id, order, landing.time, message, frozenset() if is_wide else files, members, is_wide)
