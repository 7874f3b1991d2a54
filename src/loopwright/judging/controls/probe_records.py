"""Reads the records of probed tests, and compares those of the base with those of the work. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

import msgspec

from loopwright.judging.verdict import PASSED

_MOST_BYTES = 32 << 20


class ProbeOutcome(StrEnum):
    """What an assertion with a changed expectation did."""

    FAILED = "failed"
    PASSED = "passed"
    # It failed in a test with random values, which may not come to this assertion in another run.
    SAMPLED = "sampled"
    # It failed where the product could swallow the failure, so the test did not go on.
    RAISED = "raised"


class ProbeRecord(msgspec.Struct, frozen=True):
    """An assertion that a test reached."""

    path: str
    # `line:column` in the original file.
    position: str
    # Empty if no test was known to run.
    test: str
    outcome: ProbeOutcome


class ProbedRun(msgspec.Struct, frozen=True):
    """A run of probed tests: the records, and the result of each test by its id."""

    records: tuple[ProbeRecord, ...]
    results: Mapping[str, str]


class Weakened(msgspec.Struct, frozen=True):
    """Tests of the base that the work weakened, each with the positions of the assertions that lost their effect."""

    # With a changed expectation they failed on the base, and pass on the work.
    passing: dict[str, tuple[str, ...]] = {}
    # Reached on the base, and not on the work.
    unreached: dict[str, tuple[str, ...]] = {}
    # The probed test passed on the base and failed on the work: it says nothing.
    not_comparable: tuple[str, ...] = ()


def read_records(path: str, content: bytes) -> tuple[ProbeRecord, ...]:
    """The records of one probed file; a line that is no record is left out."""
    lines = content[:_MOST_BYTES].splitlines()
    return tuple(record for line in lines if (record := _read(path, line)) is not None)


def _read(path: str, line: bytes) -> ProbeRecord | None:
    try:
        position, test, outcome = msgspec.json.decode(line, type=tuple[str, str, ProbeOutcome])
    except msgspec.MsgspecError:
        return None
    return ProbeRecord(path, position, test, outcome)


def weakened_tests(base: ProbedRun, work: ProbedRun) -> Weakened:
    """The tests of the base whose assertions can't fail with the work, or are not reached any more."""
    before, after = _outcomes(base.records), _outcomes(work.records)
    passing: dict[str, list[str]] = {}
    unreached: dict[str, list[str]] = {}
    for (test, place), outcomes in before.items():
        if ProbeOutcome.PASSED in outcomes:
            continue
        now = after.get((test, place), set())
        swallowed = ProbeOutcome.RAISED in outcomes and _passes(test, work) and not _passes(test, base)
        if ProbeOutcome.PASSED in now or (now and swallowed):
            passing.setdefault(test, []).append(place)
        elif (
            not now
            and ProbeOutcome.SAMPLED not in outcomes
            and _passes(test, work)
            and (swallowed or _passes(test, base))
        ):
            unreached.setdefault(test, []).append(place)
    failing = [test for test in base.results if _passes(test, base) and test in work.results]
    return Weakened(
        passing={test: tuple(places) for test, places in passing.items()},
        unreached={test: tuple(places) for test, places in unreached.items()},
        not_comparable=tuple(test for test in failing if not _passes(test, work)),
    )


def weakened_each_time(found: Iterable[Weakened]) -> Weakened:
    """What all comparisons found, each of other runs: tests with random values do not reach the same assertions."""
    comparisons = tuple(found)
    return Weakened(
        passing=_in_all([comparison.passing for comparison in comparisons]),
        unreached=_in_all([comparison.unreached for comparison in comparisons]),
        not_comparable=comparisons[0].not_comparable,
    )


def _in_all(found: list[dict[str, tuple[str, ...]]]) -> dict[str, tuple[str, ...]]:
    places = {
        test: tuple(place for place in at if all(place in other.get(test, ()) for other in found[1:]))
        for test, at in found[0].items()
    }
    return {test: at for test, at in places.items() if at}


def _outcomes(records: Iterable[ProbeRecord]) -> dict[tuple[str, str], set[ProbeOutcome]]:
    """The outcomes of each assertion in each test."""
    found: dict[tuple[str, str], set[ProbeOutcome]] = {}
    for record in records:
        found.setdefault((record.test, f"{record.path}:{record.position}"), set()).add(record.outcome)
    return found


def _passes(test: str, run: ProbedRun) -> bool:
    return run.results.get(test) == PASSED
