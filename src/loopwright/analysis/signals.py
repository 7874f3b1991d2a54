"""Failures in a history: reverts, and fixes shortly after the feature they fix; and the gate for each failure.

Pure. A fix belongs to a feature by shared files. The order of the rules is pre-registered: words for CI, files that CI
checks, words for what a diff hides, mostly files that the culprit's diff did not show; otherwise a reviewer could have
seen the problem.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

import msgspec

from loopwright.analysis.changes import LandedChange, is_checked, is_telling
from loopwright.analysis.history import DAY
from loopwright.analysis.messages import ChangeKind
from loopwright.analysis.preregistered import NUMBERS, CatchingGate


class NoLink(StrEnum):
    """Why a fix is linked to no feature."""

    NOT_RECENT = "no feature shortly before touched its files"
    NOT_LANDED = "the feature landed together with it"
    LOOSE = "no recent feature covers enough of its files"


class HistoryPlace(msgspec.Struct, frozen=True, gc=False):
    """A place in a history: the number of earlier changes, the landing, and its time."""

    position: int
    order: int
    time: int


class Reach(msgspec.Struct, frozen=True):
    """A fix's telling files, and for each file the positions of the features that touched it."""

    telling: frozenset[bytes]
    features: tuple[list[int], ...]


class Links:
    """Finds links within one history."""

    def __init__(self, changes: Sequence[LandedChange]) -> None:
        self._changes = changes
        self._features: dict[bytes, list[int]] = {}
        for position, change in enumerate(changes):
            if change.kind is ChangeKind.FEATURE:
                for file in change.files:
                    self._features.setdefault(file, []).append(position)

    def reach(self, fix: LandedChange) -> Reach:
        """What can link this fix at all."""
        telling = frozenset(file for file in fix.files if is_telling(file))
        return Reach(telling, tuple(positions for file in telling if (positions := self._features.get(file))))

    def culprit(self, reach: Reach, place: HistoryPlace) -> LandedChange | NoLink:
        """The last feature shortly before that place that covers enough of the fix's files."""
        ends = ((positions, bisect_left(positions, place.position)) for positions in reach.features)
        recent = [self._changes[position] for position in {positions[end - 1] for positions, end in ends if end}]
        landed = [feature for feature in recent if feature.order < place.order]
        if recent and not landed:
            return NoLink.NOT_LANDED
        soon = soon_before(landed, place.time)
        if not soon:
            return NoLink.NOT_RECENT
        least = NUMBERS.culprit_cover * len(reach.telling)
        covering = [feature for feature in soon if len(reach.telling & feature.files) >= least]
        return last_of(covering) if covering else NoLink.LOOSE


def soon_before(changes: Sequence[LandedChange], time: int) -> list[LandedChange]:
    """The changes that landed shortly before that time."""
    return [change for change in changes if time - change.time <= NUMBERS.soon_days * DAY]


def last_of(changes: Sequence[LandedChange]) -> LandedChange:
    """The change that landed last; deterministic for changes that landed together."""
    return max(changes, key=lambda change: (change.order, change.id))


_COUNTED: Final = (
    "features", "relands", "fixes_of_nothing_recent", "loosely_linked", "fixed_before_landing", "prose_only",
    "too_wide",
)  # fmt: skip


class BucketRule(StrEnum):
    """Why a failure is in its bucket."""

    CI_WORDS = "its words are about builds, tests or linting"
    CI_FILES = "only files that CI builds or runs had to change"
    HIDDEN_WORDS = "its words are about what a diff does not show"
    HIDDEN_FILES = "most files that had to change were not in the culprit's diff"
    VISIBLE = "most of what had to change was in the culprit's diff"
    UNEXPLAINED = "a revert without a reason; the culprit's diff was there to read"


class LandedFailure(msgspec.Struct, frozen=True):
    """A signal that a landed change was wrong; `by_files`: only shared files identify the culprit."""

    id: str
    time: int
    kind: ChangeKind
    culprit: str | None
    gate: CatchingGate
    rule: BucketRule
    by_files: bool = False


class Signals(msgspec.Struct, frozen=True, kw_only=True):
    """All failures, and what was not counted; `files_decide` are the positions of fixes that name no commit."""

    failures: tuple[LandedFailure, ...]
    files_decide: tuple[int, ...]
    features: int
    relands: int
    fixes_of_nothing_recent: int
    loosely_linked: int
    fixed_before_landing: int
    prose_only: int
    too_wide: int


