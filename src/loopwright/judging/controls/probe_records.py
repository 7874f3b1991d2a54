"""Reads the records of probed tests, and compares those of the base with those of the work. Pure.

Each assertion that a test reached is a result of the run, as a test is: so the evidence of the run holds it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum

import msgspec

from loopwright.judging.reports.model import Status, TestResult
from loopwright.judging.syntax.javascript_source import SUFFIXES

_MOST_BYTES = 32 << 20
_AT = " @ "
# The position of a record that a test came to its end, and of a record of the line where it failed first.
_END, _STOP = "end", "stop"
# The same for a test that goes on after an assertion that fails, and of the line where it ended at last.
_SOFT, _LATER = "soft", "later"
# The assertions of each file: `line:column`, with the first and the last line of the statement.
Spans = Mapping[str, Mapping[str, tuple[int, int]]]


class ProbeOutcome(StrEnum):
    """What an assertion with a changed expectation did. Of several outcomes the first one in this order counts."""

    PASSED = "passed"
    # It failed where the product could swallow the failure, so the test did not go on.
    RAISED = "raised"
    # It failed in a test with random values, which may not come to this assertion in another run.
    SAMPLED = "sampled"
    # It failed in a test that failed anyway, and right work may not come to this assertion.
    BRANCHED = "branched"
    FAILED = "failed"


class ProbeRecord(msgspec.Struct, frozen=True):
    """An assertion that a test reached."""

    path: str
    # `line:column` in the original file.
    position: str
    # Empty if no test was known to run.
    test: str
    outcome: ProbeOutcome


class Assertions:
    """The assertions that tests reached in one run, and the tests that came to their ends."""

    def __init__(self, results: Mapping[str, str]) -> None:
        """`results` are those of the run by their ids: tests, and what `as_results` added."""
        self.outcomes: dict[tuple[str, str], ProbeOutcome] = {}
        self._by_test: dict[str, set[ProbeOutcome]] = {}
        self._ended: set[str] = set()
        # The file and the line in which a test failed first, and in which it ended at last.
        self._stops: dict[str, tuple[str, int]] = {}
        self._later: dict[str, tuple[str, int]] = {}
        self._soft: set[str] = set()
        for name in results:
            test, at, place = name.rpartition(_AT)
            place, _, outcome = place.rpartition(" ")
            if not at or outcome not in set(ProbeOutcome):
                continue
            path, _, line = place.rpartition(":")
            path, _, word = path.rpartition(":")
            if place.endswith(f":{_END}"):
                self._ended.add(test)
            elif place.endswith(f":{_SOFT}"):
                self._soft.add(test)
            elif word in (_STOP, _LATER):
                lines = self._stops if word == _STOP else self._later
                lines[test] = path, int(line) if line.isdecimal() else 0
            else:
                self.outcomes[test, place] = ProbeOutcome(outcome)
                self._by_test.setdefault(test, set()).add(ProbeOutcome(outcome))

    def came_to_end(self, test: str) -> bool:
        """Whether a probed test came to its end: only there it failed."""
        return test in self._ended

    def of(self, test: str) -> set[ProbeOutcome]:
        """What the assertions of a test did."""
        return self._by_test.get(test, set())

    def within(self, test: str) -> set[ProbeOutcome]:
        """What the assertions of a test and of its subtests did, which Go names after it."""
        inside = (found for name, found in self._by_test.items() if name == test or name.startswith(f"{test}/"))
        return set[ProbeOutcome]().union(*inside)

    def went_on(self, test: str) -> bool:
        """Whether a test that failed would go on after an assertion that failed."""
        return test in self._soft

    def stopped_at(self, test: str, spans: Spans) -> tuple[str, ...]:
        """The places of the assertions by which a test failed first, and ended; none if it failed by something else."""
        lines = filter(None, (self._stops.get(test), self._later.get(test)))
        return tuple(filter(None, (_assertion_at(*line, spans) for line in lines)))

    def can_fail_at(self, test: str, place: str) -> bool:
        """Whether a test reached the assertion of this place, and would fail by it.

        A test that was stopped before, for lack of time for example, says nothing about the assertion.
        """
        at_place = {
            outcome
            for (name, at), outcome in self.outcomes.items()
            if name == test and (at == place or at.startswith(f"{place}:"))
        }
        if not at_place and test in self._stops:
            return True
        is_swallowed = ProbeOutcome.RAISED in at_place and self.came_to_end(test)
        return bool(at_place) and ProbeOutcome.PASSED not in at_place and not is_swallowed


def _assertion_at(path: str, line: int, spans: Spans) -> str:
    around = [(first, key) for key, (first, last) in spans.get(path, {}).items() if first <= line <= last]
    return f"{path}:{max(around)[1]}" if around else ""


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


def as_results(records: Iterable[ProbeRecord]) -> tuple[TestResult, ...]:
    """The records as results of a run: an assertion with a changed expectation should fail."""
    order = list(ProbeOutcome)
    found: dict[tuple[str, str], ProbeOutcome] = {}
    for record in records:
        key = record.test, f"{record.path}:{record.position}"
        found[key] = min(found.get(key, ProbeOutcome.FAILED), record.outcome, key=order.index)
    return tuple(_as_result(test, place, outcome) for (test, place), outcome in found.items())


def _as_result(test: str, place: str, outcome: ProbeOutcome) -> TestResult:
    suite, _, name = test.rpartition("::")
    status: Status = "passed" if outcome is ProbeOutcome.PASSED else "failed"
    return TestResult(f"{name}{_AT}{place} {outcome}", suite, status)


def weakened_assertions(
    base: Assertions, work: Assertions, tests: Collection[str], changed: Collection[str] = ()
) -> dict[str, tuple[str, ...]]:
    """The tests with assertions that could fail on the base, and can't fail or are not reached on the work.

    `changed` are test files that differ on both trees: positions in them can't be compared.
    """
    found: dict[str, list[str]] = {}
    for (test, place), outcome in base.outcomes.items():
        if test in tests and place.partition(":")[0] not in changed and _is_weakened(test, place, outcome, base, work):
            found.setdefault(test, []).append(place)
    return {test: tuple(places) for test, places in found.items()}


def dead_proofs(base: Assertions, work: Assertions, tests: Iterable[str], spans: Spans) -> dict[str, tuple[str, ...]]:
    """The tests whose assertion failed on the base, and is not reached or can't fail on the work, with its place."""
    places = {
        test: tuple(place for place in base.stopped_at(test, spans) if not work.can_fail_at(test, place))
        for test in tests
    }
    return {test: dead for test, dead in places.items() if dead}


