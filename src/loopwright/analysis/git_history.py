"""P2: how many failures in a window of a history only self-reflection could have caught, compared with chance alone.

Chance applies the same rules with every fix moved to another time nearby. Files, words, sizes and the project's
activity stay the same; only the order of feature and fix is random. Fixes that name the commit they fix, and reverts,
are not linked by chance and are left out.
"""

from __future__ import annotations

import random
import statistics
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from loopwright.analysis.changes import LandedChange, changes_of, surface_weight
from loopwright.analysis.history import DAY, Past, Progress, Window, moment_text, read_past
from loopwright.analysis.messages import ChangeKind
from loopwright.analysis.model import (
    Chance,
    Group,
    HistoryFindings,
    Input,
    Killed,
    ListedFailure,
    NotEnoughData,
    Parts,
    Passed,
    Verdict,
)
from loopwright.analysis.outcomes import lines_changed
from loopwright.analysis.preregistered import NUMBERS, CatchingGate, Experiment
from loopwright.analysis.signals import (
    HistoryPlace,
    LandedFailure,
    Links,
    NoLink,
    Reach,
    Signals,
    find_failures,
    gate_of,
)
from loopwright.kernel.git_history import History


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


_LISTED: Final = 200


def analyse_git_history(history: History, window: Window, on_progress: Progress | None = None) -> Parts:
    """Read the window, find and classify the failures, and compare churn and surface of the culprits with others."""
    past = read_past(history, window, on_progress)
    changes = changes_of(past.commits, past.tips[0] if past.tips else "")
    signals = find_failures(changes)
    chance = by_chance(changes, signals)
    culprits = {failure.culprit for failure in signals.failures}
    features = [change for change in changes if change.kind is ChangeKind.FEATURE]
    failed = [change for change in features if change.id in culprits]
    others = [change for change in features if change.id not in culprits]
    looked_at = _sampled(failed), _sampled(others)
    lines = lines_changed(history, [change.id for group in looked_at for change in group])
    unknown = sum(len(group) for group in looked_at) - len(lines)
    notes = [*past.notes]
    if unknown:
        notes.append(f"the lines of {unknown} changes are unknown, because this clone lacks their contents")
    return Parts(
        question=Experiment.GIT_HISTORY,
        verdict=verdict_on(signals.failures, chance),
        findings=_findings(
            past, signals, chance, _group(failed, looked_at[0], lines), _group(others, looked_at[1], lines)
        ),
        inputs=(Input(kind="git", name=" ".join(past.tips), sha256=past.digest),),
        parameters=window_parameters(window),
        notes=tuple(notes),
        titles={change.id: change.message.title for change in changes},
    )


def verdict_on(failures: Sequence[LandedFailure], chance: Chance) -> Verdict:
    """Answer the pre-registered question for these failures; failures that chance explains do not count."""
    count = len(failures)
    if count < NUMBERS.least_records:
        return NotEnoughData(f"not enough data: {count} failures were found, {NUMBERS.least_records} are needed")
    hidden = [failure for failure in failures if failure.gate is CatchingGate.REFLECTION]
    sentence = (
        f"{len(hidden)} of {count} failures ({len(hidden) / count:.1%}) could have been caught only by self-reflection"
    )
    if len(hidden) / count < NUMBERS.near_empty_share:
        return Killed(f"{sentence}: under {NUMBERS.near_empty_share:.0%}")
    expected = chance.expected[CatchingGate.REFLECTION]
    by_chance_alone = f"chance alone gives {expected:.1f} of them ({expected / count:.1%})"
    by_files = sum(failure.by_files for failure in hidden)
    beyond_chance = len(hidden) if by_files > chance.most_reflection else len(hidden) - by_files
    if beyond_chance / count < NUMBERS.near_empty_share:
        return NotEnoughData(f"not enough data: {sentence}, but {by_chance_alone}, and up to {chance.most_reflection}")
    return Passed(f"{sentence}: not under {NUMBERS.near_empty_share:.0%}; {by_chance_alone}")


def window_parameters(window: Window) -> dict[str, str]:
    """The window as recorded."""
    times = {"since": window.since, "until": window.until}
    named = {name: moment_text(seconds) for name, seconds in times.items() if seconds is not None}
    return {"revision": window.revision, **named}


def _findings(past: Past, signals: Signals, chance: Chance, failed: Group, others: Group) -> HistoryFindings:
    failures = signals.failures
    tally = Counter(failure.gate for failure in failures)
    kinds = Counter(failure.kind for failure in failures)
    newest = sorted(failures, key=lambda failure: failure.time, reverse=True)[:_LISTED]
    return HistoryFindings(
        commits=len(past.commits),
        features=signals.features,
        failures=len(failures),
        reverts=kinds[ChangeKind.REVERT],
        fixes=kinds[ChangeKind.FIX],
        tally={str(gate): tally[gate] for gate in CatchingGate},
        reflection_share=tally[CatchingGate.REFLECTION] / len(failures)
        if len(failures) >= NUMBERS.least_records
        else None,
        not_counted={
            "fixes of nothing that landed shortly before": signals.fixes_of_nothing_recent,
            "fixes that share less than half of their files with a recent feature": signals.loosely_linked,
            "mended before it landed": signals.fixed_before_landing,
            "fixes of prose only": signals.prose_only,
            "landed again after a revert": signals.relands,
            f"features of more than {NUMBERS.wide_files} files": signals.too_wide,
        },
        failed_features=failed,
        other_features=others,
        newest_failures=tuple(_listed(failure) for failure in newest),
        chance=chance,
    )


def _listed(failure: LandedFailure) -> ListedFailure:
    return ListedFailure(
        id=failure.id,
        at=moment_text(failure.time),
        kind=str(failure.kind),
        culprit=failure.culprit,
        gate=failure.gate,
        rule=str(failure.rule),
    )


def _sampled(changes: Sequence[LandedChange]) -> list[LandedChange]:
    """A fixed sample, evenly spread over the history."""
    count = min(len(changes), NUMBERS.baseline_sample)
    return [changes[number * len(changes) // count] for number in range(count)]


def _group(changes: Sequence[LandedChange], looked_at: Sequence[LandedChange], lines: dict[str, int]) -> Group:
    known = [lines[change.id] for change in looked_at if change.id in lines]
    named = [change for change in looked_at if change.files]
    weights = [surface_weight(change.files) for change in named]
    return Group(
        changes=len(changes),
        looked_at=len(looked_at),
        lines_known=len(known),
        median_lines=float(statistics.median(known)) if len(known) >= NUMBERS.least_records else None,
        median_files=(
            float(statistics.median(len(change.files) for change in named))
            if len(named) >= NUMBERS.least_records
            else None
        ),
        mean_surface_weight=statistics.fmean(weights) if len(weights) >= NUMBERS.least_records else None,
    )
