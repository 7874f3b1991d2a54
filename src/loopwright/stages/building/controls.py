"""Runs the checks of a plan on the base. A check that passes there proves nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from loopwright.evidence.known_results import key_on_tree, known_runs, recall, repeated_key
from loopwright.evidence.model import Evidence
from loopwright.judging.flaky import REPEATS
from loopwright.judging.runners.trials import Trial, choose
from loopwright.judging.verdict import FAILED, TreeResult
from loopwright.kernel.process import Cancellation
from loopwright.loop.test_runs import result_of_step
from loopwright.runner.request import Finished, Observer
from loopwright.runner.result_key import JudgingCommand, dependencies_of
from loopwright.runner.test_reports import RunReports
from loopwright.sandbox.model import RecordedRequest
from loopwright.sandbox.open import project_tree
from loopwright.sandbox.port import SandboxRequest
from loopwright.stages.building.checking import Hidden, check_runs, end_of_output, hidden_folder, run_checks
from loopwright.stages.context import Context, Tell, ignore_progress, workflows_of
from loopwright.wording.catalogue import few
from loopwright.workflow import events as e
from loopwright.workflow.model import Control, Workflow
from loopwright.workflow.slices import Check
from loopwright.workflow.store import Snapshot

_MOST_OUTPUT = 1500
# What pytest, unittest, jest, mocha, vitest and go say if they find no test.
_NO_TEST = re.compile(
    r"no tests ran|file or directory not found|no tests? (?:files )?found|ran 0 tests|no test files"
    r"|no tests to run|0 passing|^[= ]*\d+ deselected in",
    re.IGNORECASE | re.MULTILINE,
)
# A run on the base, and the reporters that each check went without.
Settled = tuple[Finished, dict[str, frozenset[str]]]


def control_on_base(context: Context, snapshot: Snapshot, tell: Tell, cancellation: Cancellation) -> str:
    """Run the checks that did not run on the current project, and record them; return the tree, if there are checks."""
    tree, controls = run_on_base(context, snapshot, tell, cancellation)
    if controls:
        with workflows_of(context).changing(snapshot.workflow.slug) as opened:
            opened.apply(e.ChecksControlled(controls=controls), "tool")
    return tree


def run_on_base(
    context: Context, snapshot: Snapshot, tell: Tell, cancellation: Cancellation
) -> tuple[str, dict[str, Control]]:
    """Run the checks of a plan on the project as it is now, unless their results are known. Records nothing.

    Returns the tree of the project, and what must be recorded; empty if there is no check, or nothing new.
    """
    slug, slices, known = snapshot.workflow.slug, snapshot.facts.readable_slices, snapshot.workflow.controls
    if not slices.checks:
        return "", {}
    now = context.sandbox_request()
    # Uncommitted changes are part of the tree.
    tree = project_tree(now, f"{slug}-base", cancellation)
    repository = context.repository()
    head = repository.head if repository is not None else None
    base = ControlBase(now, head.commit if head is not None else None, tree)
    controls = _controls(ChecksOnBase(context, slug, slices.checks, base, cancellation, tell).settle(), slices.checks)
    if silent := tuple(name for name, control in controls.items() if control.finds_no_test):
        tell(f"these checks fail on the base only because they find no test there: {few(silent)}")
    is_known = all(known.get(check.id) == controls[check.id] for check in slices.checks)
    return tree, {} if is_known else controls


def _controls(settled: Settled, checks: tuple[Check, ...]) -> dict[str, Control]:
    finished, without = settled
    known = {check.id: check for check in checks}
    return {
        name: Control(
            digest=run.digest,
            tree=run.tree,
            passed=run.passed,
            run_id=run.run_id,
            without=tuple(sorted(without[name])),
            finds_no_test=not run.passed and _finds_no_test(finished, known[name]),
        )
        for name, run in check_runs(finished, checks).items()
    }


def _finds_no_test(finished: Finished, check: Check) -> bool:
    """Whether the output says that a test runner found no test, or not the file that the check names."""
    has_tests = result_of_step(finished.evidence, check.id).tests
    return not has_tests and bool(_NO_TEST.search(end_of_output(finished, check, _MOST_OUTPUT)))


class ControlBase(msgspec.Struct, frozen=True):
    """A sandbox of the base, and the commit and the tree that it will have."""

    sandbox: SandboxRequest
    commit: str | None
    tree: str


class ChecksOnBase:
    """Runs checks on the base, each with all reporters that it can stand. Results of earlier runs count."""

    def __init__(
        self,
        context: Context,
        slug: str,
        checks: tuple[Check, ...],
        base: ControlBase,
        cancellation: Cancellation,
        tell: Tell = ignore_progress,
    ) -> None:
        self._context = context
        self._slug = slug
        self._checks = checks
        self._base = base
        self._cancellation = cancellation
        self._tell = tell
        self._hidden = Hidden(hidden_folder(context, slug), checks)

    def settle(self) -> Settled:
        """The run that counts. Most plans need one or two runs."""
        runs: list[Settled] = []
        while True:
            choices = {check.id: choose([_trial(check, *run) for run in runs]) for check in self._checks}
            without = {name: choice.without for name, choice in choices.items()}
            settled = next((run for run in runs if run[1] == without), None)
            if settled is not None:
                return settled
            runs.append((self._recalled_or_run(without), without))

    def again(self, without: dict[str, frozenset[str]]) -> tuple[Finished, ...]:
        """Two more runs, as the run that counts: a test with another result is flaky."""
        return tuple(self._recalled_or_run(without, again=number) for number in range(REPEATS))

    def _recalled_or_run(self, without: dict[str, frozenset[str]], again: int | None = None) -> Finished:
        context, checks, base = self._context, self._checks, self._base
        depends_on = self._dependencies(without)
        if again is not None:
            depends_on = repeated_key(depends_on, again)
        store = context.store
        known = recall(store, self._keys(depends_on), context.clock(), tuple(check.id for check in checks))
        if known is not None:
            return Finished(known, store.folder(known.run_id), None, None)
        self._tell(f"checks to run on the base: {len(checks)}; what passes there proves nothing")
        name = "control" if again is None else "control-again"
        return run_checks(
            context, self._slug, checks, name=name, sandbox=base.sandbox, cancellation=self._cancellation,
            observer=_reports(context, self._hidden, without), depends_on=depends_on,
        )  # fmt: skip

    def known(self, without: dict[str, frozenset[str]]) -> tuple[Evidence, ...]:
        """All runs of these checks on this base that count, newest first."""
        context, ids = self._context, tuple(check.id for check in self._checks)
        return known_runs(context.store, self._keys(self._dependencies(without)), context.clock(), ids)

    def _keys(self, depends_on: str) -> tuple[str, ...]:
        base = self._base
        exact = (True,) if isinstance(base.sandbox, RecordedRequest) else (True, False)
        return tuple(key_on_tree(depends_on, base.commit, base.tree, is_exact=is_exact) for is_exact in exact)

    def _dependencies(self, without: dict[str, frozenset[str]]) -> str:
        context = self._context
        settings = context.settings.values.loop
        commands = [
            JudgingCommand(command=check.command, cwd=check.cwd, network=check.network, without=without[check.id])
            for check in self._checks
        ]
        options = context.sandbox_options_for(self._base.sandbox)
        reporting = (settings.reports, settings.coverage)
        return dependencies_of(commands, options, context.step_environment(), reporting, self._hidden.digests())


def _trial(check: Check, finished: Finished, without: Mapping[str, frozenset[str]]) -> Trial:
    result = result_of_step(finished.evidence, check.id)
    step = next((step for step in finished.evidence.steps if step.id == check.id), None)
    return Trial(
        without=without[check.id],
        exited_with_0=result.exited_with_0,
        has_report=bool(result.tests or (step is not None and step.runners)),
        has_failures=FAILED in result.tests.values(),
        output=end_of_output(finished, check, _MOST_OUTPUT),
    )


def _reports(
    context: Context, inside: Observer, without: Mapping[str, frozenset[str]], only: tuple[str, ...] = ()
) -> RunReports:
    settings = context.settings.values.loop
    return RunReports(settings.reports, settings.coverage, context.tools().redactor, without, inside, only)


def reporting(context: Context, workflow: Workflow, inside: Observer, only: tuple[str, ...] = ()) -> RunReports:
    """Reads the results per test of a run of checks, with the reporters that each check can stand on the base.

    `only` are the test files that matter: runners that know how leave the others out.
    """
    return _reports(context, inside, reporters_left_out(workflow), only)


def reporters_left_out(workflow: Workflow) -> dict[str, frozenset[str]]:
    """The reporters that each check can't stand on the base, where that is known."""
    return {
        name: frozenset(control.without) for name, control in workflow.controls.items() if control.without is not None
    }


def base_results(
    context: Context, workflow: Workflow, checks: tuple[Check, ...], base: ControlBase, cancellation: Cancellation
) -> dict[str, TreeResult]:
    """What each check says on the base of the work. Checks run again if their results do not count any more."""
    if not checks:
        return {}
    settled = ChecksOnBase(context, workflow.slug, checks, base, cancellation).settle()
    controls = _controls(settled, checks)
    if any(workflow.controls.get(name) != control for name, control in controls.items()):
        with workflows_of(context).changing(workflow.slug) as opened:
            opened.apply(e.ChecksControlled(controls=controls), "tool")
    return {check.id: result_of_step(settled[0].evidence, check.id) for check in checks}