def find_failures(changes: Sequence[LandedChange]) -> Signals:
    """Every revert, and every fix whose telling files a recently landed feature covers by at least half."""
    finder = _Finder(changes)
    for position, change in enumerate(changes):
        match change.kind:
            case ChangeKind.FEATURE:
                finder.note_feature(change)
            case ChangeKind.REVERT:
                finder.note_revert(change)
            case ChangeKind.FIX:
                finder.note_fix(change, position)
            case ChangeKind.RELAND:
                finder.counts["relands"] += 1
            case ChangeKind.OTHER:
                pass
    return Signals(failures=tuple(finder.failures), files_decide=tuple(finder.files_decide), **finder.counts)


def gate_of(change: LandedChange, culprit: LandedChange | None) -> tuple[CatchingGate, BucketRule]:
    """The gate that would have caught what this change fixes."""
    telling = {file for file in change.files if is_telling(file)}
    if change.message.hint is CatchingGate.CI:
        return CatchingGate.CI, BucketRule.CI_WORDS
    if telling and all(is_checked(file) for file in telling):
        return CatchingGate.CI, BucketRule.CI_FILES
    if change.message.hint is CatchingGate.REFLECTION:
        return CatchingGate.REFLECTION, BucketRule.HIDDEN_WORDS
    if change.kind is ChangeKind.FIX and culprit is not None and _is_mostly_hidden(telling, culprit):
        return CatchingGate.REFLECTION, BucketRule.HIDDEN_FILES
    return CatchingGate.REVIEW, BucketRule.UNEXPLAINED if change.kind is ChangeKind.REVERT else BucketRule.VISIBLE


def _is_mostly_hidden(telling: set[bytes], culprit: LandedChange) -> bool:
    """Whether the culprit's diff showed less than half of the files that had to change."""
    code = {file for file in telling if not is_checked(file)}
    return bool(culprit.files) and 2 * len(code - culprit.files) > len(code)


class Names:
    """Finds the change of a commit, by a full or short id, or by its title."""

    def __init__(self, changes: Sequence[LandedChange]) -> None:
        self._owner = {member: change for change in changes for member in change.members}
        self._sorted = sorted(self._owner)
        self._titles: dict[str, list[LandedChange]] = {}
        for change in changes:
            self._titles.setdefault(change.message.title, []).append(change)

    def by_id(self, name: str) -> LandedChange | None:
        """The change with this commit; None if the id is unknown or the short id is ambiguous."""
        start = bisect_left(self._sorted, name)
        matches = [member for member in self._sorted[start : start + 2] if member.startswith(name)]
        return self._owner[matches[0]] if len(matches) == 1 else None

    def by_title(self, title: str, before: int) -> LandedChange | None:
        """The last change with that title that landed before."""
        matches = [change for change in self._titles.get(title, ()) if title and change.order < before]
        return matches[-1] if matches else None


class _Finder:
    def __init__(self, changes: Sequence[LandedChange]) -> None:
        self.failures: list[LandedFailure] = []
        self.files_decide: list[int] = []
        self.counts = dict.fromkeys(_COUNTED, 0)
        self._names = Names(changes)
        self._links = Links(changes)

    def note_feature(self, change: LandedChange) -> None:
        self.counts["features"] += 1
        self.counts["too_wide"] += change.is_wide

    def note_revert(self, change: LandedChange) -> None:
        named = [owner for name in change.message.names if (owner := self._names.by_id(name))]
        culprit = named[0] if named else self._names.by_title(change.message.undone, change.order)
        if culprit is not None and culprit.order == change.order and culprit.id != change.id:
            self.counts["fixed_before_landing"] += 1
            return
        self._add(change, culprit)

    def note_fix(self, change: LandedChange, position: int) -> None:
        reach = self._links.reach(change)
        if change.files and not reach.telling:
            self.counts["prose_only"] += 1
            return
        named = [owner for name in change.message.names if (owner := self._names.by_id(name))]
        self.files_decide += [] if named else [position]
        place = HistoryPlace(position, change.order, change.time)
        culprit = _named_culprit(named, change) if named else self._links.culprit(reach, place)
        match culprit:
            case NoLink.NOT_LANDED:
                self.counts["fixed_before_landing"] += 1
            case NoLink.NOT_RECENT:
                self.counts["fixes_of_nothing_recent"] += 1
            case NoLink.LOOSE:
                self.counts["loosely_linked"] += 1
            case LandedChange():
                self._add(change, culprit, by_files=not named)

    def _add(self, change: LandedChange, culprit: LandedChange | None, *, by_files: bool = False) -> None:
        blamed = culprit.id if culprit else None
        self.failures.append(
            LandedFailure(change.id, change.time, change.kind, blamed, *gate_of(change, culprit), by_files)
        )


def _named_culprit(named: Sequence[LandedChange], fix: LandedChange) -> LandedChange | NoLink:
    landed = [culprit for culprit in named if culprit.order < fix.order]
    if not landed:
        return NoLink.NOT_LANDED
    soon = soon_before(landed, fix.time)
    return last_of(soon) if soon else NoLink.NOT_RECENT
