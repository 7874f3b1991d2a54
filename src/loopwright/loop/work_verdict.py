"""What the project's tests say about the work of a loop. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
from msgspec.structs import replace

from loopwright.judging.changed_tests import changed_test_lines, with_missing_tests
from loopwright.judging.controls.model import ControlOutcome
from loopwright.judging.flaky import flaky_sentence
from loopwright.judging.kept_tests import still_pass
from loopwright.judging.process_state import changed_state_sentence
from loopwright.judging.proof_sentences import ControlledProof, proof_sentence, vacuous_proof_sentence
from loopwright.judging.reports.model import TestResult
from loopwright.judging.verdict import FAILED, PASSED, CommandVerdict, Grade, Problem, TreeResult
from loopwright.loop.model import Tree
from loopwright.loop.proof import CHANGED_TEST, PROTECTED_CHANGES, Doubt, LeftOut, WholeWork
from loopwright.loop.split_work import SplitWork
from loopwright.loop.test_runs import COMMAND, SUITE, TestRun
from loopwright.loop.unproven_work import if_nothing_should_change
from loopwright.runner.checks import NEEDS_NETWORK
from loopwright.wording.catalogue import few

_WEAKENED = "also passes with a changed expectation now, and did not before your work"
_NEVER_PASSES = "passed and failed before your work, and never passes now"
_OF_EARLIER_TESTS = (Problem.TESTS_BROKEN, Problem.TESTS_FAILING)
_SENTENCES = {
    Problem.TESTS_BROKEN: "passed before your work and does not pass now",
    Problem.TESTS_FAILING: "failed before your work and does not pass now",
    Problem.NEW_TESTS_FAILING: "is new and does not pass",
    Problem.REPORT_MISSING: "the test command wrote a report before your work, and none now",
    Problem.REPORT_INCOMPLETE: "the test command did not come to its end",
    Problem.COMMAND_FAILED: "the test command failed",
    Problem.NOTHING_RAN: "every test was skipped",
}


class WorkVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What the project's tests say about the work."""

    split: SplitWork
    base: TestRun
    # The run on the tree that is delivered without a signature.
    verified: TestRun
    verdict: CommandVerdict
    # The run and the verdict with the protected changes; None if there are none.
    whole: TestRun | None = None
    with_protected: CommandVerdict | None = None
    # The changed tests on the source of the base; None if no run tells.
    changed_on_base: TreeResult | None = None
    # What became of the tests that prove something when they or the work were altered; None if nothing is proven.
    altered: ControlOutcome | None = None
    # How many of their expectations there was no time to change, and what else the controls found out.
    untried: int = 0
    controlled: ControlledProof = ControlledProof()
    # Changed functions that no test reaches, as far as a coverage report tells.
    unreached: tuple[str, ...] = ()
    # Tests of the base that pass only with the doubtful changes of the work.
    doubtful_tests: tuple[str, ...] = ()
    # Tests that could fail before the work, and can't fail now.
    weakened: tuple[str, ...] = ()
    # Expectations of the proving tests that are others on the work than on the base.
    moved: tuple[str, ...] = ()
    # What the tests change in the state of their processes on the work, and not on the base.
    changed_state: tuple[str, ...] = ()
    # The test commands that ran, and those that did not run, because no file that they name with `when` changed.
    commands: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    # The verdict if a person approves the tests that failed before the work and fail now as known failures; None if
    # the tests accept the work anyway, or if more speaks against it.
    if_known: WorkVerdict | None = None

    @property
    def unfixed(self) -> tuple[str, ...]:
        """The tests that failed before the work and fail now, if nothing else speaks against the work."""
        return self.verdict.unfixed or (self.with_protected.unfixed if self.with_protected is not None else ())

    @property
    def needs_doubtful(self) -> bool:
        """Whether tests of the base accept the work only with its doubtful changes."""
        return bool(self.doubtful_tests or (self.if_known is not None and self.if_known.doubtful_tests))

    @property
    def offered(self) -> WorkVerdict | None:
        """The verdict that a person can accept although tests fail: something is proven, and nothing broke."""
        known = self.if_known
        return known if known is not None and known.passes and known.proves else None

    @property
    def proves(self) -> bool:
        """Whether a test failed before the work and passes now, with or without the protected changes."""
        return self.verdict.proves or (self.with_protected is not None and self.with_protected.proves)

    @property
    def passes(self) -> bool:
        """Whether the tests accept the work, with or without its protected changes."""
        return self.verdict.accepts or self.passes_only_with

    @property
    def passes_only_with(self) -> bool:
        """Whether the tests accept the work only with its protected changes."""
        return not self.verdict.accepts and self.passes_with

    @property
    def without_protected(self) -> Tree | None:
        """The work without its protected changes, if it has such changes and the tests accept what is left."""
        split = self.split
        return split.verified if split.protected and not split.is_empty and self.verdict.accepts else None

    @property
    def with_all(self) -> WholeWork | None:
        """What the tests say about the work with its protected changes; None if no protected file changed."""
        if self.whole is None or self.with_protected is None:
            return None
        return WholeWork(run_id=self.whole.run_id, passed=self.with_protected.accepts, results=self.whole.findings)

    @property
    def changes_left_out(self) -> LeftOut | None:
        """The protected changes without which tests fail, if the tests do not accept the work with them, either."""
        with_protected = self.with_protected
        if self.passes or with_protected is None:
            return None
        files = tuple(change.path for change in self.split.protected)
        return left_out_of(files, [self.verdict], [with_protected])

    @property
    def decisive(self) -> TestRun:
        """The run that decides: with the protected changes if the tests accept the work only with them."""
        return self.whole if self.passes_only_with and self.whole is not None else self.verified

    @property
    def proof(self) -> str:
        """What the tests prove without the protected changes, in a sentence; empty if there is nothing to say."""
        return "; ".join(filter(None, (proof_sentence(self.verdict, self.controlled), self._failing_without)))

    @property
    def _failing_without(self) -> str:
        """The tests that fail without the protected changes, if the tests accept the work only with them."""
        failing = self.verdict.problems.values() if self.passes_only_with else ()
        names = tuple(dict.fromkeys(test for tests in failing for test in tests))
        return f"tests that fail without the changes to protected files: {few(names)}" if names else ""

    @property
    def results(self) -> tuple[TestResult, ...]:
        """The results of the tests, and every problem that is not a failed test among them."""
        run = self.decisive
        if self.passes:
            return run.findings
        failed = {name for name, result in run.by_id.items() if result.status == "failed"}
        problems = {name: result for name, result in self._problems(self.verdict) if name not in failed}
        findings, ids = run.findings, tuple(run.by_id)
        names = (*ids, *(result.test_name for result in findings[len(ids) :]))
        # A test that fails in another run is one test.
        found = (result for name, result in zip(names, findings, strict=True) if name not in problems)
        return (*found, *problems.values())

    @property
    def passes_with(self) -> bool:
        """Whether the tests accept the work with its protected changes."""
        return self.with_protected is not None and self.with_protected.accepts

    @property
    def broken(self) -> tuple[TestResult, ...]:
        """The tests that passed before the work and do not pass now, and every problem with the command itself."""
        return tuple(self.problems_of(self.verdict))

    @property
    def accepts(self) -> bool:
        """Whether the tests accept the work, and can still fail."""
        return self.passes and not self.weakened

    def problems_of(self, verdict: CommandVerdict) -> Iterator[TestResult]:
        """Each problem of a verdict as a failed test, and each weakened test."""
        yield from (result for _, result in self._problems(verdict))
        for name in self.weakened:
            suite, _, test = name.rpartition("::")
            yield TestResult(test, suite, "failed", 0, _WEAKENED)

    def _problems(self, verdict: CommandVerdict) -> Iterator[tuple[str, TestResult]]:
        known = self.verified.by_id
        for problem, tests in verdict.problems.items():
            for name in tests:
                found = known.get(name)
                why = found.error_message if found is not None and found.status == FAILED else ""
                if found is not None and found.status == PASSED and problem in _OF_EARLIER_TESTS:
                    # The test fails without the new tests, or only in some runs.
                    why = f"see run {verdict.run_id}"
                message = (_NEVER_PASSES if name in verdict.flaky else _SENTENCES[problem]) + (
                    f": {why}" if why else ""
                )
                suite, _, test = name.rpartition("::")
                yield name, replace(found or TestResult(test, suite, "failed"), status="failed", error_message=message)
            if not tests:
                said = self.verified.output or self.verified.message
                yield COMMAND, TestResult(COMMAND, SUITE, "failed", 0, f"{_SENTENCES[problem]}: {said}")

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """Why tests that accept the work do not prove it."""
        return tuple(self._doubts())

    @property
    def about_flaky(self) -> tuple[str, ...]:
        """Names the tests that are flaky on the base, in one sentence."""
        return tuple(filter(None, (flaky_sentence(self.verdict.flaky),)))

    @property
    def notes(self) -> Iterator[str]:
        """What a person should know although the tests pass."""
        yield from self.about_flaky
        if self.altered is ControlOutcome.UNALTERED:
            yield "nothing in the tests that prove the work could be altered to see them fail"
        if (whole := self.with_all) is not None and whole.passed and not self.passes_only_with:
            passed = sum(result.status == PASSED for result in whole.results)
            yield f"with the changes to protected files, {passed} of {len(whole.results)} passed"
        if (kept := self.with_protected) is not None and (kept.deleted or kept.skipped):
            earlier = still_pass(kept.kept, kept.before, len(kept.deleted), len(kept.skipped))
            yield f"with the changes to protected files, {earlier}"
        if self.left_out:
            yield f"test commands that did not run, because no file of their `when` changed: {few(self.left_out)}"
        if self.unreached:
            yield f"changed functions that no test reaches: {few(self.unreached)}"

    @property
    def base_failure(self) -> str:
        """That no test passed before the work either, with the last line of the command; empty otherwise."""
        if self.passes or self.base.passed or PASSED in self.base.tree_result.tests.values():
            return ""
        last = "".join(self.base.output.strip().splitlines()[-1:]) or self.base.message
        return f"no test passed before the work either (run {self.base.run_id}): {last}"

    @property
    def _why_unproven(self) -> str:
        if idle := few(self.verdict.idle):
            return f"the work broke no test, but its new tests pass without the work, too, and prove nothing: {idle}"
        if self.verified.ran_no_test:
            return "the test command ran no test: nothing shows what the work does"
        why = "the work broke no test, but no test failed before it and passes now"
        return "; ".join(filter(None, (why, if_nothing_should_change(self.split, self.verdict))))

    @property
    def changed_test_lines(self) -> dict[str, str]:
        """What happened to the tests of each changed test file."""
        if self.whole is None or self.with_protected is None:
            return {}
        split, trees = self.split, (self.base.tree_result, self.whole.tree_result)
        lines = changed_test_lines(split.test_files, split.moves, *trees, self.changed_on_base)
        changed = (change.path for change in split.protected if change.is_test)
        return with_missing_tests(lines, changed, split.test_files, [self.with_protected])

    def _doubts(self) -> Iterator[Doubt]:
        lines = tuple(f"{path}: {what}" for path, what in self.changed_test_lines.items())
        changed = tuple(change.path for change in self.split.protected)
        if self.passes_only_with:
            tests = [change.path for change in self.split.protected if change.is_test]
            code = f"{CHANGED_TEST}{tests[0]}" if tests else PROTECTED_CHANGES
            files, passing, failing = few(changed), self.decisive.run_id, self.verified.run_id
            message = (
                f"the tests pass only with the work's changes to protected files: {files} "
                f"(run {passing} passes with them, run {failing} fails without them)"
            )
            yield Doubt(code=code, message="; ".join(filter(None, (message, *lines, self._failing_without))))
            return
        if self.whole is not None and self.with_protected is not None:
            files, without, whole = few(changed), self.verified.run_id, self.whole.run_id
            message = (
                f"the work changed protected files: {files}; "
                f"the tests pass without them (run {without}) and with them (run {whole})"
            )
            if not self.with_protected.accepts:
                message = (
                    f"the work changed protected files: {files}; "
                    f"the tests pass without them (run {without}) and fail with them (run {whole})"
                )
            elif self.split.is_empty:
                message = (
                    f"the work changed only protected files: {files}; "
                    f"the tests pass with them (run {whole}), as they did before the work"
                )
            yield Doubt(code=PROTECTED_CHANGES, message="; ".join((message, *lines)))
        yield from self._doubts_about_the_proof()
        yield from self._more_doubts()

    def _doubts_about_the_proof(self) -> Iterator[Doubt]:
        if not self.verdict.is_base_judged:
            message = (
                f"the tests did not come to their end before the work ({self.base.run_id}), so nothing is compared"
            )
            yield Doubt(code="base_not_judged", message=message)
        elif not self.verdict.proves and self.with_protected is not None and self.with_protected.proves:
            return  # the changed tests prove the work, and a person decides about them
        elif not self.verdict.proves:
            yield Doubt(code="unproven", message=self._why_unproven)
        elif self.altered is ControlOutcome.PASSED:
            yield Doubt(code="vacuous_tests", message=vacuous_proof_sentence(self.controlled))
        elif self.altered is ControlOutcome.SILENCED:
            message = "the test command passes only with comments that the work added: they may silence a linter"
            yield Doubt(code="vacuous_tests", message=message)
        elif self.altered is ControlOutcome.UNALTERED:
            message = (
                "no expectation of the tests that prove the work could be changed, so nothing shows that they can fail"
            )
            if self.verdict.grade is Grade.COMMAND:
                message = (
                    "the test command failed before and passes now, but it reports no tests, and nothing in it or in "
                    "the changed functions could be altered to see it fail"
                )
            yield Doubt(code="unaltered_tests", message=message)
        elif self.untried:
            message = (
                f"expectations without time for a change, or that the command did not reach: {self.untried}; "
                "nothing shows that these can fail"
            )
            yield Doubt(code="unaltered_tests", message=message)

    def _more_doubts(self) -> Iterator[Doubt]:
        if self.weakened:
            names = few(self.weakened)
            message = (
                "these tests have an assertion that could fail before the work, and now is not reached or also holds "
                f"with a changed expectation: {names}"
            )
            yield Doubt(code="vacuous_tests", message=message)
        if self.moved:
            message = f"the work changed what tests expect that prove it, by values of the source: {few(self.moved)}"
            yield Doubt(code="moved_expectation", message=message)
        if self.verified.rewritten:
            files = few(self.verified.rewritten)
            yield Doubt(code="flagged", message=f"the tests changed files of the project while they ran: {files}")
        if self.changed_state:
            yield Doubt(code="flagged", message=changed_state_sentence(self.changed_state))
        for flag in self.split.flags:
            yield Doubt(code="flagged", message=str(flag))


