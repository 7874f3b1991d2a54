"""Commits as landed changes: a merged branch is one change, and lands with its merge. Pure.

A problem that was fixed before it landed affected no user, so the order of landing counts, not the order of writing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from loopwright.analysis.history import Commit
from loopwright.analysis.messages import ChangeKind, ReadMessage
from loopwright.analysis.preregistered import NUMBERS


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
