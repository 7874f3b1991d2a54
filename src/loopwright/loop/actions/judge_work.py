"""Judges the work of a loop by the project's tests: on the base, on the work, and with protected changes."""

from __future__ import annotations

from msgspec.structs import replace

from loopwright.evidence.known_results import REPEATS
from loopwright.judging.controls.model import ControlOutcome, worst
from loopwright.judging.project_scope import PlanScope
from loopwright.judging.runners.table import FALLBACKS
from loopwright.judging.same_tests import old_name, with_new_names
from loopwright.judging.scope import WorkScope
from loopwright.judging.verdict import (
    CommandResults,
    CommandVerdict,
    Grade,
    TreeResult,
    doubtful_tests,
    failing_each_time,
    flaky_tests,
    judge_command,
    judge_with_protected,
    may_be_flaky,
    names_a_file,
    passing_alone,
    rests_on_new_tests,
    unstable_tests,
)
from loopwright.judging.warning_signs.deceiving_values import may_deceive
from loopwright.loop.actions.run_tests import (
    MoreOfRun,
    commands_for,
    known_tests_on_base,
    run_tests,
    same_tests,
    tests_on_base,
    tests_on_base_again,
)
from loopwright.loop.altered_files import AlteredFiles, raising_files, unreached
from loopwright.loop.decisions import granted_scope
from loopwright.loop.inverted_tests import InvertedTests, longest_s
from loopwright.loop.model import Loop, Tree
from loopwright.loop.ran_checks import RanChecks
from loopwright.loop.rewritten_files import RewrittenFiles
from loopwright.loop.split_work import SplitWork, control_trees, split_work
from loopwright.loop.test_runs import COMMAND, WITHOUT_DOUBTFUL, TestRun, files_of
from loopwright.loop.work_verdict import WorkVerdict
from loopwright.loop.worker_context import WorkerContext
from loopwright.loop.worker_sandbox import base_sandbox, with_work
from loopwright.runner.request import Observer
from loopwright.runner.side_by_side import both, has_free_core
from loopwright.sandbox.port import SandboxRequest
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
    base, verified, earlier = _first_runs(loop, context, split, commands, ran)
    runs = _Runs(loop, context, commands, base, split.scope, ran)
    verified = runs.without_usual_rewrites(split, verified)
    if base.is_of_other_work and set(base.runners) != set(verified.runners):
        # What a key can't see: for example, the set-up installed another version of the runner.
        base = tests_on_base(loop, context, split.whole, commands, runs_again=True)
    results = CommandResults(
        base=base.tree_result,
        work=verified.tree_result,
        new_on_work=verified.tree_result,
        named=named,
        known_failures=frozenset(loop.known_failures),
    )
    results = with_new_names(results, split.names)
    verdict = judge_command(results)
    if verdict.accepts:
        results = runs.with_new_tests(split, results, earlier)
        verdict = judge_command(results)
    results = with_new_names(runs.with_repeats(split, results, verdict, base), split.names)
    if split.signed:
        # A person looked at the tests that these changes remove.
        verdict = judge_with_protected(results, verified.tree_result, split.signed_files)
        return runs.with_doubtful(WorkVerdict(split=split, base=base, verified=verified, verdict=verdict))
    whole = runs.on(split.whole, "with-protected-changes") if split.protected else None
    seen = WorkVerdict(split=split, base=base, verified=verified, verdict=verdict, whole=whole)
    judged = runs.controlled(_judged(seen, results, runs), results)
    if named is None and not judged.passes and judged.unfixed:
        known = results.known_failures.union(judged.unfixed)
        if_known = _judged(seen, replace(results, known_failures=known), runs)
        judged = replace(judged, if_known=runs.controlled(if_known, results))
    return judged


def _judged(seen: WorkVerdict, results: CommandResults, runs: _Runs) -> WorkVerdict:
    """The verdict by these results, without the protected changes and with them."""
    split, verified, verdict = seen.split, seen.verified, judge_command(results)
    altered = runs.altered(split, verdict, verified) if verdict.proves and results.named is None else None
    judged = replace(seen, verdict=verdict, altered=altered)
    if verified.lines is not None and verdict.accepts:
        judged = replace(judged, unreached=unreached(raising_files(split.code), [verified.lines]))
    if seen.whole is None:
        return judged
    with_protected = judge_with_protected(results, seen.whole.tree_result, split.protected_files)
    return replace(judged, with_protected=with_protected)


