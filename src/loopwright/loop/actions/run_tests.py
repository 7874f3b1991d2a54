"""Runs the test command on the work of a loop, and on the tree that the loop started from. Reads the reports."""

from __future__ import annotations

from pathlib import Path

import msgspec

from loopwright.evidence.known_results import beside_key, key_on_tree, known_runs, ran_beside, recall, repeated_key
from loopwright.evidence.model import Evidence, StepRecord
from loopwright.evidence.store import RunOrigin
from loopwright.judging.flaky import REPEATS
from loopwright.judging.globs import matches
from loopwright.judging.runners.table import FALLBACKS
from loopwright.judging.runners.trials import choose
from loopwright.judging.scope import WorkScope
from loopwright.kernel import codec
from loopwright.kernel.clock import stamp
from loopwright.kernel.digest import digest_of
from loopwright.loop import events as e
from loopwright.loop.actions.failing import HeldBack
from loopwright.loop.budget import hold_after, left_for_a_turn
from loopwright.loop.inverted_tests import longest_s
from loopwright.loop.model import Hold, Loop, Spent, Tree
from loopwright.loop.ran_checks import RanChecks
from loopwright.loop.test_runs import TestRun, report_of, with_silent_commands
from loopwright.loop.worker_context import WORKER, WorkerContext
from loopwright.loop.worker_sandbox import base_sandbox, with_work
from loopwright.runner.events import Emitter, ignore
from loopwright.runner.request import Finished, Observer, RunRequest
from loopwright.runner.result_key import JudgingCommand, dependencies_of
from loopwright.runner.run_plan import SETUP_STEP, run_plan
from loopwright.runner.test_reports import RunReports
from loopwright.sandbox.port import SandboxRequest
from loopwright.workspace.settings_model import TestCommand

_STEP = "tests"
_TESTS_FAILED = "STEP_FAILED"
_MOST_OUTPUT = 1500
_SHORT_MS = 60_000


class MoreOfRun(msgspec.Struct, frozen=True, kw_only=True):
    """What is known before a run of tests: what its results depend on, or the run that it is compared with.

    `only` are the test files that matter: runners that know how leave the others out.
    """

    depends_on: str = ""
    base_run: str | None = None
    scope: WorkScope | None = None
    # What was altered for the run, if it is a control.
    control: str = ""
    only: tuple[str, ...] = ()


_NOTHING_KNOWN = MoreOfRun()


class CommandRuns(msgspec.Struct, frozen=True, kw_only=True):
    """How the test commands run on each tree that is compared with the base."""

    loop: Loop
    context: WorkerContext
    commands: tuple[TestCommand, ...]
    without: frozenset[str]
    more: MoreOfRun
    can_select: bool
    # The whole work: it knows the base.
    whole: Tree

    def run_altered(
        self,
        tree: Tree | None,
        control: str,
        observer: Observer,
        *,
        before_s: float,
        only: tuple[str, ...] = (),
        commands: tuple[TestCommand, ...] | None = None,
    ) -> TestRun:
        """Run the commands on a tree with something altered; None is the base.

        On the base an earlier run of all commands counts, too.
        """
        runs = self if commands is None else msgspec.structs.replace(self, commands=commands)
        only = only if self.can_select else ()
        more = msgspec.structs.replace(self.more, control=control, only=only)
        request, progress = self.context.request(), self.context.progress(self.loop)
        if tree is not None:
            return runs.run(with_work(request, tree, progress), more, observer, before_s)
        sandbox = base_sandbox(request, self.whole, progress)
        run = runs.on_base if commands is None else runs.run
        return run(sandbox, more, observer, before_s)

    def on_base(self, sandbox: SandboxRequest, more: MoreOfRun, observer: Observer, before_s: float) -> TestRun:
        """Run the commands on the loop's base; an earlier run counts if one is known."""
        context = self.context
        usual = _dependencies(context, sandbox, self.commands, self.without)
        depends_on = digest_of([usual, more.control, *more.only])
        known = _recalled(self.loop, context, depends_on, self.whole, len(self.commands), self.without)
        run = known or self.run(sandbox, msgspec.structs.replace(more, depends_on=depends_on), observer, before_s)
        if all(map(run.reports_on, more.only)):
            return run
        # Perhaps the command does not let a file run by itself.
        return self.on_base(sandbox, msgspec.structs.replace(more, only=()), observer, before_s)

    def run(self, sandbox: SandboxRequest, more: MoreOfRun, observer: Observer, before_s: float) -> TestRun:
        """Run the commands in this sandbox."""
        return run_tests(
            self.loop, self.context, sandbox, self.commands, more.control, self.without,
            inside=observer, longest_s=longest_s(before_s), more=more,
        )  # fmt: skip


