"""Finds out what checks are worth: on the base, without new tests of the work, and with judges that must fail.

A check that passes on the base proves nothing. A check that passes with a broken judge can't fail any more.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

import msgspec

from loopwright.kernel.process import Cancellation
from loopwright.loop.model import Loop
from loopwright.loop.own_work import own_work
from loopwright.loop.worker_sandbox import with_work
from loopwright.runner.request import Finished, Observer
from loopwright.sandbox.open import project_tree
from loopwright.sandbox.port import Sandbox, SandboxRequest
from loopwright.stages.building.built_tree import BuiltTree
from loopwright.stages.building.checking import Hidden, check_runs, hidden_folder, run_checks
from loopwright.stages.context import Context, Tell, loops_of, workflows_of
from loopwright.workflow import events as e
from loopwright.workflow.cheating import broken, broken_command, judged_by
from loopwright.workflow.model import Control
from loopwright.workflow.slices import Check
from loopwright.workflow.store import Snapshot


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
    """Run the checks of a plan that were not run on the project as it is now. Records nothing.

    Returns the tree of the project, and what must be recorded; empty if there is no check, or nothing new.
    """
    slug, slices, known = snapshot.workflow.slug, snapshot.facts.readable_slices, snapshot.workflow.controls
    if not slices.checks:
        return "", {}
    if all(check.id in known and known[check.id].digest == check.digest for check in slices.checks):
        # Uncommitted changes are part of the tree.
        tree = project_tree(context.sandbox_request(), f"{slug}-base", cancellation)
        if {known[check.id].tree for check in slices.checks} == {tree}:
            return tree, {}
        tell("the project changed since the checks ran on it")
    tell(f"checks to run on the base: {len(slices.checks)}; what passes there proves nothing")
    finished = run_checks(
        context, slug, slices.checks, name="control", sandbox=context.sandbox_request(), cancellation=cancellation
    )
    runs = check_runs(finished, slices.checks)
    controls = {
        name: Control(digest=run.digest, tree=run.tree, passed=run.passed, run_id=run.run_id)
        for name, run in runs.items()
    }
    return runs[slices.checks[0].id].tree, controls


def work_of(context: Context, loop: Loop) -> SandboxRequest:
    """A sandbox of base and patch."""
    now = context.sandbox_request()
    return now if loop.tree is None else with_work(now, loop.tree, loops_of(context).paths(loop.loop_id).progress)


def own_files(context: Context, loop: Loop) -> tuple[str, ...] | None:
    """The paths that the work changed; None if the project was clean, so that the commit tells them."""
    if loop.tree is None:
        return None
    own = own_work(loop.tree, loops_of(context).paths(loop.loop_id).progress, context.project)
    return own.files if own is not None else None


def control(
    context: Context,
    slug: str,
    checks: tuple[Check, ...],
    work: SandboxRequest,
    seen: BuiltTree,
    sealed: tuple[str, ...],
    cancellation: Cancellation,
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Checks that can't fail any more, and new files next to the judges without which a check does not pass."""
    hidden = Hidden(hidden_folder(context, slug), checks)
    run = partial(run_checks, context, slug, sandbox=work, cancellation=cancellation)
    steering: dict[str, str] = {}
    if seen.beside:
        alone = run(checks, name="alone", observer=_Altered(hidden, removed=seen.beside))
        if not all(result.passed for result in check_runs(alone, checks).values()):
            steering = dict(seen.beside)
    return _immune(run, checks, sealed, hidden), steering


def _immune(
    run: partial[Finished], checks: tuple[Check, ...], sealed: tuple[str, ...], hidden: Hidden
) -> tuple[str, ...]:
    altered: list[Check] = []
    files: list[str] = []
    for check in checks:
        command = broken_command(check.command)
        judged = () if check.cwd.strip("./") else judged_by(check.command, sealed)
        if command is not None:
            altered.append(msgspec.structs.replace(check, command=command))
        elif judged:
            altered.append(check)
            files += judged
    if not altered:
        return ()
    done = run(tuple(altered), name="broken-judges", observer=_Altered(hidden, broken=dict.fromkeys(files)))
    return tuple(name for name, result in check_runs(done, tuple(altered)).items() if result.passed)


class _Altered(Observer):
    """Changes the work before the checks: removes files, and replaces judges by versions that fail at their end."""

    def __init__(self, hidden: Observer, *, removed: Iterable[str] = (), broken: Iterable[str] = ()) -> None:
        self._hidden = hidden
        self._removed = removed
        self._broken = broken

    def before_steps(self, sandbox: Sandbox) -> None:
        """Prepare the sandbox as for every check; a hidden judge may be broken, too."""
        repo: Path = sandbox.place.repo
        for path in self._removed:
            (repo / path).unlink(missing_ok=True)
        self._hidden.before_steps(sandbox)
        for path in self._broken:
            place = repo / path
            if place.is_file() and not place.is_symlink() and (source := broken(place.read_bytes())) is not None:
                place.write_bytes(source)