def _first_runs(
    loop: Loop, context: WorkerContext, split: SplitWork, commands: tuple[TestCommand, ...], ran: RanChecks
) -> tuple[TestRun, TestRun, TestRun | None]:
    """The runs on the base and on the work; also that without new tests, if a core was free for it.

    Runs at the same time may disturb each other, by a port for example. A failure counts only of a run by itself.
    """
    known = known_tests_on_base(loop, context, split.whole, commands)
    if known is None and _may_run_beside(context):
        beside = _Runs(loop, context, commands, None, split.scope, ran)
        base, verified = both(
            lambda: tests_on_base(loop, context, split.whole, commands, runs_again=False),
            lambda: beside.on(split.verified, _VALIDATE),
        )
        if not base.passed:
            base = tests_on_base(loop, context, split.whole, commands, runs_again=True)
        if verified.passed and verified.without == base.without:
            return base, verified, None
    else:
        base = tests_on_base(loop, context, split.whole, commands, runs_again=False)
    runs = _Runs(loop, context, commands, base, split.scope, ran)
    before = split.without_new_tests
    if before is not None and base.passed and _may_run_beside(context):
        verified, earlier = both(lambda: runs.on(split.verified, _VALIDATE), lambda: runs.on(before, _EARLIER))
        if verified.passed and earlier.passed:
            return base, verified, earlier
    return base, runs.on(split.verified, _VALIDATE), None


def _may_run_beside(context: WorkerContext) -> bool:
    setting = context.settings.side_by_side
    return setting == "always" or (setting == "auto" and has_free_core())