def run_tests(
    loop: Loop,
    context: WorkerContext,
    sandbox: SandboxRequest,
    commands: tuple[TestCommand, ...],
    name: str,
    without: frozenset[str] = FALLBACKS,
    *,
    inside: Observer | None = None,
    longest_s: float | None = None,
    more: MoreOfRun = _NOTHING_KNOWN,
) -> TestRun:
    """Run the test commands in this sandbox. `without` are reporters to leave out: the base can't stand them."""
    settings = context.settings
    reports = RunReports(settings.reports, settings.coverage, context.tools().redactor, without, inside, more.only)
    plan = _plan(loop, context, commands, longest_s)
    finished = run_judges(loop, context, sandbox, plan, f"{loop.loop_id}-{name}", reports, more)
    return _test_run(finished.evidence, finished.folder, without, reports)


def same_tests(
    ran: RanChecks, tree: Tree, only: tuple[str, ...], commands: tuple[TestCommand, ...], without: frozenset[str]
) -> TestRun | None:
    """The run of a plan's checks on this tree, if the checks began with the same commands."""
    finished = ran.take(tree.tree, only, commands, without)
    if finished is None:
        return None
    evidence = finished.evidence
    steps = [msgspec.structs.replace(step, id=_step_id(number)) for number, step in enumerate(evidence.steps, start=1)]
    return _test_run(msgspec.structs.replace(evidence, steps=steps), finished.folder, without, None)


def _test_run(evidence: Evidence, folder: Path, without: frozenset[str], reports: RunReports | None) -> TestRun:
    """A run of the test commands; without its reports only the names and results that its evidence holds."""
    steps = [step for step in evidence.steps if step.id.startswith(_STEP)]
    report = with_silent_commands(reports.report if reports is not None else report_of(steps), steps)
    return TestRun(
        run_id=evidence.run_id,
        exited_with_0=bool(steps) and all(step.outcome == "passed" for step in steps),
        exit_codes=tuple(command.exit_code for step in steps for command in step.commands),
        ran_no_test=bool(steps) and all(step.ran_no_test for step in steps),
        ended=bool(steps) and all(step.came_to_its_end for step in steps),
        timed_out=any(step.timed_out for step in steps),
        results=report.results,
        gaps=report.gaps,
        runners=report.runners,
        state=report.state,
        without=tuple(sorted(without)),
        ran_beside=ran_beside(evidence.result_key),
        coverage=reports.coverage if reports is not None else None,
        lines=reports.lines if reports is not None else None,
        duration_ms=round(1000 * sum(step.duration_s for step in steps), 1),
        message=evidence.message.text,
        output=_end_of_output(steps, folder),
    )


def commands_for(context: WorkerContext, files: tuple[str, ...]) -> tuple[TestCommand, ...]:
    """The test commands of the project that judge a change of these files; `HeldBack` if none is set."""
    commands = context.project.test_commands
    if context.project.has_no_tests:
        # The rules are those of a command that says nothing: a person accepts the work.
        return (TestCommand("true"),)
    if not commands:
        raise HeldBack(context.blocked("no_test_command", "project.test_command is not set: nothing checks the work"))
    concerned = tuple(
        command for command in commands if not command.when or any(matches(file, tuple(command.when)) for file in files)
    )
    # A file that no pattern names may matter to every command.
    named = tuple(pattern for command in commands for pattern in command.when)
    return concerned if concerned and all(matches(file, named) for file in files) else commands


def run_judges(
    loop: Loop,
    context: WorkerContext,
    sandbox: SandboxRequest,
    plan: bytes,
    run_id: str,
    observer: Observer | None,
    more: MoreOfRun = _NOTHING_KNOWN,
) -> Finished:
    """Run a plan that judges the work. Its time counts as work. `HeldBack` if the run says nothing about the work."""
    request = RunRequest(
        plan_name=f"the tests of {loop.loop_id}",
        plan=plan,
        sandbox_options=context.options(sandbox),
        environment=context.environment,
        origin=RunOrigin(loop_id=loop.loop_id, workflow=loop.workflow, base_run=more.base_run),
        run_id=run_id,
        observer=observer,
        results_depend_on=more.depends_on,
        scope=more.scope,
        control=more.control,
    )
    finished = run_plan(request, context.tools(), Emitter(ignore), context.cancellation)
    used_up = _count(loop, context, finished)
    context.cancellation.raise_if_requested()
    if used_up is not None:
        raise HeldBack(used_up)
    _require_that_it_ran(finished, context)
    return finished


