"""Judges the work of a build by the checks of its plan. The result is in the journal before the loop gets it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from msgspec.structs import replace

from loopwright.errors import Interrupted
from loopwright.judging.controls.model import ControlOutcome
from loopwright.judging.flaky import REPEATS, without
from loopwright.judging.process_state import confirmed
from loopwright.judging.proof_sentences import Ignored
from loopwright.judging.protected_verdict import with_changed_tests
from loopwright.judging.reports.model import LineMarks, TestResult
from loopwright.judging.runners.table import FALLBACKS
from loopwright.judging.same_tests import old_name
from loopwright.judging.verdict import (
    CommandResults,
    TreeResult,
    doubtful_tests,
    failing_each_time,
    names_a_file,
    passing_alone,
    rests_on_new_tests,
)
from loopwright.kernel.process import Cancellation
from loopwright.loop.altered_files import raising_files, unreached
from loopwright.loop.decisions import granted_scope
from loopwright.loop.model import Loop, Tree
from loopwright.loop.port import JudgedByChecks, RunSteps, TestProject
from loopwright.loop.ran_checks import RanCheck, RanChecks
from loopwright.loop.rewritten_files import RewrittenFiles
from loopwright.loop.split_work import SplitWork, control_trees, split_work
from loopwright.loop.test_runs import CHANGED_TESTS, WITHOUT_DOUBTFUL, can_select, reported, result_of_step
from loopwright.loop.work_verdict import WorkVerdict
from loopwright.loop.worker_sandbox import base_sandbox
from loopwright.runner.request import Finished
from loopwright.stages.agent_view import hidden_name
from loopwright.stages.building.altered_checks import AlteredCheck, AlteredChecks, JudgedTree, worst_of
from loopwright.stages.building.built_tree import BuiltTree
from loopwright.stages.building.checking import Hidden, failure_of, hidden_folder, run_checks, steps_of
from loopwright.stages.building.controls import (
    ControlBase,
    base_results,
    reporters_left_out,
    reporting,
)
from loopwright.stages.building.flaky_checks import FlakyChecks
from loopwright.stages.building.judged import (
    MOST_NAMES,
    JudgedChecks,
    JudgedWork,
    Verdicts,
    by_check,
    merged,
    recorded_checks,
    recorded_protected,
    recorded_tests,
    vacuous_tests,
    verdicts_of,
    with_changes,
    with_names,
)
from loopwright.stages.building.judging_runs import JudgingRuns
from loopwright.stages.context import Context, loops_of, workflows_of
from loopwright.workflow.model import Workflow
from loopwright.workflow.scope_of_plan import scope_of_slices
from loopwright.workflow.verification import RULES, Verification

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

    def judge(self, run: RunSteps, test_project: TestProject) -> JudgedByChecks:
        """A result for each check and for each test that the work broke; all of them are recorded first."""
        judged = self._judged(run, test_project)
        if judged.needs_doubtful:
            judged = self._judged(run, test_project, sign_doubtful=True)
        self._record(judged)
        tests = judged.tests
        broken = tests.broken[:MOST_NAMES] if tests is not None and not tests.accepts else ()
        results = self._check_results(judged)
        return JudgedByChecks(
            run_id=judged.checks.verified.evidence.run_id,
            results=(*results, *broken),
            checks=len(results),
            needs_protected=judged.passes_only_with,
            left_out=judged.left_out(frozenset(check.id for check in self._slices.checks if check.hidden)),
        )

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
        return replace(judged, altered=altered, tests=test_project(split, self._ran))

    def _plain_checks(self) -> tuple[RanCheck, ...]:
        """The checks that run as test commands of the project run. Their steps come before those of hidden checks."""
        without = reporters_left_out(self._workflow)
        return tuple(
            RanCheck(check.command, check.cwd, check.network, without.get(check.id, FALLBACKS))
            for check in self._slices.checks
            if not check.hidden
        )

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
        results, flaky = with_names(results, split), self._flaky_checks(base, split)

        def repeated(results: dict[str, CommandResults]) -> dict[str, CommandResults]:
            if flaky is None or split is None:
                return results
            tree = split.without_new_tests or split.verified
            return flaky.with_repeats(results, lambda: on(tree, _AGAIN, self._hidden).evidence)

        results = repeated(flaky.with_known(results) if flaky is not None else results)
        # Work that is refused without these runs needs them only if a person is to look at its protected changes.
        is_accepted = all(verdict.accepts for verdict in verdicts_of(results).values())
        if split is not None and (is_accepted or split.protected):
            results = repeated(self._with_new_tests(results, on, split, can_select=can_select(verified.evidence)))
        if flaky is not None:
            self._runs.count_again(flaky.run_ids_behind(results))
        if split is not None and split.signed:
            verdicts = with_changes(self._with_changed_tests(results, verified, on, split), verified, split)
            return self._with_doubts(JudgedChecks(verified=verified, verdicts=verdicts), split, base, results, on)
        judged = JudgedChecks(verified=verified, verdicts=verdicts_of(results))
        if split is None:
            return judged
        if split.protected:
            judged = self._with_protected(judged, split, results, on)
        return self._with_doubts(judged, split, base, results, on)

    def _with_protected(
        self, judged: JudgedChecks, split: SplitWork, results: dict[str, CommandResults], on: RunOnTree
    ) -> JudgedChecks:
        """The same with the verdicts on the work with its changes to protected files."""
        whole = on(split.whole, "with-protected-changes", self._hidden)
        shown = self._with_changed_tests(results, whole, on, split)
        on_base = merged(result.changed_on_base for result in shown.values())
        return replace(judged, whole=whole, with_protected=with_changes(shown, whole, split), changed_on_base=on_base)

    def _with_doubts(
        self,
        judged: JudgedChecks,
        split: SplitWork,
        base: Mapping[str, TreeResult],
        results: Mapping[str, CommandResults],
        on: RunOnTree,
    ) -> JudgedChecks:
        """The same with the tests that pass only with the doubtful changes, and what only the work changes."""
        finished, reduced, earlier = judged.verified, split.without_doubtful, split.without_new_tests or split.verified
        if judged.passes_only_with and judged.whole is not None:
            finished, reduced, earlier = judged.whole, split.whole_without_doubtful, split.whole
        if not judged.passes:
            return judged

        def run(tree: Tree, name: str) -> dict[str, TreeResult]:
            return by_check(on(tree, name, self._hidden), base)

        work = by_check(finished, base)
        runs = (work, {name: result.work for name, result in results.items()})
        judged = replace(judged, changed_state=confirmed(base, runs, lambda: run(earlier, _AGAIN)))
        if reduced is None:
            return judged
        tests = doubtful_tests(
            base,
            {name: without(result, results[name].flaky) for name, result in work.items()},
            lambda: run(reduced, WITHOUT_DOUBTFUL),
            lambda test: old_name(test, split.names),
            counts_silent=bool(split.same_tests),
        )
        return replace(judged, doubtful_tests=tests)

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
        refused = {name for name, verdict in verdicts_of(results).items() if not verdict.accepts}
        results = {
            name: replace(
                result,
                names_new_tests=any(names_a_file(commands[name], path) for path in split.new_tests),
                work=result.work if name in refused else result_of_step(earlier.evidence, name),
                new_on_base=result_of_step(on_base.evidence, name),
            )
            for name, result in results.items()
        }
        verdicts = verdicts_of(results)
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

    def _flaky_checks(self, base: Mapping[str, TreeResult], split: SplitWork | None) -> FlakyChecks | None:
        now = self._base()
        if now is None or split is None:
            return None
        return FlakyChecks(self._context, self._slug, self._slices.checks, now, base, split.names, self._cancellation)

    def _with_changed_tests(
        self, results: dict[str, CommandResults], finished: Finished, on: RunOnTree, split: SplitWork
    ) -> dict[str, CommandResults]:
        """The results with runs of the changed tests on the source of the base, if such a test is new by name."""
        tree, files = split.base_with_changed_tests, frozenset(file.path for file in split.test_files)
        if tree is None:
            return results
        whole = by_check(finished, results)
        return with_changed_tests(
            results,
            whole,
            files,
            lambda: by_check(on(tree, CHANGED_TESTS, self._hidden), results),
            is_signed=bool(split.signed),
        )

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
        judging = judged.with_protected if is_whole else judged.verdicts
        for name, verdict in judging.items():
            for tree, part in [(split.whole, verdict)] if is_whole else control_trees(split, verdict):
                by_tree.setdefault(tree.tree, (tree, {}))[1][name] = part
        for name in judged.proven_only_with:
            by_tree.setdefault(split.whole.tree, (split.whole, {}))[1][name] = judged.with_protected[name]
        resting = frozenset(name for name, verdict in judging.items() if verdict.rests_on_new_tests)
        outcomes: dict[str, list[AlteredCheck]] = {}
        for tree, verdicts in by_tree.values():
            of_tree = JudgedTree(
                tree=tree, progress=progress, verdicts=verdicts, evidence=ran.evidence, judges=judges, code=split.code,
                scope=split.scope, resting_on_new=resting & verdicts.keys(), new_tests=split.new_tests,
            )  # fmt: skip
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
            checks=recorded_checks(judged.verified, self._slices.checks, judged.verdicts, altered),
            judges=work.judges,
            immune=tuple(work.immune),
            immune_runs=work.immune,
            vacuous_tests=vacuous_tests(altered, self._slices.checks),
            ignoring_functions=_ignoring(altered, Ignored.FUNCTIONS),
            ignoring_programs=_ignoring(altered, Ignored.PROGRAMS),
            silenced=tuple(name for name, check in altered.items() if check.outcome is ControlOutcome.SILENCED),
            moved={name: check.moved for name, check in altered.items() if check.moved},
            unaltered=tuple(name for name, check in altered.items() if check.outcome is ControlOutcome.UNALTERED),
            tests=recorded_tests(tests, with_protected=False) if tests is not None else None,
            protected=recorded_protected(work, self._slices.checks),
            flaky=work.flaky(frozenset(check.id for check in self._slices.checks if check.hidden)),
            flags=work.flags,
            changed_state=work.changed_state,
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
                altered = work.altered.get(check.id)
                because = altered.why_it_passes(check.id) if altered is not None and altered.proves_nothing else ""
                message = "" if passed else failure_of(judged.verified, piece.behavior, check, verdict, because)
                duration_ms = round(1000 * step.duration_s, 1) if step is not None else 0
                # Agents read these names.
                name = hidden_name(piece.checks.index(check) + 1) if check.hidden else check.id
                results.append(TestResult(name, piece.id, "passed" if passed else "failed", duration_ms, message))
        return tuple(results)


def _ignoring(altered: Mapping[str, AlteredCheck], ignored: Ignored) -> tuple[str, ...]:
    """The checks that do not depend on this."""
    return tuple(name for name, check in altered.items() if check.controlled.ignores is ignored)
