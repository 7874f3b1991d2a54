"""Judges the work of a build by the checks of its plan. The result is in the journal before the loop gets it."""

from __future__ import annotations

from loopwright.errors import Interrupted
from loopwright.kernel.process import Cancellation
from loopwright.loop.model import Loop
from loopwright.loop.port import CompareTests
from loopwright.loop.reports.model import TestResult
from loopwright.loop.test_runs import Comparison, name_of
from loopwright.runner.request import Finished
from loopwright.stages.building.built_tree import BuiltTree
from loopwright.stages.building.checking import Hidden, check_runs, end_of_output, hidden_folder, steps_of
from loopwright.stages.building.controls import control, own_files, work_of
from loopwright.stages.building.lanes import BuildLanes
from loopwright.stages.context import Context, workflows_of
from loopwright.workflow.gather import find_judges
from loopwright.workflow.slices import Check
from loopwright.workflow.verification import CheckRun, ProjectTests, Verification

_MOST_OUTPUT = 1500
_MOST_NAMES = 50
_NOTHING_TO_RUN: dict[str, object] = {"id": "no-checks", "action": "a person signs", "commands": ["true"]}


class CheckJudging:
    """One validation by all checks of all slices, as the plan has them when the validation begins."""

    def __init__(self, context: Context, slug: str, loop: Loop, lanes: BuildLanes, cancellation: Cancellation) -> None:
        snapshot = workflows_of(context).snapshot(slug)
        self._context = context
        self._slug = slug
        self._loop = loop
        self._lanes = lanes
        self._cancellation = cancellation
        self._slices = snapshot.facts.readable_slices
        self._hidden = Hidden(hidden_folder(context, slug), self._slices.checks)
        self._seals = snapshot.workflow.seals
        judges = find_judges(context.layout.root, self._slices, snapshot.facts.gates)
        self.observer = BuiltTree(judges, self._seals, self._hidden, own_files(context, loop))
        self.steps = tuple(steps_of(self._slices.checks)) or (_NOTHING_TO_RUN,)

    def results(self, finished: Finished, compare_tests: CompareTests) -> tuple[TestResult, ...]:
        """A result for each check and for each test that the work broke; all of them are recorded first."""
        runs = check_runs(finished, self._slices.checks)
        immune, steering = self._control(runs)
        # The project's tests run if the checks pass, even if a control failed: a person may accept that.
        tests = compare_tests() if all(run.passed for run in runs.values()) else None
        self._record(finished, runs, immune, steering, tests)
        broken = tests.broken[:_MOST_NAMES] if tests is not None else ()
        return (*self._check_results(finished, runs, immune), *broken)

    def _control(self, runs: dict[str, CheckRun]) -> tuple[tuple[str, ...], dict[str, str]]:
        """Find out whether checks that passed could have failed. Done only if all of them passed."""
        if self._loop.tree is None or not runs or not all(run.passed for run in runs.values()):
            return (), {}
        sealed = (*self._seals, *self._hidden.names())
        work = work_of(self._context, self._loop)
        checks = self._slices.checks
        try:
            return control(self._context, self._slug, checks, work, self.observer, sealed, self._cancellation)
        except Interrupted:
            # A stopped loop continues with the same action later.
            self._cancellation.raise_if_requested()
            raise

    def _record(
        self,
        finished: Finished,
        runs: dict[str, CheckRun],
        immune: tuple[str, ...],
        steering: dict[str, str],
        tests: Comparison | None,
    ) -> None:
        tree, base = self._loop.tree, finished.evidence.base
        verification = Verification(
            iteration=0,  # `record_checks` counts
            tree=base.tree if base is not None else "",
            patch_sha256=tree.patch_sha256 if tree is not None else "",
            files=self.observer.files,
            checks=runs,
            judges=self.observer.judges | steering,
            immune=immune,
            tests=_recorded(tests) if tests is not None else None,
        )
        is_broken = tests is not None and bool(tests.broken)
        passed = all(run.passed for run in runs.values()) and not immune and not is_broken
        self._lanes.record_checks(self._loop, verification, passed=passed)

    def _check_results(
        self, finished: Finished, runs: dict[str, CheckRun], immune: tuple[str, ...]
    ) -> tuple[TestResult, ...]:
        if not self._slices.checks:
            return (TestResult("no check", "a person signs", "passed"),)
        steps = {step.id: step for step in finished.evidence.steps}
        results = []
        for piece in self._slices.slices:
            for check in piece.checks:
                step = steps.get(check.id)
                is_immune = check.id in immune
                passed = runs[check.id].passed and not is_immune
                message = "" if passed else _failure(finished, piece.behavior, check, is_immune=is_immune)
                duration_ms = round(1000 * step.duration_s, 1) if step is not None else 0
                results.append(TestResult(check.id, piece.id, "passed" if passed else "failed", duration_ms, message))
        return tuple(results)


def _failure(finished: Finished, behavior: str, check: Check, *, is_immune: bool) -> str:
    """The end of a check's output; for a hidden check only the behaviour that it tests."""
    if is_immune:
        return f"{check.id} passes also when its own tests are made to fail: the work keeps it from failing"
    if check.hidden:
        return f"a check that you are not shown fails: {behavior}"
    return f"`{check.command}` failed: {end_of_output(finished, check, _MOST_OUTPUT)}"


def _recorded(tests: Comparison) -> ProjectTests:
    return ProjectTests(
        base_run_id=tests.base.run_id,
        run_id=tests.work.run_id,
        decides=tests.decides,
        broken=len(tests.broken),
        names=tuple(name_of(test) for test in tests.broken[:_MOST_NAMES]),
    )
