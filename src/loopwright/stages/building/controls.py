"""Controls of a build that passed: the checks without the tests that it brought, and with judges that must fail."""

from __future__ import annotations

from pathlib import Path

import msgspec

from loopwright.kernel.process import Cancellation
from loopwright.loop.model import Loop
from loopwright.loop.own_work import own_work
from loopwright.loop.worker_sandbox import with_work
from loopwright.runner.request import Observer
from loopwright.sandbox.port import Sandbox, SandboxRequest
from loopwright.stages.building.built_tree import BuiltTree
from loopwright.stages.building.checking import Hidden, hidden_folder, run_checks
from loopwright.stages.context import Context, loops_of
from loopwright.workflow.broken_judges import broken, broken_command, judged_by
from loopwright.workflow.slices import Check


class Controls(msgspec.Struct, frozen=True):
    """Checks that can't fail any more, and new files beside the judges without which a check does not pass."""

    immune: tuple[str, ...] = ()
    steering: dict[str, str] = {}


def work_of(context: Context, loop: Loop) -> SandboxRequest:
    """The sandbox of base and patch, once more."""
    now = context.sandbox_request()
    return now if loop.tree is None else with_work(now, loop.tree, loops_of(context).paths(loop.loop_id).progress)


def own_files(context: Context, loop: Loop) -> tuple[str, ...] | None:
    """The paths that the work itself touches; None where the project was clean, and the commit tells."""
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
) -> Controls:
    """Both, where there is something to control."""
    hidden = Hidden(hidden_folder(context, slug), checks)
    steering: dict[str, str] = {}
    if seen.beside:
        alone = run_checks(
            context, slug, checks, name="alone", sandbox=work, cancellation=cancellation,
            observer=_Without(tuple(seen.beside), hidden),
        )  # fmt: skip
        if not all(run.passed for run in alone.runs.values()):
            steering = dict(seen.beside)
    return Controls(_immune(context, slug, checks, work, sealed, cancellation, hidden), steering)


def _immune(
    context: Context,
    slug: str,
    checks: tuple[Check, ...],
    work: SandboxRequest,
    sealed: tuple[str, ...],
    cancellation: Cancellation,
    hidden: Hidden,
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
    done = run_checks(
        context, slug, tuple(altered), name="broken-judges", sandbox=work, cancellation=cancellation,
        observer=_Broken(tuple(dict.fromkeys(files)), hidden),
    )  # fmt: skip
    return tuple(name for name, run in done.runs.items() if run.passed)


class _Without:
    """The tree without these files."""

    def __init__(self, paths: tuple[str, ...], hidden: Observer) -> None:
        self._paths = paths
        self._hidden = hidden

    def before_steps(self, sandbox: Sandbox) -> None:
        """Take them away, then do what is done for every check."""
        for path in self._paths:
            (sandbox.place.repo / path).unlink(missing_ok=True)
        self._hidden.before_steps(sandbox)

    def after_steps(self, sandbox: Sandbox) -> None:
        """The sandbox goes."""


class _Broken:
    """The tree with judges that fail at their end."""

    def __init__(self, paths: tuple[str, ...], hidden: Observer) -> None:
        self._paths = paths
        self._hidden = hidden

    def before_steps(self, sandbox: Sandbox) -> None:
        """Put them in place."""
        self._hidden.before_steps(sandbox)
        for path in self._paths:
            place: Path = sandbox.place.repo / path
            if place.is_file() and not place.is_symlink() and (source := broken(place.read_bytes())) is not None:
                place.write_bytes(source)

    def after_steps(self, sandbox: Sandbox) -> None:
        """The sandbox goes."""
