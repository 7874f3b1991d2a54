"""What chance alone would put into P2's buckets: the same rules with every fix moved to another time nearby. Pure.

Files, words, sizes and the project's activity stay the same; only the order of feature and fix is random. Fixes that
name the commit they fix, and reverts, are not linked by chance and are left out.
"""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from loopwright.analysis.changes import LandedChange
from loopwright.analysis.history import DAY
from loopwright.analysis.links import HistoryPlace, Links, NoLink, Reach
from loopwright.analysis.model import Chance
from loopwright.analysis.preregistered import NUMBERS, CatchingGate
from loopwright.analysis.signals import Signals, gate_of


class _Movable(msgspec.Struct, frozen=True):
    """A fix that only files can link; `near` is the range of places that it may be moved to."""

    fix: LandedChange
    reach: Reach
    near: tuple[int, int]
    # None if the gate depends on the culprit.
    gate: CatchingGate | None


def by_chance(changes: Sequence[LandedChange], signals: Signals) -> Chance:
    """The buckets of file-linked failures as observed, and after moving all fixes several times."""
    links = Links(changes)
    positions = sorted(range(len(changes)), key=lambda position: changes[position].time)
    places = [HistoryPlace(position, changes[position].order, changes[position].time) for position in positions]
    movable = list(_movable([changes[position] for position in signals.files_decide], links, places))
    source = random.Random(NUMBERS.chance_seed)  # noqa: S311 -- repeatable on purpose; not for secrets
    draws = [_draw(links, movable, places, source) for _ in range(NUMBERS.chance_draws)]
    observed = Counter(failure.gate for failure in signals.failures if failure.by_files)
    return Chance(
        draws=len(draws),
        by_files={str(gate): observed[gate] for gate in CatchingGate},
        expected={str(gate): sum(draw[gate] for draw in draws) / len(draws) for gate in CatchingGate},
        most_reflection=max(draw[CatchingGate.REFLECTION] for draw in draws),
    )


def _movable(fixes: Sequence[LandedChange], links: Links, places: Sequence[HistoryPlace]) -> Iterator[_Movable]:
    times = [place.time for place in places]
    for change in fixes:
        reach = links.reach(change)
        if not reach.features:
            continue
        span = NUMBERS.chance_days * DAY
        near = bisect_left(times, change.time - span), bisect_right(times, change.time + span)
        gate, _ = gate_of(change, None)
        yield _Movable(change, reach, near, None if gate is CatchingGate.REVIEW else gate)


def _draw(
    links: Links, movable: Sequence[_Movable], places: Sequence[HistoryPlace], source: random.Random
) -> Counter[CatchingGate]:
    tally: Counter[CatchingGate] = Counter()
    for candidate in movable:
        first, end = candidate.near
        culprit = links.culprit(candidate.reach, places[first + int(source.random() * (end - first))])
        if not isinstance(culprit, NoLink):
            tally[candidate.gate or gate_of(candidate.fix, culprit)[0]] += 1
    return tally