def _require_that_it_ran(finished: Finished, context: WorkerContext) -> None:
    """Failed tests say something about the work. A run that was refused or that leaked a secret does not count."""
    failure = finished.failure
    prepared = next((step for step in finished.evidence.steps if step.id == SETUP_STEP), None)
    if prepared is not None and prepared.outcome != "passed":
        code, why = "setup_failed", f"sandbox.setup failed: {prepared.reason.text}"
    elif failure is None or failure.code == _TESTS_FAILED:
        return
    else:
        code, why = failure.code.lower(), f"{failure.code}: {failure.message.text}"
    said = f"the test run {finished.evidence.run_id} does not count: {why}"
    raise HeldBack(context.blocked(code, said))


def _count(loop: Loop, context: WorkerContext, finished: Finished) -> Hold | None:
    """Count the tests' time as work, also if they were interrupted.

    Tests that ended because the time budget is used up say nothing: then return the hold for that.
    """
    with context.store.changing(loop.loop_id) as opened:
        left_s = left_for_a_turn(opened.loop, "wall_s")
        ended = any(command.ending == "timed_out" for step in finished.evidence.steps for command in step.commands)
        is_over = ended and left_s is not None and left_s < context.timeout_s
        worked_s = sum(step.duration_s for step in finished.evidence.steps)
        spent = Spent(wall_s=round(max(worked_s, left_s or 0.0) if is_over else worked_s, 3))
        after = opened.apply(e.CostCounted(spent=spent), WORKER)
    return hold_after(after, "wall_s", stamp(context.clock())) if is_over else None


def _plan(loop: Loop, context: WorkerContext, commands: tuple[TestCommand, ...], longest_s: float | None) -> bytes:
    limit_s = _timeout_s(loop, context)
    steps = [
        {
            "id": _step_id(number),
            "action": "run the project's tests",
            "commands": [command.command],
            **({"cwd": command.cwd} if command.cwd else {}),
            **({"network": True} if command.network else {}),
            "timeout_s": limit_s if longest_s is None else min(limit_s, longest_s),
        }
        for number, command in enumerate(commands, start=1)
    ]
    return codec.to_yaml({"new_plan": {"unified_goal": f"the tests of {loop.title}", "steps": steps}})


def _timeout_s(loop: Loop, context: WorkerContext) -> float:
    """The timeout of the settings, but no more than the time budget leaves."""
    if left_for_a_turn(loop, "wall_s") is None:
        return context.timeout_s
    left_s = left_for_a_turn(context.store.load(loop.loop_id), "wall_s") or 0.0
    # A plan takes no more than three decimal places.
    return max(0.1, round(min(context.timeout_s, left_s), 3))


def _end_of_output(steps: list[StepRecord], folder: Path) -> str:
    """The end of the last log of the test commands. The steps stop at the first failure."""
    logs = [folder / str(command.log) for step in steps for command in step.commands if command.log]
    return logs[-1].read_bytes()[-_MOST_OUTPUT:].decode("utf-8", "replace").strip() if logs else ""


def tests_on_base(
    loop: Loop,
    context: WorkerContext,
    tree: Tree,
    commands: tuple[TestCommand, ...],
    *,
    runs_again: bool,
    is_beside: bool,
) -> TestRun:
    """The result of the test commands on the loop's base, from an earlier run if one is known.

    `is_beside` says that the work runs at the same time.
    """
    sandbox, name = base_sandbox(context.request(), tree, context.progress(loop)), "base-tests"
    run = settled_run(loop, context, sandbox, commands, name, None if runs_again else tree, is_beside=is_beside)
    if not run.ended and run.duration_ms < _SHORT_MS:
        # A signal may have ended the tests by chance. A base without a result would hold the loop.
        run = settled_run(loop, context, sandbox, commands, name, tree, is_beside=is_beside)
    return run


def known_tests_on_base(
    loop: Loop, context: WorkerContext, tree: Tree, commands: tuple[TestCommand, ...]
) -> TestRun | None:
    """An earlier run on the loop's base, if one counts."""
    sandbox = base_sandbox(context.request(), tree, context.progress(loop))
    depends_on = _dependencies(context, sandbox, commands, FALLBACKS)
    return _recalled(loop, context, depends_on, tree, len(commands), FALLBACKS)


