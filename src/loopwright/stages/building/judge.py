"""Judges the work of a build by the checks of its plan. The result is in the journal before the loop gets it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import takewhile
from typing import Protocol

import msgspec

from loopwright.errors import Interrupted
from loopwright.evidence.known_results import REPEATS
from loopwright.judging.controls.model import ControlOutcome
from loopwright.judging.reports.model import LineMarks, TestResult
from loopwright.judging.runners.table import FALLBACKS
from loopwright.judging.same_tests import old_name, with_new_names
from loopwright.judging.verdict import (
    CommandResults,
    CommandVerdict,
    Problem,
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
from loopwright.kernel.process import Cancellation
from loopwright.loop.altered_files import raising_files, unreached
from loopwright.loop.decisions import granted_scope
from loopwright.loop.model import Loop, Tree
from loopwright.loop.port import RunSteps, TestProject
from loopwright.loop.ran_checks import RanCheck, RanChecks
from loopwright.loop.rewritten_files import RewrittenFiles
from loopwright.loop.split_work import SplitWork, control_trees, split_work
from loopwright.loop.test_runs import WITHOUT_DOUBTFUL, can_select, reported, result_of_step
from loopwright.loop.work_verdict import WorkVerdict, problem_sentences
from loopwright.loop.worker_sandbox import base_sandbox
from loopwright.runner.request import Finished
from loopwright.stages.building.altered_checks import AlteredCheck, AlteredChecks, JudgedTree, worst_of
from loopwright.stages.building.built_tree import BuiltTree
from loopwright.stages.building.checking import Hidden, end_of_output, hidden_folder, run_checks, steps_of
from loopwright.stages.building.controls import (
    ControlBase,
    base_results,
    repeated_on_base,
    reporters_left_out,
    reporting,
)
from loopwright.stages.building.judged import (
    MOST_NAMES,
    JudgedChecks,
    JudgedWork,
    Verdicts,
    recorded_checks,
    recorded_protected,
    recorded_tests,
)
from loopwright.stages.building.judging_runs import JudgingRuns
from loopwright.stages.context import Context, loops_of, workflows_of
from loopwright.wording.catalogue import few
from loopwright.workflow.model import Workflow
from loopwright.workflow.scope_of_plan import scope_of_slices
from loopwright.workflow.slices import Check
from loopwright.workflow.verification import RULES, Verification

_MOST_OUTPUT = 1500
_AGAIN, _NEW_TESTS = "validate-again", "new-tests-on-base"
_NEW_ALONE = "new-tests"
_NOTHING_TO_RUN: dict[str, object] = {"id": "no-checks", "action": "a person signs", "commands": ["true"]}
# Takes the loop, the result, and whether everything passed.
RecordChecks = Callable[[Loop, Verification, bool], None]


class RunOnTree(Protocol):
    """Runs the checks on a tree; `only` are the test files that matter."""

    def __call__(
        self, tree: Tree | None, name: str, observer: BuiltTree | Hidden, only: tuple[str, ...] = ()
    ) -> Finished:
        """The run; None is the tree of the agent."""
        ...


class CheckJudging:
    """One validation by all checks of all slices, as the plan has them when the validation begins."""

    def __init__(
        self,
        context: Context,
        slug: str,
        loop: Loop,
        record: RecordChecks,
        cancellation: Cancellation,
        signed: frozenset[str] | None = None,
    ) -> None:
        snapshot = workflows_of(context).snapshot(slug)
        self._context = context
        self._slug = slug
        self._loop = loop
        self._record_checks = record
        # Protected files that a person signed; None: no person was asked yet.
        self._signed = signed
        self._cancellation = cancellation
        self._workflow: Workflow = snapshot.workflow
        self._slices = snapshot.facts.readable_slices
        self._hidden = Hidden(hidden_folder(context, slug), self._slices.checks)
        # Which lines ran in each run of the checks on the work.
        self._covered: list[LineMarks | None] = []
        self._steps = tuple(steps_of(self._slices.checks)) or (_NOTHING_TO_RUN,)
        self._ran = RanChecks(self._plain_checks())
        self._runs = JudgingRuns(context.store, slug)

    def judge(self, run: RunSteps, test_project: TestProject) -> tuple[str, tuple[TestResult, ...]]:
        """A result for each check and for each test that the work broke; all of them are recorded first."""
        judged = self._judged(run, test_project)
        if judged.needs_doubtful:
            judged = self._judged(run, test_project, sign_doubtful=True)
        self._record(judged)
        tests = judged.tests
        broken = tests.broken[:MOST_NAMES] if tests is not None and not tests.accepts else ()
        return judged.checks.verified.evidence.run_id, (*self._check_results(judged), *broken)

    def _judged(self, run: RunSteps, test_project: TestProject, *, sign_doubtful: bool = False) -> JudgedWork:
        split = self._split(sign_doubtful=sign_doubtful)
        seen = BuiltTree(self._hidden, split, self._slices.checks)
        checks = self._run_checks(run, split, seen)
        if split is not None and seen.is_suspicious:
            seen.excuse(self._rewritten_on_base(split))
        judged = JudgedWork(split=split, seen=seen, checks=checks)
        if split is None or not checks.passes or checks.doubtful_tests:
            return judged
        # The project's tests run if the checks pass, even if a control failed: a person may accept that.
        altered = self._altered(split, checks)
        return msgspec.structs.replace(judged, altered=altered, tests=test_project(split, self._ran))

    def _plain_checks(self) -> tuple[RanCheck, ...]:
        """The first checks that run as a test command of the project runs; none if hidden files are in the tree."""
        if self._hidden.names():
            return ()
        without = reporters_left_out(self._workflow)
        plain = takewhile(lambda check: not check.network, self._slices.checks)
        return tuple(RanCheck(check.command, check.cwd, without.get(check.id, FALLBACKS)) for check in plain)

    def _split(self, *, sign_doubtful: bool) -> SplitWork | None:
        """The work by the scope of the plan; None if nothing changed."""
        tree = self._loop.tree
        if tree is None or not tree.has_changes:
            return None
        progress = loops_of(self._context).paths(self._loop.loop_id).progress
        settings = self._context.settings.values.project
        plan = scope_of_slices(self._slices, granted_scope(self._loop))
        project = self._context.project
        return split_work(tree, progress, project, settings, plan, self._signed, sign_doubtful=sign_doubtful)

    def _run_checks(self, run: RunSteps, split: SplitWork | None, seen: BuiltTree) -> JudgedChecks:
        base = self._base_results()
        base_run = next((result.run_id for result in base.values() if result.run_id), None)

        def on(tree: Tree | None, name: str, observer: BuiltTree | Hidden, only: tuple[str, ...] = ()) -> Finished:
            reports = reporting(self._context, self._workflow, observer, only)
            finished = run(tree, self._steps, name, reports, base_run, split.scope if split is not None else None)
            # The lines of other trees have other numbers.
            self._covered += [reports.lines] if observer is seen else []
            if tree is not None and name != _AGAIN:
                self._ran.add(tree.tree, only, finished)
            return finished

        verified = on(split.verified if split is not None else self._loop.tree, "validate", seen)
        results = {
            check.id: CommandResults(
                base=base[check.id],
                work=result_of_step(verified.evidence, check.id),
                new_on_work=result_of_step(verified.evidence, check.id),
                named=check.tests or None,
                known_failures=frozenset(check.known_failures),
            )
            for check in self._slices.checks
        }
        results = _with_names(results, split)
        # Work that is refused without these runs needs them only if a person is to look at its protected changes.
        is_accepted = all(verdict.accepts for verdict in _each(results).values())
        if split is not None and (is_accepted or split.protected):
            results = self._with_new_tests(results, on, split, can_select=can_select(verified.evidence))
        results = _with_names(self._with_repeats(results, base, on, split), split)
        if split is not None and split.signed:
            verdicts = _with_changes(results, verified, split.signed_files)
            return self._with_doubtful(JudgedChecks(verified=verified, verdicts=verdicts), split, base, on)
        judged = JudgedChecks(verified=verified, verdicts=_each(results))
        if split is None:
            return judged
        if split.protected:
            whole = on(split.whole, "with-protected-changes", self._hidden)
            with_protected = _with_changes(results, whole, split.protected_files)
            judged = msgspec.structs.replace(judged, whole=whole, with_protected=with_protected)
        return self._with_doubtful(judged, split, base, on)

    def _with_doubtful(
        self, judged: JudgedChecks, split: SplitWork, base: Mapping[str, TreeResult], on: RunOnTree
    ) -> JudgedChecks:
        """The same with the tests that pass only with the doubtful changes."""
        finished, tree = judged.verified, split.without_doubtful
        if judged.passes_only_with and judged.whole is not None:
            finished, tree = judged.whole, split.whole_without_doubtful
        if tree is None or not judged.passes:
            return judged

        def run_without() -> dict[str, TreeResult]:
            evidence = on(tree, WITHOUT_DOUBTFUL, self._hidden).evidence
            return {name: result_of_step(evidence, name) for name in base}

        work = {name: result_of_step(finished.evidence, name) for name in base}
        tests = doubtful_tests(
            base,
            work,
            run_without,
            lambda test: old_name(test, split.names),
            counts_silent=bool(split.same_tests),
        )
        return msgspec.structs.replace(judged, doubtful_tests=tests)

    def _with_new_tests(
        self, results: dict[str, CommandResults], on: RunOnTree, split: SplitWork, *, can_select: bool
    ) -> dict[str, CommandResults]:
        """The results with runs of the new tests by themselves: new tests may influence the others."""
        with_tests = split.base_with_new_tests
        if split.without_new_tests is None or with_tests is None:
            return results
        commands = {check.id: check.command for check in self._slices.checks}
        earlier = on(split.without_new_tests, "earlier-tests", self._hidden)
        only = split.new_tests if can_select else ()
        on_base = on(with_tests, _NEW_TESTS, self._hidden, only)
        if only and not reported(on_base.evidence, only):
            only = ()
            on_base = on(with_tests, _NEW_TESTS, self._hidden)
        # What the checks refuse on the tree that is delivered, no other tree can mend.
        refused = {name for name, verdict in _each(results).items() if not verdict.accepts}
        results = {
            name: msgspec.structs.replace(
                result,
                names_new_tests=any(names_a_file(commands[name], path) for path in split.new_tests),
                work=result.work if name in refused else result_of_step(earlier.evidence, name),
                new_on_base=result_of_step(on_base.evidence, name),
            )
            for name, result in results.items()
        }
        verdicts = _each(results)
        doubtful = [name for name, result in results.items() if rests_on_new_tests(result, verdicts[name])]
        repeats = REPEATS if doubtful else 0
        again = [on(with_tests, _NEW_TESTS, self._hidden, only).evidence for _ in range(repeats)]
        results |= {
            name: failing_each_time(results[name], (result_of_step(evidence, name) for evidence in again))
            for name in doubtful
        }
        if not doubtful or not only:
            return results
        # On the base the new tests ran without the others: only the same run on the work can be compared.
        alone = on(split.verified, _NEW_ALONE, self._hidden, only).evidence
        return results | {name: passing_alone(results[name], result_of_step(alone, name)) for name in doubtful}

    def _with_repeats(
        self,
        results: dict[str, CommandResults],
        known: Mapping[str, TreeResult],
        on: RunOnTree,
        split: SplitWork | None,
    ) -> dict[str, CommandResults]:
        """The results with the tests that are flaky on the base, and more runs on the work if these fail there."""
        verdicts, base = _each(results), self._base()
        checks = tuple(check for check in self._slices.checks if may_be_flaky(results[check.id], verdicts[check.id]))
        if not checks or base is None or split is None:
            return results
        # The controls may be newer than the workflow that this validation began with.
        workflow = workflows_of(self._context).snapshot(self._slug).workflow
        runs = repeated_on_base(self._context, workflow, checks, base, known, self._cancellation)
        self._runs.count_again(tuple(result.run_id for on_base in runs.values() for result in on_base if result.run_id))
        results = results | {
            name: msgspec.structs.replace(results[name], flaky=flaky_tests(on_base), unstable=unstable_tests(on_base))
            for name, on_base in runs.items()
        }
        fail = {name for name in runs if verdicts[name].fails(results[name].flaky)}
        tree = split.verified if split.without_new_tests is None else split.without_new_tests
        again = [on(tree, _AGAIN, self._hidden).evidence for _ in range(REPEATS if fail else 0)]
        repeated = {name: tuple(result_of_step(evidence, name) for evidence in again) for name in fail}
        return results | {
            name: msgspec.structs.replace(results[name], repeated=repeated.get(name, ())) for name in runs
        }

    def _base(self) -> ControlBase | None:
        tree, context = self._loop.tree, self._context
        if tree is None:
            return None
        progress = loops_of(context).paths(self._loop.loop_id).progress
        return ControlBase(base_sandbox(context.sandbox_request(), tree, progress), tree.commit, tree.base_tree)

    def _rewritten_on_base(self, split: SplitWork) -> RewrittenFiles:
        """The files that the checks change on the base while they run."""
        base, checks = self._base(), self._slices.checks
        commands = ((check.command, check.cwd) for check in checks)
        rewritten = RewrittenFiles(self._hidden, scope=split.scope, commands=commands)
        if base is not None and checks:
            run_checks(
                self._context, self._slug, checks, name="control-again", sandbox=base.sandbox,
                cancellation=self._cancellation, observer=rewritten,
            )  # fmt: skip
        return rewritten

    def _base_results(self) -> dict[str, TreeResult]:
        base = self._base()
        if base is None:
            return {check.id: TreeResult(exited_with_0=False, ended=False) for check in self._slices.checks}
        return base_results(self._context, self._workflow, self._slices.checks, base, self._cancellation)

    def _altered(self, split: SplitWork, judged: JudgedChecks) -> dict[str, AlteredCheck]:
        """What became of each check when its own expectations, or the functions of the work, were altered."""
        is_whole = judged.passes_only_with
        ran = judged.whole if is_whole and judged.whole is not None else judged.verified
        judges = (*split.judges, *split.new_tests, *self._workflow.seals, *self._hidden.names())
        progress = loops_of(self._context).paths(self._loop.loop_id).progress
        by_tree: dict[str, tuple[Tree, Verdicts]] = {}
        for name, verdict in (judged.with_protected if is_whole else judged.verdicts).items():
            for tree, part in [(split.whole, verdict)] if is_whole else control_trees(split, verdict):
                by_tree.setdefault(tree.tree, (tree, {}))[1][name] = part
        outcomes: dict[str, list[AlteredCheck]] = {}
        for tree, verdicts in by_tree.values():
            of_tree = JudgedTree(
                tree=tree, progress=progress, verdicts=verdicts, evidence=ran.evidence, judges=judges, code=split.code
            )
            for name, outcome in self._altered_on(of_tree, split).items():
                outcomes.setdefault(name, []).append(outcome)
        return {name: worst_of(found) for name, found in outcomes.items()}

    def _altered_on(self, tree: JudgedTree, split: SplitWork) -> dict[str, AlteredCheck]:
        checks = tuple(check for check in self._slices.checks if check.id in tree.verdicts)
        altered = AlteredChecks(self._context, self._workflow, checks, tree, self._cancellation)
        try:
            outcomes = altered.outcomes()
            # A person signs for a tree with protected changes.
            return (
                outcomes
                if tree.tree.tree == split.whole.tree and split.protected
                else altered.with_moved(outcomes, split)
            )
        except Interrupted:
            # A stopped loop continues with the same action later.
            self._cancellation.raise_if_requested()
            raise

    def _record(self, work: JudgedWork) -> None:
        judged, split, tests, altered = work.checks, work.split, work.tests, work.altered
        base = judged.verified.evidence.base
        verification = Verification(
            iteration=0,  # `record_checks` counts
            tree=base.tree if base is not None else "",
            patch_sha256=split.verified.patch_sha256 if split is not None else "",
            files=split.allowed_files if split is not None else (),
            checks=recorded_checks(judged.verified, self._slices.checks, judged.verdicts),
            judges=work.seen.judges,
            immune=tuple(work.immune),
            immune_runs=work.immune,
            moved={name: check.moved for name, check in altered.items() if check.moved},
            unaltered=tuple(name for name, check in altered.items() if check.outcome is ControlOutcome.UNALTERED),
            tests=recorded_tests(tests, with_protected=False) if tests is not None else None,
            protected=recorded_protected(judged, split, self._slices.checks, tests) if split is not None else None,
            flags=tuple(map(str, split.flags)) if split is not None else (),
            is_empty=split is None or split.is_empty,
            unreached=self._unreached(split, tests) if split is not None else (),
            controls=self._runs.ids(self._ran.recalled),
            rules=RULES,
        )
        passed = judged.passes and not work.immune and (tests is None or tests.accepts)
        self._record_checks(self._loop, verification, passed)

    def _unreached(self, split: SplitWork, tests: WorkVerdict | None) -> tuple[str, ...]:
        """The changed functions that no check and no test of the project reaches, if a coverage report tells."""
        covered = [*self._covered, *([tests.verified.lines] if tests is not None else [])]
        if all(lines is None for lines in covered):
            return ()
        return unreached(raising_files(split.code), covered)[:MOST_NAMES]

    def _check_results(self, work: JudgedWork) -> tuple[TestResult, ...]:
        judged = work.checks
        if not self._slices.checks:
            return (TestResult("no check", "a person signs", "passed"),)
        verdicts = judged.with_protected if judged.passes_only_with else judged.verdicts
        steps = {step.id: step for step in judged.verified.evidence.steps}
        results = []
        for piece in self._slices.slices:
            for check in piece.checks:
                step, verdict = steps.get(check.id), verdicts[check.id]
                passed = verdict.accepts and check.id not in work.immune
                moved = work.altered[check.id].moved if check.id in work.altered else ()
                message = "" if passed else _failure(judged.verified, piece.behavior, check, verdict, moved)
                duration_ms = round(1000 * step.duration_s, 1) if step is not None else 0
                results.append(TestResult(check.id, piece.id, "passed" if passed else "failed", duration_ms, message))
        return tuple(results)


def _each(results: Mapping[str, CommandResults]) -> Verdicts:
    return {name: judge_command(result) for name, result in results.items()}


def _with_names(results: dict[str, CommandResults], split: SplitWork | None) -> dict[str, CommandResults]:
    """The results with the names that moved tests have in the work."""
    names = split.names if split is not None else {}
    return {name: with_new_names(result, names) for name, result in results.items()}


def _with_changes(results: Mapping[str, CommandResults], finished: Finished, files: frozenset[str]) -> Verdicts:
    """The verdicts on a tree with changes to protected files. A person looks at tests that the changes remove."""
    return {
        name: judge_with_protected(result, result_of_step(finished.evidence, name), files)
        for name, result in results.items()
    }


def _failure(finished: Finished, behavior: str, check: Check, verdict: CommandVerdict, moved: tuple[str, ...]) -> str:
    """Why a check does not accept the work; for a hidden check only the behaviour that it tests."""
    if moved:
        return f"{check.id} passes only because you changed, in the source, what its tests expect: {few(moved)}"
    if verdict.accepts:
        return f"{check.id} passes also when its own tests are made to fail, or your changed functions raise"
    if check.hidden:
        return f"a check that you are not shown fails: {behavior}"
    # The output of a failed command speaks for itself.
    named = () if Problem.COMMAND_FAILED in verdict.problems else problem_sentences(verdict)
    said = "\n".join((*named, end_of_output(finished, check, _MOST_OUTPUT)))
    return f"`{check.command}` failed: {said}"
