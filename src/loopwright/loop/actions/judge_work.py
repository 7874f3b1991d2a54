"""Judges the work of a loop by the project's tests: on the base, on the work, and with protected changes."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from loopwright.judging.controls.model import ControlOutcome
from loopwright.judging.flaky import REPEATS, doubtful_on_base, needs_another_run, with_known_runs, without
from loopwright.judging.process_state import confirmed
from loopwright.judging.project_scope import PlanScope
from loopwright.judging.proof_sentences import ControlledProof
from loopwright.judging.protected_verdict import is_in, judge_with_protected, with_changed_tests
from loopwright.judging.runners.table import FALLBACKS
from loopwright.judging.same_tests import old_name, with_new_names
from loopwright.judging.verdict import (
    PASSED,
    CommandResults,
    CommandVerdict,
    TreeResult,
    doubtful_tests,
    failing_each_time,
    judge_command,
    names_a_file,
    passing_alone,
    rests_on_new_tests,
)
from loopwright.kernel.process import Cancellation
from loopwright.loop.actions.altered_runs import AlteredRuns, InvertedRun
from loopwright.loop.actions.moved_values import moved_values
from loopwright.loop.actions.run_tests import (
    CommandRuns,
    MoreOfRun,
    all_tests_on_base,
    commands_for,
    known_tests_on_base,
    run_tests,
    same_tests,
    tests_on_base,
    tests_on_base_again,
)
from loopwright.loop.altered_files import raising_files, unreached
from loopwright.loop.decisions import granted_scope
from loopwright.loop.model import Loop, Tree
from loopwright.loop.ran_checks import RanChecks
from loopwright.loop.rewritten_files import RewrittenFiles
from loopwright.loop.split_work import SplitWork, split_work
from loopwright.loop.test_runs import CHANGED_TESTS, COMMAND, WITHOUT_DOUBTFUL, TestRun, files_of
from loopwright.loop.work_verdict import WorkVerdict
from loopwright.loop.worker_context import WorkerContext
from loopwright.loop.worker_sandbox import base_sandbox, with_work
from loopwright.runner.side_by_side import WorkAhead, both, may_run_beside
from loopwright.workspace.settings_model import TestCommand

_VALIDATE, _EARLIER, _AGAIN = "validate", "earlier-tests", "validate-again"
_NEW_TESTS, _NEW_ALONE = "new-tests-on-base", "new-tests"


def judge_work(loop: Loop, context: WorkerContext, tree: Tree) -> WorkVerdict:
    """Judge the work of a loop by the test commands of the project."""
    plan = PlanScope(granted=granted_scope(loop))

    def split(*, sign_doubtful: bool) -> SplitWork:
        progress, project = context.progress(loop), context.request().project
        return split_work(tree, progress, project, context.project, plan, sign_doubtful=sign_doubtful)

    judged = judge_split(loop, context, split(sign_doubtful=False))
    if judged.needs_doubtful:
        return judge_split(loop, context, split(sign_doubtful=True))
    return judged


def judge_split(
    loop: Loop,
    context: WorkerContext,
    split: SplitWork,
    *,
    named: tuple[str, ...] | None = None,
    ran: RanChecks | None = None,
) -> WorkVerdict:
    """Judge work that is split by its scope.

    `named` are the tests that failed before the work and must pass now; None: all of them. What `ran` does not run
    again.
    """
    commands, ran = commands_for(context, split.judged_files), ran if ran is not None else RanChecks()
    with WorkAhead[InvertedRun | None](context.cancellation) as ahead:
        first = _first_runs(loop, context, split, commands, ran, ahead)
        judged = _judge(_Runs(loop, context, commands, first.base, split, ran, ahead), first, named)
    return replace(judged, commands=tuple(command.in_a_shell for command in commands))


def _judge(runs: _Runs, first: _FirstRuns, named: tuple[str, ...] | None) -> WorkVerdict:
    """The verdict by the first runs, and by more runs where the first ones leave a doubt."""
    split, base = runs.split, first.base.as_without_tests(first.base)
    verified = runs.without_usual_rewrites(first.verified.as_without_tests(base))
    if base.is_of_other_work and set(base.runners) != set(verified.runners):
        # What a key can't see: for example, the set-up installed another version of the runner.
        base = runs.base_again()
    results = CommandResults(
        base=base.tree_result,
        work=verified.tree_result,
        new_on_work=verified.tree_result,
        named=named,
        known_failures=frozenset(runs.loop.known_failures),
    )
    results = runs.with_repeats(runs.with_flaky(with_new_names(results, split.names), base), base)
    verdict = judge_command(results)
    if verdict.accepts:
        results = runs.with_repeats(runs.with_new_tests(results, first.earlier), base)
        verdict = judge_command(results)
    if split.signed:
        # A person looked at the tests that these changes remove.
        verdict = judge_with_protected(results, verified.tree_result, split.signing, None)
        return runs.controlled(WorkVerdict(split=split, base=base, verified=verified, verdict=verdict), results)
    whole = runs.on(split.whole, "with-protected-changes") if split.protected else None
    if whole is not None and named is None:
        results = runs.with_changed_tests(results, whole.tree_result)
    seen = WorkVerdict(
        split=split, base=base, verified=verified, verdict=verdict, whole=whole, left_out=runs.commands_left_out,
        changed_on_base=results.changed_on_base,
    )  # fmt: skip
    judged = runs.controlled(_judged(seen, results, runs), results)
    if named is None and not judged.passes and judged.unfixed:
        known = results.known_failures.union(judged.unfixed)
        if_known = _judged(seen, replace(results, known_failures=known), runs)
        judged = replace(judged, if_known=runs.controlled(if_known, results))
    return judged


def _judged(seen: WorkVerdict, results: CommandResults, runs: _Runs) -> WorkVerdict:
    """The verdict by these results, without the protected changes and with them."""
    split, verified, verdict = seen.split, seen.verified, judge_command(results)
    altered = runs.altered(verdict, verified) if verdict.proves and results.named is None else None
    judged = replace(seen, verdict=verdict, altered=altered, untried=runs.untried, controlled=runs.controlled_proof)
    if verified.lines is not None and verdict.accepts:
        judged = replace(judged, unreached=unreached(raising_files(split.code), [verified.lines]))
    if seen.whole is None:
        return judged
    whole = seen.whole.tree_result
    with_protected = judge_with_protected(results, whole, split.signing, results.work)
    return replace(judged, with_protected=with_protected)


class _FirstRuns(msgspec.Struct, frozen=True):
    """The runs on the base and on the work; also that without new tests, if a core was free for it."""

    base: TestRun
    verified: TestRun
    earlier: TestRun | None = None


def _first_runs(
    loop: Loop,
    context: WorkerContext,
    split: SplitWork,
    commands: tuple[TestCommand, ...],
    ran: RanChecks,
    ahead: WorkAhead[InvertedRun | None],
) -> _FirstRuns:
    """Run the commands on base and work, at the same time if a core is free.

    Runs at the same time may disturb each other, by a port for example. A failure counts only of a run by itself.
    """
    known = known_tests_on_base(loop, context, split.whole, commands)
    if known is None and may_run_beside(context.settings.side_by_side):
        beside = _Runs(loop, context, commands, None, split, ran, ahead)
        base, verified = both(
            lambda: tests_on_base(loop, context, split.whole, commands, runs_again=False, is_beside=True),
            lambda: beside.on(split.verified, _VALIDATE),
        )
        if not base.passed:
            base = tests_on_base(loop, context, split.whole, commands, runs_again=True, is_beside=False)
        if verified.passed and verified.without == base.without:
            return _FirstRuns(base, verified)
    else:
        base = tests_on_base(loop, context, split.whole, commands, runs_again=False, is_beside=False)
    runs = _Runs(loop, context, commands, base, split, ran, ahead)
    before = split.without_new_tests
    if context.settings.side_by_side != "never":
        ahead.offer(runs.invert_earlier_tests, at_once=context.settings.side_by_side == "always")
    needs_earlier = before is not None and base.passed and not all(map(_can_be_probed, base.tree_result.tests))
    if before is not None and needs_earlier and may_run_beside(context.settings.side_by_side):
        verified, earlier = both(lambda: runs.on(split.verified, _VALIDATE), lambda: runs.on(before, _EARLIER))
        if verified.passed and earlier.passed:
            return _FirstRuns(base, verified, earlier)
        ahead.stop()
        return _FirstRuns(base, runs.on(split.verified, _VALIDATE))
    verified = runs.on(split.verified, _VALIDATE)
    if ahead.has_begun and not verified.fails_as(base):
        ahead.stop()
        verified = runs.on(split.verified, _VALIDATE)
    return _FirstRuns(base, verified)


def _can_be_probed(test: str) -> bool:
    """Whether the run with probes may tell as much about a test as a run without changes."""
    return test.partition("::")[0].endswith(".py")


class _Runs:
    """Runs the same commands with the same reporters on several trees."""

    def __init__(
        self,
        loop: Loop,
        context: WorkerContext,
        commands: tuple[TestCommand, ...],
        base: TestRun | None,
        split: SplitWork,
        ran: RanChecks,
        ahead: WorkAhead[InvertedRun | None],
    ) -> None:
        """`base` is None while the base runs: then the reporters are those that most commands can stand."""
        self.loop = loop
        self.split = split
        self._context = context
        self._commands = commands
        self._base = base
        self._without = frozenset(base.without) if base is not None else FALLBACKS
        self._more = MoreOfRun(base_run=base.run_id if base is not None else None, scope=split.scope)
        self._can_select = base is not None and base.can_select
        self._ran = ran
        self._ahead = ahead
        self._inverted: list[InvertedRun | None] = []
        # The tests of the base that ran there again.
        self._repeated: frozenset[str] = frozenset()
        self._progress = context.progress(loop)
        # How many expectations there was no time to change, and what else the controls found out.
        self.untried, self.controlled_proof = 0, ControlledProof()

    @property
    def commands_left_out(self) -> tuple[str, ...]:
        """The test commands of the project that do not run for this work."""
        return tuple(one.in_a_shell for one in self._context.project.test_commands if one not in self._commands)

    def base_again(self) -> TestRun:
        """A new run on the base, in place of an earlier one."""
        whole = self.split.whole
        return tests_on_base(self.loop, self._context, whole, self._commands, runs_again=True, is_beside=False)

    def on(self, tree: Tree, name: str, only: tuple[str, ...] = ()) -> TestRun:
        """Run the commands on a tree. `only` are the test files that matter; the others are left out if possible."""
        run = self._once(tree, name, only if self._can_select else ())
        is_silent = self._can_select and only and not any(map(run.reports_on, only))
        return self._once(tree, name) if is_silent else run

    def _once(self, tree: Tree, name: str, only: tuple[str, ...] = ()) -> TestRun:
        loop, context, commands, without = self.loop, self._context, self._commands, self._without
        base, known = self._base, same_tests(self._ran, tree, only, commands, without) if name != _AGAIN else None
        if known is not None:
            return known if base is None else known.as_without_tests(base)
        sandbox = with_work(context.request(), tree, self._progress)
        rewritten, more = self._rewritten_files(), replace(self._more, only=only)
        run = run_tests(loop, context, sandbox, commands, name, without, inside=rewritten, more=more)
        run = run if base is None else run.as_without_tests(base)
        return replace(run, rewritten=rewritten.paths, compared=rewritten.pairs)

    def _rewritten_files(self) -> RewrittenFiles:
        return RewrittenFiles(scope=self._more.scope, commands=((part.command, part.cwd) for part in self._commands))

    def without_usual_rewrites(self, run: TestRun) -> TestRun:
        """The run without the files that the tests change on the base, too."""
        if not run.rewritten and not (run.compared and run.passed):
            return run
        rewritten = self._rewritten_files()
        sandbox = base_sandbox(self._context.request(), self.split.whole, self._progress)
        run_tests(
            self.loop, self._context, sandbox, self._commands, "base-tests-again", self._without, inside=rewritten
        )
        return replace(run, rewritten=rewritten.unusual(run.rewritten, run.compared))

    def with_new_tests(self, results: CommandResults, earlier: TestRun | None) -> CommandResults:
        """The results with runs of the new tests by themselves: new tests may influence the others."""
        split = self.split
        with_tests, new = split.base_with_new_tests, split.new_tests
        if split.without_new_tests is None or with_tests is None:
            return results
        results = replace(
            results,
            names_new_tests=any(names_a_file(command.command, path) for path in new for command in self._commands),
            work=self._without_new_tests(results.work, results.base, earlier),
            new_on_base=self.on(with_tests, _NEW_TESTS, only=new).tree_result,
        )
        # If the checks of a plan prove the work, the project's tests do not have to.
        if results.named == () or not rests_on_new_tests(results, judge_command(results)):
            return results

        def on_base() -> TestRun:
            return self.on(with_tests, _NEW_TESTS, only=new)

        if not self._can_select:
            return failing_each_time(results, [on_base().tree_result for _ in range(REPEATS)])
        # On the base the new tests ran without the others: only the same run on the work can be compared.
        alone, *again = self._side_by_side(lambda: self.on(split.verified, _NEW_ALONE, only=new), *[on_base] * REPEATS)
        return failing_each_time(passing_alone(results, alone.tree_result), [run.tree_result for run in again])

    def with_changed_tests(self, results: CommandResults, whole: TreeResult) -> CommandResults:
        """The results with a run of the changed tests on the source of the base, if such a test is new by name."""
        tree, files = self.split.base_with_changed_tests, frozenset(file.path for file in self.split.test_files)
        if tree is None:
            return results
        old, now = {COMMAND: results}, {COMMAND: whole}
        return with_changed_tests(old, now, files, lambda: {COMMAND: self.on(tree, CHANGED_TESTS).tree_result})[COMMAND]

    def _side_by_side(self, first: Callable[[], TestRun], *others: Callable[[], TestRun]) -> tuple[TestRun, ...]:
        """The runs, two at a time if a core is free. The first must not fail because of another run."""
        if not may_run_beside(self._context.settings.side_by_side):
            return (first(), *(other() for other in others))
        run, second = both(first, others[0])
        return (run if run.passed else first(), second, *(other() for other in others[1:]))

    def _without_new_tests(self, work: TreeResult, base: TreeResult, earlier: TestRun | None) -> TreeResult:
        """The results of the tests of the base, in a run without new tests; `work` is the run with them."""
        tests = {test: status for test, status in work.tests.items() if base.has(test)}
        passing = [test for test, status in tests.items() if status == PASSED]
        seen = self._inverted_run() if earlier is None and all(map(_can_be_probed, passing)) else None
        if passing and seen is not None and seen.shows_passing(passing):
            return replace(work, tests=tests)
        return (earlier or self.on(self.split.without_new_tests or self.split.verified, _EARLIER)).tree_result

    def controlled(self, judged: WorkVerdict, results: CommandResults) -> WorkVerdict:
        """The verdict with what more runs show about the tests of the base."""
        weakened = self.with_weakened(judged, results)
        return self.with_changed_state(self.with_doubtful(self.with_moved(weakened, results), results), results)

    def with_changed_state(self, judged: WorkVerdict, results: CommandResults) -> WorkVerdict:
        """The verdict with what the tests change in the state of their processes, and did not change on the base."""
        split, base = judged.split, {COMMAND: judged.base.tree_result}
        if not judged.passes:
            return judged
        runs = ({COMMAND: judged.decisive.tree_result}, {COMMAND: results.work})
        tree = split.whole if judged.passes_only_with else split.without_new_tests or split.verified
        return replace(
            judged, changed_state=confirmed(base, runs, lambda: {COMMAND: self.on(tree, _AGAIN).tree_result})
        )

    def with_moved(self, judged: WorkVerdict, results: CommandResults) -> WorkVerdict:
        """The verdict with expectations of the proving tests that the work moved."""
        split, before_s = judged.split, judged.verified.duration_ms / 1000
        rests_on = judged.verdict.by_earlier_tests
        if judged.altered is not ControlOutcome.FAILED or rests_on is None:
            return judged
        earlier = tuple(old_name(test, split.names) for test in rests_on.proving if results.base.has(test))
        runs, project = self._command_runs(self._context), self._context.request().project
        moved = moved_values(
            split, earlier, runs.commands, runs.run_altered, self._progress, project, before_s=before_s
        )
        return replace(judged, moved=moved)

    def with_doubtful(self, judged: WorkVerdict, results: CommandResults) -> WorkVerdict:
        """The verdict with the tests that pass only with the doubtful changes. Flaky tests tell nothing about it."""
        split, run, tree = judged.split, judged.verified, judged.split.without_doubtful
        if judged.passes_only_with and judged.whole is not None:
            run, tree = judged.whole, split.whole_without_doubtful
        if tree is None or not judged.passes:
            return judged

        def run_without() -> dict[str, TreeResult]:
            return {COMMAND: self.on(tree, WITHOUT_DOUBTFUL).tree_result}

        tests = doubtful_tests(
            {COMMAND: judged.base.tree_result},
            {COMMAND: without(run.tree_result, results.flaky)},
            run_without,
            lambda test: old_name(test, split.names),
            counts_silent=bool(split.same_tests),
        )
        return replace(judged, doubtful_tests=tests)

    def with_weakened(self, judged: WorkVerdict, results: CommandResults) -> WorkVerdict:
        """The verdict with earlier tests that could fail before the work, and can't fail now."""
        seen = self._inverted_run() if judged.verdict.accepts and judged.altered is not ControlOutcome.PASSED else None
        if seen is None:
            return judged
        signed = judged.split.signed_files
        earlier = tuple(
            test
            for test in sorted(judged.verified.tree_result.passing(is_silent=False))
            if (results.base.tests.get(test) == PASSED or results.base.is_failing(test)) and not is_in(test, signed)
        )
        return replace(judged, weakened=self._altered_runs(self._context).weakened(earlier, seen))

    def altered(self, verdict: CommandVerdict, verified: TestRun) -> ControlOutcome:
        """What became of the tests when their own expectations, or the functions of the work, were altered."""
        seen = self._inverted_run() if verdict.by_earlier_tests is not None else None
        runs = self._altered_runs(self._context)
        outcome = runs.outcome(verdict, verified, seen)
        self.untried += runs.untried
        self.controlled_proof |= runs.controlled
        return outcome

    def invert_earlier_tests(self, cancellation: Cancellation) -> InvertedRun | None:
        """Run all tests of the base on the work with changed expectations."""
        return self._altered_runs(replace(self._context, cancellation=cancellation)).invert_earlier_tests()

    def _inverted_run(self) -> InvertedRun | None:
        """The same run, which perhaps has begun already; None without tests that can be inverted."""
        if not self._inverted:
            begun = self._ahead.take()
            self._inverted.append(begun or self.invert_earlier_tests(self._context.cancellation))
        return self._inverted[0]

    def _altered_runs(self, context: WorkerContext) -> AlteredRuns:
        if self._base is None:
            raise LookupError(self.loop.loop_id)  # the base is still running
        runs = self._command_runs(context)
        return AlteredRuns(runs.run_altered, self._commands, self.split, self._base)

    def _command_runs(self, context: WorkerContext) -> CommandRuns:
        return CommandRuns(
            loop=self.loop, context=context, commands=self._commands, without=self._without, more=self._more,
            can_select=self._can_select, whole=self.split.whole,
        )  # fmt: skip

    def with_flaky(self, results: CommandResults, base: TestRun) -> CommandResults:
        """The results with the tests that are flaky by all known runs on the base, also of other loops."""
        runs = all_tests_on_base(self.loop, self._context, self.split.whole, self._commands, base)
        results = with_known_runs(results, (run.on_base for run in runs))
        if results.flaky:
            self._ran.recalled += [run.run_id for run in runs]
        return with_new_names(results, self.split.names)

    def with_repeats(self, results: CommandResults, base: TestRun) -> CommandResults:
        """The results with more runs: on the base if tests may be flaky, and on the work if flaky tests fail there."""
        verdict = judge_command(results)
        doubtful = doubtful_on_base(results, verdict)
        if not doubtful <= self._repeated:
            self._repeated |= doubtful
            if verdict.doubtful:
                # A failure that other runs caused does not make a test flaky.
                self._ahead.stop()
            only = files_of(doubtful) if self._can_select else ()
            whole, beside = self.split.whole, self._ahead.may_disturb
            again = tests_on_base_again(self.loop, self._context, whole, self._commands, base, only, is_beside=beside)
            self._ran.recalled += [run.run_id for run in again]
            results = self.with_flaky(results, base)
        tree = self.split.without_new_tests or self.split.verified
        while needs_another_run(results, judge_command(results)):
            results = replace(results, repeated=(*results.repeated, self.on(tree, _AGAIN).tree_result))
        return results