def all_tests_on_base(
    loop: Loop, context: WorkerContext, tree: Tree, commands: tuple[TestCommand, ...], base: TestRun
) -> tuple[TestRun, ...]:
    """All runs on the loop's base that count, of any loop: that one, and those that the journal knows."""
    sandbox, without = base_sandbox(context.request(), tree, context.progress(loop)), frozenset(base.without)
    store, steps = context.tools().store, _step_ids(len(commands))
    key = key_on_tree(_dependencies(context, sandbox, commands, without), tree.commit, tree.base_tree)
    known = [_known_run(loop, context, one, without) for one in known_runs(store, (key,), context.clock(), steps)]
    # What a key can't see: for example, the set-up installed another version of the runner.
    alike = (run for run in known if set(run.runners) == set(base.runners) and run.run_id != base.run_id)
    return (base, *alike)


def tests_on_base_again(
    loop: Loop,
    context: WorkerContext,
    tree: Tree,
    commands: tuple[TestCommand, ...],
    before: TestRun,
    only: tuple[str, ...],
    *,
    is_beside: bool,
) -> tuple[TestRun, ...]:
    """Two more runs on the loop's base, as the run before: a test with another result is flaky.

    `only` are the test files that matter; empty: all. `is_beside` says that the work may run at the same time.
    """
    sandbox = base_sandbox(context.request(), tree, context.progress(loop))
    without = frozenset(before.without)
    usual = _dependencies(context, sandbox, commands, without)
    runs = []
    for number in range(REPEATS):
        # A run of all files tells more than a run of some, and the checks of a build may have left one.
        of_all, of_files = repeated_key(usual, number), repeated_key(usual, number, only)
        keys = dict.fromkeys((of_all, of_files, *((beside_key(of_all), beside_key(of_files)) if is_beside else ())))
        known = (_recalled(loop, context, key, tree, len(commands), without) for key in keys)
        more = MoreOfRun(depends_on=beside_key(of_files) if is_beside else of_files, only=only)
        recalled = next(filter(None, known), None)
        runs.append(recalled or run_tests(loop, context, sandbox, commands, "base-tests-again", without, more=more))
        if not all(map(runs[-1].reports_on, only)):
            return tests_on_base_again(loop, context, tree, commands, before, (), is_beside=is_beside)
    return tuple(runs)


def settled_run(
    loop: Loop,
    context: WorkerContext,
    sandbox: SandboxRequest,
    commands: tuple[TestCommand, ...],
    name: str,
    base: Tree | None = None,
    *,
    is_beside: bool = False,
) -> TestRun:
    """Run the tests on a base with all reporters that the commands can stand. Most commands need one run.

    An earlier run with the same result key counts in place of a new one, if the tree of the base is given.
    """
    runs: list[TestRun] = []
    while True:
        choice = choose([run.as_trial() for run in runs])
        if choice.is_settled:
            return next(run for run in runs if frozenset(run.without) == choice.without)
        depends_on = _dependencies(context, sandbox, commands, choice.without)
        known = _recalled(loop, context, depends_on, base, len(commands), choice.without) if base is not None else None
        more = MoreOfRun(depends_on=beside_key(depends_on) if is_beside else depends_on)
        runs.append(known or run_tests(loop, context, sandbox, commands, name, choice.without, more=more))


def _dependencies(
    context: WorkerContext, sandbox: SandboxRequest, commands: tuple[TestCommand, ...], without: frozenset[str]
) -> str:
    settings = context.settings
    judging = [
        JudgingCommand(command=one.command, cwd=one.cwd, network=one.network, without=without) for one in commands
    ]
    options = context.options(sandbox)
    return dependencies_of(judging, options, context.environment, (settings.reports, settings.coverage))


def _recalled(
    loop: Loop, context: WorkerContext, depends_on: str, base: Tree, steps: int, without: frozenset[str]
) -> TestRun | None:
    store = context.tools().store
    key = key_on_tree(depends_on, base.commit, base.base_tree)
    evidence = recall(store, (key,), context.clock(), _step_ids(steps))
    return _known_run(loop, context, evidence, without) if evidence is not None else None


def _known_run(loop: Loop, context: WorkerContext, evidence: Evidence, without: frozenset[str]) -> TestRun:
    run = _test_run(evidence, context.tools().store.folder(evidence.run_id), without, None)
    return msgspec.structs.replace(run, is_of_other_work=evidence.loop_id != loop.loop_id)


def _step_ids(count: int) -> tuple[str, ...]:
    return tuple(map(_step_id, range(1, count + 1)))


def is_project_step(step_id: str) -> bool:
    """Whether a step of a run is a command of the project's own tests."""
    return step_id == _STEP or step_id.removeprefix(f"{_STEP}-").isdecimal()


def _step_id(number: int) -> str:
    return _STEP if number == 1 else f"{_STEP}-{number}"
