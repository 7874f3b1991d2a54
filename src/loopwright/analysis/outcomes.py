"""What happened in git to reported work: it landed and was fixed later, or stayed unchanged; and its size in lines.

Pre-registered: work lands with the change that shares most of its files around the time of the report. A revert, or a
fix to one of its files within 30 days, makes it wrong; 30 days without one make it right. Until then it is unknown.
Counts the lines of a few commits only. If a clone lacks the contents, the number is unknown. Fetches nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from enum import StrEnum
from typing import Final

import msgspec

from loopwright.analysis.changes import LandedChange, is_telling
from loopwright.analysis.history import DAY
from loopwright.analysis.messages import ChangeKind
from loopwright.analysis.preregistered import NUMBERS
from loopwright.analysis.signals import Names
from loopwright.errors import GitFailed
from loopwright.kernel.git_history import History


class Unknown(StrEnum):
    """Why there is no outcome."""

    NO_FILES = "no files are known"
    NOT_LANDED = "no commit brought the work in"
    TOO_YOUNG = "landed less than 30 days ago"


class LandingOutcome(msgspec.Struct, frozen=True):
    """The change in which the work landed, and whether the work was right."""

    landed: LandedChange
    right: bool


class Outcomes:
    """Finds outcomes in one history, as of one time."""

    def __init__(self, changes: Sequence[LandedChange], as_of: int) -> None:
        self._as_of = as_of
        self._names = Names(changes)
        self._by_file: dict[bytes, list[LandedChange]] = {}
        for change in changes:
            for file in change.files:
                self._by_file.setdefault(file, []).append(change)
        self._reverts: dict[str, list[LandedChange]] = {}
        for change in changes:
            if change.kind is ChangeKind.REVERT and (undone := self._undone(change)):
                self._reverts.setdefault(undone.id, []).append(change)

    def of_work(self, files: frozenset[bytes], reported: int) -> LandingOutcome | Unknown:
        """The outcome of work on these files that was reported at that time."""
        if not files:
            return Unknown.NO_FILES
        landed = self._landing(files, reported)
        return Unknown.NOT_LANDED if landed is None else self.of_change(landed, files)

    def of_change(self, landed: LandedChange, files: frozenset[bytes]) -> LandingOutcome | Unknown:
        """The outcome of a change, judged by these files of the change."""
        end = landed.time + NUMBERS.outcome_days * DAY
        if end > self._as_of:
            # Also if it was already fixed: counting only recent work that failed would make all work look worse.
            return Unknown.TOO_YOUNG
        is_fixed = any(change.order > landed.order and change.time <= end for change in self._later(landed, files))
        return LandingOutcome(landed, right=not is_fixed)

    def _landing(self, files: frozenset[bytes], reported: int) -> LandedChange | None:
        first = reported - NUMBERS.landing_days_before * DAY
        last = reported + NUMBERS.landing_days_after * DAY
        near = [change for change in self._touching(files) if first <= change.time <= last]
        return max(near, key=lambda change: (_likeness(change.files, files), -change.order), default=None)

    def _later(self, landed: LandedChange, files: frozenset[bytes]) -> Iterable[LandedChange]:
        telling = frozenset(file for file in files if is_telling(file))
        touching = (change for change in self._touching(telling) if change.kind in (ChangeKind.FIX, ChangeKind.REVERT))
        return (*self._reverts.get(landed.id, ()), *touching)

    def _touching(self, files: frozenset[bytes]) -> list[LandedChange]:
        changes = {change.id: change for file in files for change in self._by_file.get(file, ())}
        return sorted(changes.values(), key=lambda change: change.order)

    def _undone(self, change: LandedChange) -> LandedChange | None:
        named = [owner for name in change.message.names if (owner := self._names.by_id(name))]
        return named[0] if named else self._names.by_title(change.message.undone, change.order)


def _likeness(first: frozenset[bytes], second: frozenset[bytes]) -> float:
    return len(first & second) / len(first | second)


_SHOW: Final = ("log", "-z", "--no-walk=unsorted", "--stdin", "--no-renames", "--diff-merges=first-parent")
_COUNTS: Final = re.compile(rb"\n?(\d+|-)\t(\d+|-)\t")
_RAW: Final = re.compile(rb"\n?:(\d{6}) (\d{6}) ([0-9a-f]+) ([0-9a-f]+) ")
# A missing side of a change, and a submodule's commit.
_NO_BLOB: Final = (b"000000", b"160000")


def lines_changed(history: History, commits: Sequence[str]) -> dict[str, int]:
    """Added and removed lines of each commit with local contents; binary files count as 0."""
    with suppress(GitFailed):
        return _counted(history, commits)
    with suppress(GitFailed):
        return _counted(history, _with_contents(history, commits))
    return {}


def _counted(history: History, commits: Sequence[str]) -> dict[str, int]:
    counted: dict[str, int] = {}
    if not commits:
        return counted
    for commit, tokens in _records(history, commits, "--numstat"):
        counts = [match for token in tokens if (match := _COUNTS.match(token))]
        counted[commit] = sum(int(count) for match in counts for count in match.groups() if count != b"-")
    return counted


def _with_contents(history: History, commits: Sequence[str]) -> list[str]:
    """The commits whose blobs, before and after, are all in this clone."""
    needed: dict[str, set[bytes]] = {}
    for commit, tokens in _records(history, commits, "--raw", "--no-abbrev"):
        # Every second token is a name, which may look like anything.
        changes = [match.groups() for token in tokens[::2] if (match := _RAW.match(token))]
        sides = [side for old, new, before, after in changes for side in ((old, before), (new, after))]
        needed[commit] = {blob for mode, blob in sides if mode not in _NO_BLOB}
    blobs_text = b"".join(blob + b"\n" for blob in set().union(*needed.values()))
    answers = history.run("cat-file", "--batch-check", stdin=blobs_text).splitlines() if blobs_text else []
    missing = {line.split(b" ")[0] for line in answers if line.endswith(b" missing")}
    return [commit for commit, blobs in needed.items() if not blobs & missing]


def _records(history: History, commits: Sequence[str], *shown: str) -> list[tuple[str, list[bytes]]]:
    """Each commit with the tokens that git prints about it; two NULs separate commits and occur nowhere else."""
    stdin = "".join(f"{commit}\n" for commit in commits).encode()
    printed = history.run(*_SHOW, *shown, "--format=tformat:%x00%H", stdin=stdin)
    records = [record.removeprefix(b"\0").split(b"\0") for record in printed.split(b"\0\0")]
    return [(record[0].decode("ascii", "replace"), record[1:]) for record in records if record[0]]
