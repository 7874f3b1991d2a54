"""Which feature a fix belongs to, by shared files. Pure; used for the observed history and for chance."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from enum import StrEnum

import msgspec

from loopwright.analysis.changes import LandedChange
from loopwright.analysis.history import DAY
from loopwright.analysis.messages import ChangeKind
from loopwright.analysis.paths import is_telling
from loopwright.analysis.preregistered import NUMBERS


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