def swallowed_assertions(base: Assertions, work: Assertions, tests: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The tests with assertions that the base did not reach, and whose failure does not fail the test on the work.

    In Python only: a probe of JavaScript would catch what another probe raises in its assertion.
    """
    known = frozenset(place for _, place in base.outcomes)
    found: dict[str, list[str]] = {}
    for (test, place), outcome in work.outcomes.items():
        is_raised = outcome is ProbeOutcome.RAISED and place.partition(":")[0].endswith(".py")
        if is_raised and place not in known and work.came_to_end(test):
            found.setdefault(test, []).append(place)
    return {test: tuple(found[test]) for test in tests if test in found}


def cut_short(base: Assertions, work: Assertions, tests: Iterable[str]) -> tuple[str, ...]:
    """The tests that came to their end on the base, and on the work ended without a changed assertion that failed.

    Such a test says nothing about its later assertions; the product may have removed the records, too.
    """
    return tuple(
        test
        for test in tests
        if base.came_to_end(test) and not work.came_to_end(test) and ProbeOutcome.RAISED not in work.of(test)
    )


def with_known_names(tests: Iterable[str], ran: Collection[str]) -> tuple[str, ...]:
    """Without subtests of Go that did not run: their names may differ in each run, for example by an address."""
    return tuple(test for test in tests if test in ran or not _is_subtest(test))


def _is_subtest(test: str) -> bool:
    """Whether a test is a subtest of Go, whose ids name a package and no file."""
    suite, _, name = test.partition("::")
    return "/" in name and not suite.endswith((".py", *SUFFIXES))


def _is_weakened(test: str, place: str, before: ProbeOutcome, base: Assertions, work: Assertions) -> bool:
    now = work.outcomes.get((test, place))
    if before is ProbeOutcome.PASSED:
        return False
    if now is ProbeOutcome.PASSED:
        return True
    swallows = before is ProbeOutcome.RAISED and work.came_to_end(test) and not base.came_to_end(test)
    if now is not None:
        return swallows
    ends_as_before = work.came_to_end(test) and (swallows or base.came_to_end(test) or base.went_on(test))
    return before not in (ProbeOutcome.SAMPLED, ProbeOutcome.BRANCHED) and ends_as_before
