"""The craft of a build: slices are the tasks, their checks the judges, and what they say goes into the journal."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from loopwright.agents.port import Role
from loopwright.agents.prompts import prompt_for
from loopwright.evidence.model import StepRecord
from loopwright.kernel.digest import sha256_of_file
from loopwright.kernel.files import make_folder
from loopwright.loop.craft import Judging
from loopwright.loop.model import Loop, Task
from loopwright.loop.reports.model import TestResult
from loopwright.runner.run_plan import Finished
from loopwright.sandbox.git_recorder import GitRecorder
from loopwright.sandbox.open import Sandbox
from loopwright.verbs.context import Context
from loopwright.verbs.workflow.checking import Hidden, check_runs, steps_of
from loopwright.verbs.workflow.names import store_of
from loopwright.workflow import commands as c
from loopwright.workflow import manifest
from loopwright.workflow.facts import Facts
from loopwright.workflow.gather import MANIFEST
from loopwright.workflow.model import Verification
from loopwright.workflow.seal import is_judge, judge_patterns
from loopwright.workflow.slices import Check, Slices

_MOST_SAID = 1500
_NOTHING_TO_RUN: dict[str, object] = {"id": "no-checks", "action": "a person signs", "commands": ["true"]}


class SliceCraft:
    """Asks the plan that was approved, never the agent."""

    def __init__(self, context: Context, slug: str) -> None:
        self._context = context
        self._slug = slug
        self._seen = _Seen()

    def judging(self, loop: Loop) -> Judging | None:
        """Every check of every slice."""
        del loop
        facts, seals = self._facts()
        slices = self._slices(facts)
        self._seen = _Seen(judge_patterns(slices, facts.gates.seal), seals, self._hidden(slices.checks))
        return Judging(tuple(steps_of(slices.checks)) or (_NOTHING_TO_RUN,), self._seen)

    def results(self, loop: Loop, finished: Finished) -> tuple[TestResult, ...]:
        """Each check is a result; that and the tree are on record before anybody hears of it."""
        slices = self._slices(self._facts()[0])
        runs = check_runs(finished.evidence, slices.checks)
        steps = {step.id: step for step in finished.evidence.steps}
        self._record(loop, finished, {check.id: runs[check.id] for check in slices.checks})
        if not slices.checks:
            return (TestResult("no check", "a person signs", "passed"),)
        return tuple(
            TestResult(
                check.id,
                one.id,
                "passed" if runs[check.id].passed else "failed",
                round(1000 * steps[check.id].duration_s, 1) if check.id in steps else 0,
                "" if runs[check.id].passed else self._said(finished, one.behavior, check, steps.get(check.id)),
            )
            for one in slices.slices
            for check in one.checks
        )

    def prompt(self, loop: Loop, task: Task) -> str | None:
        """The slice, by whom it is judged, and what failed last."""
        facts, seals = self._facts()
        slices = self._slices(facts)
        one = slices.slice(task.id)
        checks = one.checks if one is not None else slices.checks
        shown = [f"`{check.command}`" for check in checks if not check.hidden]
        hidden = sum(check.hidden for check in checks)
        last = next((error.message for error in reversed(loop.errors)), "")
        return prompt_for(
            Role.BUILDER,
            about="slice",
            task=f"{one.id} {one.title}: {one.behavior}" if one is not None else task.description,
            criteria="; ".join(one.acceptance_criteria) if one is not None else "every check passes",
            checks=", ".join(shown + ([f"{hidden} that you are not shown"] if hidden else [])) or "a person",
            judges=", ".join(sorted(seals)[:10]) or "(none)",
            manifest=f"$LOOPWRIGHT_MAILBOX/context/{MANIFEST}",
            blocker=f"What went wrong last: {last}\n" if last else "",
        )

    def brief(self, loop: Loop, mailbox: Path) -> None:
        """The documents that the manifest lists, where the agent can read them: ours are not in its sandbox."""
        del loop
        paths = self._context.layout.workflow(self._slug)
        source = paths.folder / MANIFEST
        if not source.is_file():
            return
        folder = mailbox / "context"
        make_folder(folder)
        shutil.copyfile(source, folder / MANIFEST)
        root = self._context.layout.root
        for row in manifest.read_manifest(source.read_bytes(), lambda path: (root / path).exists()):
            found = root / row.path
            if found.is_file() and row.path.startswith(".loopwright/"):
                make_folder((folder / row.path).parent)
                shutil.copyfile(found, folder / row.path)

    def mending(self, loop: Loop) -> str | None:
        """What failed is what is to be done: nobody is asked for causes that the checks name already."""
        failed = [one for one in loop.validation.results if one.status == "failed"]
        said = "\n".join(f"- {one.test_name} ({one.suite}): {one.error_message}" for one in failed[:10])
        return f"Make these checks pass:\n{said}"

    def _record(self, loop: Loop, finished: Finished, runs: dict[str, object]) -> None:
        tree = loop.tree
        passed = all(getattr(run, "passed", False) for run in runs.values())
        with store_of(self._context).changing(self._slug) as opened:
            before = opened.workflow.verification
            verification = Verification(
                iteration=before.iteration + 1 if before is not None else 1,
                tree=finished.evidence.base.tree if finished.evidence.base is not None else "",
                patch_sha256=tree.patch_sha256 if tree is not None else "",
                files=self._seen.files,
                checks=check_runs(finished.evidence, self._slices(opened.facts()).checks),
                judges=self._seen.judges,
            )
            opened.apply(c.EndLane(lane="execution", status="completed"), "tool")
            opened.apply(c.EndLane(lane="verification", status="passed" if passed else "failed"), "tool")
            opened.apply(c.RecordVerification(verification=verification), "tool")
            opened.apply(c.EndLane(lane="evidence", status="collected"), "tool")

    def _said(self, finished: Finished, behavior: str, check: Check, step: StepRecord | None) -> str:
        """The end of what it printed; of a hidden check only which behaviour it shows."""
        if check.hidden:
            return f"a check that you are not shown fails: {behavior}"
        logs = [command.log for command in step.commands] if step is not None else []
        text = ""
        if logs and logs[-1] is not None:
            text = (finished.folder / str(logs[-1])).read_bytes()[-_MOST_SAID:].decode("utf-8", "replace")
        return f"`{check.command}` failed: {text.strip()}"

    def _facts(self) -> tuple[Facts, dict[str, str]]:
        with store_of(self._context).changing(self._slug) as opened:
            return opened.facts(), opened.workflow.seals

    def _hidden(self, checks: tuple[Check, ...]) -> Hidden:
        return Hidden(self._context.layout.workflow(self._slug).folder / "hidden", checks)

    @staticmethod
    def _slices(facts: Facts) -> Slices:
        return facts.slices if isinstance(facts.slices, Slices) else Slices(())


class _Seen:
    """Looks at the built tree before any check runs in it: which judges the work changed, and which files."""

    def __init__(
        self, patterns: tuple[str, ...] = (), seals: dict[str, str] | None = None, hidden: Hidden | None = None
    ) -> None:
        self._patterns = patterns
        self._seals = seals or {}
        self._hidden = hidden
        self.judges: dict[str, str] = {}
        self.files: tuple[str, ...] = ()

    def before_steps(self, sandbox: Sandbox) -> None:
        """Compare with what was sealed."""
        repo = sandbox.place.repo
        if isinstance(sandbox.recorder, GitRecorder):
            self.files = sandbox.recorder.files_since_commit()
        now = {path: _digest(repo / path) for path in _files(repo) if is_judge(path, self._patterns)}
        changed = {path: digest for path, digest in now.items() if self._seals.get(path) != digest}
        gone = {path: "deleted" for path in self._seals if path not in now and path in self.files}
        self.judges = changed | gone
        if self._hidden is not None:
            self._hidden.before_steps(sandbox)

    def after_steps(self, sandbox: Sandbox) -> None:
        """Nothing more to see."""


def _files(top: Path) -> list[str]:
    found = []
    for folder, below, names in os.walk(top):
        below[:] = [name for name in below if name != ".git"]
        found += [os.path.relpath(Path(folder) / name, top) for name in names]
    return found


def _digest(path: Path) -> str:
    return f"link:{path.readlink()}" if path.is_symlink() else sha256_of_file(path)
