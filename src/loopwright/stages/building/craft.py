"""The craft of a build: slices are the tasks, their checks the judges, and what they say goes into the journal."""

from __future__ import annotations

from pathlib import Path

import msgspec

from loopwright.agents.mailbox import CONTEXT, Checks, ShownCheck, write_checks, write_file
from loopwright.agents.port import NoAnswer
from loopwright.errors import Interrupted
from loopwright.evidence.model import StepRecord
from loopwright.kernel.process import Cancellation
from loopwright.loop.craft import CompareTests, Judging, Look
from loopwright.loop.model import DESLOP, LOOK, Hold, Loop, Task, Validation
from loopwright.loop.own_work import own_work
from loopwright.loop.reports.model import TestResult
from loopwright.loop.test_runs import Comparison, name_of
from loopwright.loop.work_files import patch_path
from loopwright.runner.request import Finished
from loopwright.stages.building.built_tree import BuiltTree
from loopwright.stages.building.checking import Hidden, check_runs, hidden_folder, steps_of
from loopwright.stages.building.controls import Controls, control, own_files, work_of
from loopwright.stages.building.gate import BuildGate
from loopwright.stages.building.lanes import PATCH, Lanes
from loopwright.stages.context import Context
from loopwright.stages.stores import loops_of, workflows_of
from loopwright.workflow import manifest
from loopwright.workflow.facts import Facts
from loopwright.workflow.gather import MANIFEST, find_judges
from loopwright.workflow.seal import Judges
from loopwright.workflow.slices import Check, Slices
from loopwright.workflow.verification import CheckRun, ProjectTests, Verification

_MOST_SAID = 1500
_MOST_NAMES = 50
_NOTHING_TO_RUN: dict[str, object] = {"id": "no-checks", "action": "a person signs", "commands": ["true"]}


