"""Commits as changes that landed: a merged branch is one change, and lands when its merge does. Pure.

What was mended before it landed never failed anybody; so the order of landing decides, not that of writing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from loopwright.analysis.history import Commit
from loopwright.analysis.messages import ChangeKind, ReadMessage
from loopwright.analysis.preregistered import NUMBERS


class LandedChange(msgspec.Struct, frozen=True, gc=False):
    """Something that landed: `order` is its place on the main line, `members` its commits."""

    id: str
    order: int
    time: int
    said: ReadMessage
    files: frozenset[bytes]
    members: tuple[str, ...]
    is_wide: bool

    @property
    def kind(self) -> ChangeKind:
        """What it is, by its own words."""
        return self.said.kind


def changes_of(commits: Sequence[Commit], tip: str) -> list[LandedChange]:
    """All changes, in the order in which they landed on the line of first parents below `tip`."""
    by_id = {commit.id: commit for commit in commits}
    changes: list[LandedChange] = []
    landed: set[str] = set()
    order = 0
    for landing in _main_line(by_id, tip):
        landed.add(landing.id)
        brought = _brought_in(landing, by_id, landed)
        changes += _landed(landing, brought, order)
        order += 1
    # What no first parent leads to (a range with several tips) landed by itself.
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
    """The commits that a merge made part of the main line, oldest first as far as parents say."""
    found: list[Commit] = []
    ahead = list(landing.parents[1:])
    while ahead:
        name = ahead.pop()
        commit = by_id.get(name)
        if commit is None or name in landed:
            continue
        landed.add(name)
        found.append(commit)
        ahead += commit.parents
    return found[::-1]


def _landed(landing: Commit, brought: list[Commit], order: int) -> Iterator[LandedChange]:
    if not brought:
        yield _single(landing, order, landing.time)
        return
    whole = landing.said.kind not in (ChangeKind.OTHER, ChangeKind.RELAND)
    for commit in brought:
        # A commit that names what it mends or reverts is a signal of its own, also inside a feature.
        if not whole or (commit.said.names and landing.said.kind is ChangeKind.FEATURE):
            yield _single(commit, order, landing.time)
    if whole:
        yield _merged(landing, brought, order)


def _single(commit: Commit, order: int, time: int) -> LandedChange:
    return LandedChange(commit.id, order, time, commit.said, frozenset(commit.files), (commit.id,), commit.is_wide)


def _merged(landing: Commit, brought: list[Commit], order: int) -> LandedChange:
    files = frozenset(file for commit in brought for file in commit.files)
    is_wide = len(files) > NUMBERS.wide_files or any(commit.is_wide for commit in brought)
    said = landing.said
    if said.kind in (ChangeKind.FIX, ChangeKind.REVERT):
        names = (*said.names, *(name for commit in brought for name in commit.said.names))
        hints = (said.hint, *(commit.said.hint for commit in brought))
        said = ReadMessage(said.kind, said.title, names, said.undone, next((hint for hint in hints if hint), None))
    members = (landing.id, *(commit.id for commit in brought))
    return LandedChange(landing.id, order, landing.time, said, frozenset() if is_wide else files, members, is_wide)