class _Runs:
    """Runs the same commands with the same reporters on several trees."""

    def __init__(
        self,
        loop: Loop,
        context: WorkerContext,
        commands: tuple[TestCommand, ...],
        base: TestRun | None,
        scope: WorkScope,
        ran: RanChecks,
    ) -> None:
        """`base` is None while the base runs: then the reporters are those that most commands can stand."""
        self._loop = loop
        self._context = context
        self._commands = commands
        self._without = frozenset(base.without) if base is not None else FALLBACKS
        self._more = MoreOfRun(base_run=base.run_id if base is not None else None, scope=scope)
        self._can_select = base is not None and base.can_select
        self._ran = ran
        self._progress = context.progress(loop)

    def on(self, tree: Tree, name: str, only: tuple[str, ...] = ()) -> TestRun:
        """Run the commands on a tree. `only` are the test files that matter; the others are left out if possible."""
        run = self._once(tree, name, only if self._can_select else ())
        is_silent = self._can_select and only and not any(map(run.reports_on, only))
        return self._once(tree, name) if is_silent else run

    def _once(self, tree: Tree, name: str, only: tuple[str, ...] = ()) -> TestRun:
        loop, context, commands, without = self._loop, self._context, self._commands, self._without
        known = same_tests(self._ran, tree, only, commands, without) if name != _AGAIN else None
        if known is not None:
            return known
        sandbox = with_work(context.request(), tree, self._progress)
        rewritten, more = RewrittenFiles(), replace(self._more, only=only)
        run = run_tests(loop, context, sandbox, commands, name, without, inside=rewritten, more=more)
        return replace(run, rewritten=rewritten.paths)

    def without_usual_rewrites(self, split: SplitWork, run: TestRun) -> TestRun:
        """The run without the files that the tests change on the base, too."""
        if not run.rewritten:
            return run
        rewritten, sandbox = RewrittenFiles(), base_sandbox(self._context.request(), split.whole, self._progress)
        run_tests(
            self._loop, self._context, sandbox, self._commands, "base-tests-again", self._without, inside=rewritten
        )
        return replace(run, rewritten=tuple(path for path in run.rewritten if path not in rewritten.paths))

    def with_new_tests(self, split: SplitWork, results: CommandResults, earlier: TestRun | None) -> CommandResults:
        """The results with runs of the new tests by themselves: new tests may influence the others."""
        with_tests, new = split.base_with_new_tests, split.new_tests
        if split.without_new_tests is None or with_tests is None:
            return results
        results = replace(
            results,
            names_new_tests=any(names_a_file(command.command, path) for path in new for command in self._commands),
            work=(earlier or self.on(split.without_new_tests, _EARLIER)).tree_result,
            new_on_base=self.on(with_tests, _NEW_TESTS, only=new).tree_result,
        )
        # If the checks of a plan prove the work, the project's tests do not have to.
        if results.named == () or not rests_on_new_tests(results, judge_command(results)):
            return results
        if self._can_select:
            # On the base the new tests ran without the others: only the same run on the work can be compared.
            results = passing_alone(results, self.on(split.verified, _NEW_ALONE, only=new).tree_result)
        return failing_each_time(
            results, [self.on(with_tests, _NEW_TESTS, only=new).tree_result for _ in range(REPEATS)]
        )

    def controlled(self, judged: WorkVerdict, results: CommandResults) -> WorkVerdict:
        """The verdict with what more runs show about the tests of the base."""
        return self.with_doubtful(self.with_weakened(judged, results))

    def with_doubtful(self, judged: WorkVerdict) -> WorkVerdict:
        """The verdict with the tests that pass only with the doubtful changes."""
        split, run, tree = judged.split, judged.verified, judged.split.without_doubtful
        if judged.passes_only_with and judged.whole is not None:
            run, tree = judged.whole, split.whole_without_doubtful
        if tree is None or not judged.passes:
            return judged

        def run_without() -> dict[str, TreeResult]:
            return {COMMAND: self.on(tree, WITHOUT_DOUBTFUL).tree_result}

        tests = doubtful_tests(
            {COMMAND: judged.base.tree_result},
            {COMMAND: run.tree_result},
            run_without,
            lambda test: old_name(test, split.names),
            counts_silent=bool(split.same_tests),
        )
        return replace(judged, doubtful_tests=tests)

    def with_weakened(self, judged: WorkVerdict, results: CommandResults) -> WorkVerdict:
        """The verdict with earlier tests that could fail before the work, and can't fail now.

        Only tests that prove something are inverted otherwise: this costs a run of all tests.
        """
        split, verified = judged.split, judged.verified
        suspects = (may_deceive(file.path, file.before or b"", file.after) for file in split.code)
        if not judged.verdict.accepts or judged.altered is ControlOutcome.PASSED or not any(suspects):
            return judged
        earlier = verified.tree_result.passing(is_silent=False).difference(judged.verdict.proving)
        passed = tuple(test for test in sorted(earlier) if results.base.has(test))
        tree = with_work(self._context.request(), split.without_new_tests or split.verified, self._progress)
        suspicious = self._passing_inverted(tree, split, passed, verified)
        base = base_sandbox(self._context.request(), split.whole, self._progress)
        # On the base a moved test has its old name.
        old_names = {test: old_name(test, split.names) for test in suspicious}
        excused = self._passing_inverted(base, split, tuple(old_names.values()), verified)
        return replace(judged, weakened=tuple(test for test, old in old_names.items() if old not in excused))

    def _passing_inverted(
        self, sandbox: SandboxRequest, split: SplitWork, tests: tuple[str, ...], verified: TestRun
    ) -> tuple[str, ...]:
        before_s, verdict = verified.duration_ms / 1000, CommandVerdict(proving=tests)
        inverted = InvertedTests(before_s=before_s)
        named = (
            (command, inverted.add(str(number), command.command, verdict, split.judges, command.cwd))
            for number, command in enumerate(self._commands)
        )
        commands = tuple(replace(command, command=text) for command, text in named if text is not None)
        if not tests or not commands:
            return ()
        run = self._in_altered(sandbox, commands, "inverted-tests", inverted, before_s, inverted.files)
        return inverted.passing(tests, run.tree_result)

    def with_repeats(
        self, split: SplitWork, results: CommandResults, verdict: CommandVerdict, base: TestRun
    ) -> CommandResults:
        """The results with the tests that are flaky on the base, and more runs on the work if these fail there."""
        if not may_be_flaky(results, verdict):
            return results
        # New tests are not on the base.
        known = [test for test in (*verdict.doubtful, *verdict.proving) if results.base.has(test)]
        only = files_of(known) if self._can_select else ()
        again = tests_on_base_again(self._loop, self._context, split.whole, self._commands, base, only)
        self._ran.recalled += [run.run_id for run in again]
        runs = (base.tree_result, *(run.tree_result for run in again))
        results = replace(results, flaky=flaky_tests(runs), unstable=unstable_tests(runs))
        if not verdict.fails(results.flaky):
            return results
        tree = split.verified if split.without_new_tests is None else split.without_new_tests
        return replace(results, repeated=tuple(self.on(tree, _AGAIN).tree_result for _ in range(REPEATS)))

    def altered(self, split: SplitWork, verdict: CommandVerdict, verified: TestRun) -> ControlOutcome:
        """What became of the tests when their own expectations, or the functions of the work, were altered."""
        return worst([self._altered_on(split, tree, part, verified) for tree, part in control_trees(split, verdict)])

    def _altered_on(self, split: SplitWork, tree: Tree, verdict: CommandVerdict, verified: TestRun) -> ControlOutcome:
        inverted = self._inverted(split, tree, verdict, verified)
        if verdict.grade is not Grade.COMMAND or inverted is ControlOutcome.PASSED:
            return inverted
        raising = self._raising(split, tree, verified)
        return inverted if raising is ControlOutcome.UNALTERED else raising

    def _inverted(self, split: SplitWork, tree: Tree, verdict: CommandVerdict, verified: TestRun) -> ControlOutcome:
        before_s = verified.duration_ms / 1000
        inverted, judges = InvertedTests(before_s=before_s), (*split.judges, *split.new_tests)
        commands = {
            str(number): inverted.add(str(number), command.command, verdict, judges, command.cwd)
            for number, command in enumerate(self._commands)
        }
        changed = tuple(
            replace(command, command=text)
            for command, text in zip(self._commands, commands.values(), strict=True)
            if text is not None
        )
        if not changed:
            return ControlOutcome.UNALTERED
        run = self._on_altered(tree, changed, "inverted-tests", inverted, before_s, inverted.files)
        if self._can_select and run.ended and not all(map(run.reports_on, inverted.files)):
            # A file without a result says nothing: perhaps the command does not let it be run by itself.
            run = self._on_altered(tree, changed, "inverted-tests", inverted, before_s)
        outcomes = {inverted.outcome(name, run.tree_result, verdict) for name in commands}
        while again := inverted.again():
            changed = tuple(replace(self._commands[int(name)], command=text) for name, text in again.items())
            run = self._on_altered(tree, changed, "inverted-tests", inverted, before_s)
            outcomes |= {inverted.outcome(name, run.tree_result, verdict) for name in again}
        return worst(outcomes)

    def _raising(self, split: SplitWork, tree: Tree, verified: TestRun) -> ControlOutcome:
        """What a command without a report does when the changed functions raise."""
        files = raising_files(split.code)
        if not files:
            return ControlOutcome.UNALTERED
        before_s, name = verified.duration_ms / 1000, "raising-functions"
        if not self._on_altered(tree, self._commands, name, AlteredFiles(files), before_s).exited_with_0:
            return ControlOutcome.FAILED
        # A check of data or documents does not need the functions: it passes with those of the base, too.
        restored = AlteredFiles(files, restores=True)
        if self._on_altered(tree, self._commands, name, restored, before_s).exited_with_0:
            return ControlOutcome.UNALTERED
        return ControlOutcome.PASSED

    def _on_altered(
        self,
        tree: Tree,
        commands: tuple[TestCommand, ...],
        name: str,
        observer: Observer,
        before_s: float,
        only: tuple[str, ...] = (),
    ) -> TestRun:
        sandbox = with_work(self._context.request(), tree, self._progress)
        return self._in_altered(sandbox, commands, name, observer, before_s, only)

    def _in_altered(
        self,
        sandbox: SandboxRequest,
        commands: tuple[TestCommand, ...],
        name: str,
        observer: Observer,
        before_s: float,
        only: tuple[str, ...],
    ) -> TestRun:
        loop, context = self._loop, self._context
        limit_s = longest_s(before_s)
        more = replace(self._more, control=name, only=only if self._can_select else ())
        return run_tests(
            loop, context, sandbox, commands, name, self._without, inside=observer, longest_s=limit_s, more=more
        )