class SliceCraft:
    """Asks the plan that was approved, never the agent."""

    def __init__(self, context: Context, slug: str, cancellation: Cancellation) -> None:
        self._context = context
        self._slug = slug
        self._cancellation = cancellation
        self._seen = BuiltTree(Judges(()), {}, None)
        self._lanes = Lanes(context, slug)
        self._gate = BuildGate(context, slug)

    def judging(self, loop: Loop) -> Judging | None:
        """Every check of every slice."""
        facts, seals = self._facts()
        slices = self._slices(facts)
        judges = find_judges(self._context.layout.root, slices, facts.gates)
        self._seen = BuiltTree(judges, seals, self._hidden(slices.checks), own_files(self._context, loop))
        return Judging(tuple(steps_of(slices.checks)) or (_NOTHING_TO_RUN,), self._seen)

    def results(self, loop: Loop, finished: Finished, compare_tests: CompareTests) -> tuple[TestResult, ...]:
        """Each check is a result, and each test that the work broke; they are on record before they are told."""
        slices = self._slices(self._facts()[0])
        runs = check_runs(finished.evidence, slices.checks)
        controls = self._controlled(loop, slices, runs)
        # The rest of the project is looked at when the checks pass; also where a control objects, which can be signed.
        tests = compare_tests() if all(run.passed for run in runs.values()) else None
        self._record(loop, finished, runs, controls, tests)
        broken = tests.broken[:_MOST_NAMES] if tests is not None else ()
        return (*self._of_checks(finished, slices, runs, controls), *broken)

    def _of_checks(
        self, finished: Finished, slices: Slices, runs: dict[str, CheckRun], controls: Controls
    ) -> tuple[TestResult, ...]:
        if not slices.checks:
            return (TestResult("no check", "a person signs", "passed"),)
        steps = {step.id: step for step in finished.evidence.steps}
        return tuple(
            TestResult(
                check.id,
                one.id,
                "passed" if runs[check.id].passed and check.id not in controls.immune else "failed",
                round(1000 * steps[check.id].duration_s, 1) if check.id in steps else 0,
                self._said(finished, one.behavior, check, steps.get(check.id), controls)
                if not runs[check.id].passed or check.id in controls.immune
                else "",
            )
            for one in slices.slices
            for check in one.checks
        )

    def prompt(self, loop: Loop, task: Task) -> str | None:
        """The slice, by whom it is judged, and what failed last."""
        if (special := self._lanes.prompt(task)) is not None:
            return special
        facts, seals = self._facts()
        slices = self._slices(facts)
        one = slices.slice(task.id)
        checks = one.checks if one is not None else slices.checks
        shown = [f"`{check.command}`" for check in checks if not check.hidden]
        hidden = sum(check.hidden for check in checks)
        book = self._context.prompts()
        last = next((error.message for error in reversed(loop.errors)), "")
        return book.prompt(
            "builder_slice",
            task=f"{one.id} {one.title}: {one.behavior}" if one is not None else task.description,
            criteria="; ".join(one.acceptance_criteria) if one is not None else book.part("every_check"),
            checks=", ".join(shown + ([book.part("hidden_checks", count=str(hidden))] if hidden else []))
            or book.part("a_person"),
            judges=", ".join(sorted(seals)[:10]) or book.part("no_judges"),
            manifest=f"$LOOPWRIGHT_MAILBOX/context/{MANIFEST}",
            blocker=f"{book.part('last_failure', message=last)}\n" if last else "",
        )

    def brief(self, loop: Loop, mailbox: Path) -> None:
        """The documents that the manifest lists, where the agent can read them: ours are not in its sandbox."""
        task_id = (loop.under_way.task_id if loop.under_way is not None else None) or ""
        if not self._is_lane(task_id):
            self._gate.shut(loop, mailbox, self._judged_by(task_id))
        elif loop.tree is not None:
            progress = loops_of(self._context).paths(loop.loop_id).progress
            own = own_work(loop.tree, progress, self._context.project)
            whole = patch_path(progress, loop.tree.patch_sha256)
            write_file(mailbox, f"{CONTEXT}/{PATCH}", own.patch if own is not None else whole.read_bytes())
        write_checks(mailbox, self._told())
        paths = self._context.layout.workflow(self._slug)
        source = paths.folder / MANIFEST
        if not source.is_file():
            return
        listed = source.read_bytes()
        write_file(mailbox, f"{CONTEXT}/{MANIFEST}", listed)
        root = self._context.layout.root
        for row in manifest.read_manifest(listed, lambda path: (root / path).exists()):
            found = root / row.path
            if found.is_file() and row.path.startswith(".loopwright/"):
                write_file(mailbox, f"{CONTEXT}/{row.path}", found.read_bytes())

    def _told(self) -> Checks:
        """Who judges, as far as a builder may know."""
        checks = self._slices(self._facts()[0]).checks
        shown = tuple(
            ShownCheck(id=one.id, command=one.command, cwd=one.cwd, timeout_s=one.timeout_s)
            for one in checks
            if not one.hidden
        )
        return Checks(shown=shown, hidden=len(checks) - len(shown))

    def mending(self, loop: Loop) -> str | None:
        """What failed is what is to be done: nobody is asked for causes that the checks name already."""
        failed = [one for one in loop.validation.results if one.status == "failed"]
        said = "\n".join(f"- {one.test_name} ({one.suite}): {one.error_message}" for one in failed[:10])
        return f"Make these checks pass:\n{said}"

    def look(self, loop: Loop, task: Task) -> Look | None:
        """An architect's, in the profile that asks one."""
        del loop
        return self._lanes.look(task)

    def seen(self, loop: Loop, task: Task, answer: msgspec.Struct | NoAnswer) -> tuple[Task, ...]:
        """What the architect's verdict leads to."""
        del task
        return self._lanes.seen(loop, answer)

    def stopped(self, task: Task, hold: Hold, failure: NoAnswer) -> Hold:
        """The lane is not through."""
        return self._lanes.stopped(task, hold, failure)

    def tries(self, loop: Loop, task: Task, failure: NoAnswer | None) -> bool:
        """Tidying up is."""
        return self._lanes.tries(loop, task, failure)

    def before_completion(self, loop: Loop, validation: Validation) -> tuple[Task, ...]:
        """The lanes that come after the checks."""
        return self._lanes.before_completion(loop, validation)

    def heed(self, loop: Loop) -> None:
        """What a person says opens the stop gate."""
        self._gate.heed(loop)

    def _judged_by(self, task_id: str) -> tuple[Check, ...]:
        slices = self._slices(self._facts()[0])
        one = slices.slice(task_id)
        return one.checks if one is not None else slices.checks

    @staticmethod
    def _is_lane(task_id: str) -> bool:
        return task_id.startswith((LOOK, DESLOP))

    def _controlled(self, loop: Loop, slices: Slices, runs: dict[str, CheckRun]) -> Controls:
        """Whether what passed could have failed: looked at only where all of it passed."""
        if loop.tree is None or not runs or not all(run.passed for run in runs.values()):
            return Controls()
        sealed = (*self._facts()[1], *self._hidden(slices.checks).names())
        work = work_of(self._context, loop)
        try:
            return control(
                self._context, self._slug, slices.checks, work, self._seen, sealed, self._cancellation
            )  # fmt: skip
        except Interrupted:
            # A loop that is stopped goes on where it was.
            self._cancellation.raise_if_requested()
            raise

    def _record(
        self,
        loop: Loop,
        finished: Finished,
        runs: dict[str, CheckRun],
        controls: Controls,
        tests: Comparison | None,
    ) -> None:
        tree = loop.tree
        verification = Verification(
            iteration=0,  # whoever records it counts
            tree=finished.evidence.base.tree if finished.evidence.base is not None else "",
            patch_sha256=tree.patch_sha256 if tree is not None else "",
            files=self._seen.files,
            checks=runs,
            judges=self._seen.judges | controls.steering,
            immune=controls.immune,
            tests=_recorded(tests) if tests is not None else None,
        )
        is_broken = tests is not None and bool(tests.broken)
        passed = all(run.passed for run in runs.values()) and not controls.immune and not is_broken
        self._lanes.record_checks(loop, verification, passed=passed)

    def _said(
        self, finished: Finished, behavior: str, check: Check, step: StepRecord | None, controls: Controls
    ) -> str:
        """The end of what it printed; of a hidden check only which behaviour it shows."""
        if check.id in controls.immune:
            return f"{check.id} passes also when its own tests are made to fail: the work keeps it from failing"
        if check.hidden:
            return f"a check that you are not shown fails: {behavior}"
        logs = [command.log for command in step.commands] if step is not None else []
        text = ""
        if logs and logs[-1] is not None:
            text = (finished.folder / str(logs[-1])).read_bytes()[-_MOST_SAID:].decode("utf-8", "replace")
        return f"`{check.command}` failed: {text.strip()}"

    def _facts(self) -> tuple[Facts, dict[str, str]]:
        with workflows_of(self._context).changing(self._slug) as opened:
            return opened.facts(), opened.workflow.seals

    def _hidden(self, checks: tuple[Check, ...]) -> Hidden:
        return Hidden(hidden_folder(self._context, self._slug), checks)

    @staticmethod
    def _slices(facts: Facts) -> Slices:
        return facts.slices if isinstance(facts.slices, Slices) else Slices(())


def _recorded(tests: Comparison) -> ProjectTests:
    return ProjectTests(
        base_run_id=tests.base.run_id,
        run_id=tests.work.run_id,
        decides=tests.decides,
        broken=len(tests.broken),
        names=tuple(name_of(one) for one in tests.broken[:_MOST_NAMES]),
    )