def left_out_of(
    files: tuple[str, ...], without: Iterable[CommandVerdict], with_them: Iterable[CommandVerdict]
) -> LeftOut:
    """These protected changes, with the tests that fail only without them."""
    with_them = tuple(with_them)
    also = {test for verdict in with_them for tests in verdict.problems.values() for test in tests}
    failing = (test for verdict in without for tests in verdict.problems.values() for test in tests)
    return LeftOut(
        files=files,
        failing=tuple(dict.fromkeys(test for test in failing if test not in also)),
        fails_with=not all(verdict.accepts for verdict in with_them),
    )


def known_failures(unfixed: tuple[str, ...], *, needs_network: bool) -> Doubt:
    """Why a person has to accept work that broke nothing and proves something."""
    message = (
        f"tests that failed before the work still fail: {few(unfixed)}; "
        "if you accept the work, they are known failures of this loop"
    )
    return Doubt(code="known_failures", message=f"{message}; {NEEDS_NETWORK}" if needs_network else message)


def problem_sentences(verdict: CommandVerdict) -> Iterator[str]:
    """Each problem of a verdict in a sentence, with its tests."""
    for problem, tests in verdict.problems.items():
        yield f"{few(tests, most=20)} {_SENTENCES[problem]}" if tests else _SENTENCES[problem]
