"""Runs the checks of a plan in a fresh sandbox, as a run with evidence."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec

from loopwright.errors import Interrupted, WorkflowRefused
from loopwright.evidence.store import RunOrigin
from loopwright.judging.scope import WorkScope
from loopwright.judging.verdict import CommandVerdict, Problem
from loopwright.kernel import codec
from loopwright.kernel.digest import sha256_of_file
from loopwright.kernel.files import remove_tree
from loopwright.kernel.process import Cancellation
from loopwright.loop.work_verdict import problem_sentences
from loopwright.runner.events import Emitter, ignore
from loopwright.runner.request import Finished, Observer, RunRequest
from loopwright.runner.run_plan import run_plan
from loopwright.sandbox.port import Sandbox, SandboxRequest
from loopwright.stages.context import Context
from loopwright.workflow.slices import Check
from loopwright.workflow.verification import CheckRun

_MOST_OUTPUT = 1500
_FAILS_THE_RUN = ("STEP_FAILED",)


class ControlRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What the evidence of a control says: what was altered, and, on the work, its scope and the run on the base."""

    name: str
    base_run: str | None = None
    scope: WorkScope | None = None


def run_checks(
    context: Context,
    slug: str,
    checks: tuple[Check, ...],
    *,
    name: str,
    sandbox: SandboxRequest,
    cancellation: Cancellation,
    observer: Observer | None = None,
    depends_on: str = "",
    control: ControlRecord | None = None,
) -> Finished:
    """Run all checks, also after a failure, so that all failures are known."""
    request = RunRequest(
        plan_name=f"the checks of {slug}",
        plan=_plan(slug, checks),
        sandbox_options=context.sandbox_options_for(sandbox),
        environment=context.step_environment(),
        origin=RunOrigin(workflow=slug, base_run=control.base_run if control is not None else None),
        run_id=f"{slug}-{name}",
        observer=observer or Hidden(hidden_folder(context, slug), checks),
        results_depend_on=depends_on,
        scope=control.scope if control is not None else None,
        control=control.name if control is not None else "",
    )
    finished = run_plan(request, context.tools(), Emitter(ignore), cancellation)
    if cancellation.reason is not None:
        raise Interrupted(cancellation.reason, hint="run the same command again to continue")
    _require_that_it_ran(slug, finished)
    return finished


def hidden_folder(context: Context, slug: str) -> Path:
    """The folder of the files of hidden checks."""
    return context.layout.workflow(slug).folder / "hidden"


def check_runs(finished: Finished, checks: tuple[Check, ...]) -> dict[str, CheckRun]:
    """What a run says about each check, and on which tree."""
    evidence = finished.evidence
    tree = evidence.base.tree if evidence.base is not None else ""
    steps = {step.id: step for step in evidence.steps}
    runs = {}
    for check in checks:
        step = steps.get(check.id)
        codes = [command.exit_code for command in step.commands] if step is not None else []
        passed = step is not None and step.outcome == "passed"
        last = codes[-1] if codes else None
        runs[check.id] = CheckRun(run_id=evidence.run_id, passed=passed, exit_code=last, tree=tree, digest=check.digest)
    return runs


def end_of_output(finished: Finished, check: Check, most_bytes: int) -> str:
    """The end of a check's output; empty without a log."""
    logs = [command.log for step in finished.evidence.steps if step.id == check.id for command in step.commands]
    if not logs or logs[-1] is None:
        return ""
    return (finished.folder / str(logs[-1])).read_bytes()[-most_bytes:].decode("utf-8", "replace").strip()


def _plan(slug: str, checks: tuple[Check, ...]) -> bytes:
    return codec.to_yaml({"new_plan": {"unified_goal": f"the checks of {slug}", "steps": list(steps_of(checks))}})


def steps_of(checks: tuple[Check, ...]) -> Iterator[dict[str, object]]:
    """Each check as a step of a plan. Results are found by the order of the steps, so it is that of the checks."""
    for check in checks:
        yield {
            "id": check.id,
            "action": f"check {check.id}",
            "commands": [check.command],
            **({"cwd": check.cwd} if check.cwd else {}),
            **({"timeout_s": check.timeout_s} if check.timeout_s else {}),
            **({"network": True} if check.network else {}),
        }


def _require_that_it_ran(slug: str, finished: Finished) -> None:
    """A failed check is a result. A check that could not run is an error."""
    failure = finished.failure
    if failure is None or failure.code in _FAILS_THE_RUN:
        return
    raise WorkflowRefused(
        "verification_impossible",
        f"the checks of {slug} could not be run: {failure.code}: {failure.message.text}",
        next_command=failure.hint or f"loopwright status {slug}",
    )


class Hidden(Observer):
    """Copies the files of hidden checks into a sandbox without an agent, when the first hidden check begins.

    Agents read what the other checks print, and the work could print files that it finds.
    """

    def __init__(self, source: Path, checks: tuple[Check, ...]) -> None:
        self._source = source
        self._hidden = frozenset(check.id for check in checks if check.hidden)

    def before_steps(self, sandbox: Sandbox) -> None:
        """Nothing is copied yet."""
        del sandbox

    def before_step(self, sandbox: Sandbox, step: str) -> None:
        """Copy the files for a hidden check."""
        if step in self._hidden:
            self.place_files(sandbox)

    def place_files(self, sandbox: Sandbox) -> None:
        """Copy the files; they replace files of the same name from the work."""
        if not self._hidden or not self._source.is_dir():
            return
        repo = sandbox.place.repo
        for name in self.names():
            # A link in the path could lead out of the sandbox.
            _clear_the_way(repo, repo / name)
            (repo / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(self._source / name, repo / name, follow_symlinks=False)

    def digests(self) -> dict[str, str]:
        """The digest of each file."""
        paths = {name: self._source / name for name in self.names()}
        return {
            name: f"link:{path.readlink()}" if path.is_symlink() else sha256_of_file(path)
            for name, path in paths.items()
        }

    def names(self) -> tuple[str, ...]:
        """The paths of the files in the project."""
        if not self._hidden:
            return ()
        files = (path for path in self._source.rglob("*") if path.is_symlink() or not path.is_dir())
        return tuple(sorted(str(path.relative_to(self._source)) for path in files))


def _clear_the_way(top: Path, target: Path) -> None:
    """Remove what is at the target, and links and files where its folders must be."""
    for place in [*(parent for parent in reversed(target.parents) if top in parent.parents), target]:
        if place.is_symlink() or (place != target and place.exists() and not place.is_dir()):
            place.unlink()
    if target.is_dir():
        remove_tree(target)
    else:
        target.unlink(missing_ok=True)


def failure_of(finished: Finished, behavior: str, check: Check, verdict: CommandVerdict, passes_because: str) -> str:
    """Why a check does not accept the work; for a hidden check only the behaviour that it tests.

    `passes_because` says why a check that proves nothing passes; empty for other checks.
    """
    if passes_because:
        return (
            f"a check that you are not shown also passes with changed expectations: {behavior}"
            if check.hidden
            else passes_because
        )
    if check.hidden:
        return f"a check that you are not shown fails: {behavior}"
    # The output of a failed command speaks for itself.
    named = () if Problem.COMMAND_FAILED in verdict.problems else problem_sentences(verdict)
    said = "\n".join((*named, end_of_output(finished, check, _MOST_OUTPUT)))
    return f"`{check.command}` failed: {said}"
