"""The cost of a step: 200 steps of `true` against a shell loop that starts the same processes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from measure import Way, medians, remove, run, timed
from report import Row, at_most, not_measured
from workspace import Workspace

_STEPS = 200
_ROUNDS = 9
_BWRAP = "bwrap --ro-bind / / --dev /dev --proc /proc --unshare-pid --die-with-parent --new-session"


def measure(folder: Path) -> Iterator[Row]:
    workspace = Workspace(folder)
    plan = workspace.plan([(f"step-{number}", "true", ()) for number in range(_STEPS)])
    confined = f"{_STEPS} steps of `true`, confined by bubblewrap"
    if shutil.which("bwrap") is None:
        yield not_measured(confined, "<= 2 x a loop of bwrap", "bwrap is not installed")
    else:
        yield _compared(workspace, plan, confined, "auto", f"{_BWRAP} bash -c true", "loop of bwrap", 2)
    yield _compared(
        workspace, plan, f"{_STEPS} steps of `true`, not confined", "none", "bash -c true", "loop of bash", 3
    )


def _compared(
    workspace: Workspace, plan: Path, what: str, isolation: str, command: str, against: str, limit: float
) -> Row:
    ways = [
        Way(against, lambda: _loop(workspace, command)),
        Way("loopwright", lambda: timed(lambda: _run(workspace, plan, isolation))),
    ]
    theirs, ours = medians(what, ways, _ROUNDS)
    return at_most(what, ours, theirs, limit, against=against)


def _loop(workspace: Workspace, command: str) -> float:
    """Write a new log for each step, as a run does: creating a file costs more than overwriting one."""
    loop = f"for i in $(seq {_STEPS}); do {command} > log_$i 2>&1; done"
    logs = workspace.root.parent / "logs"
    logs.mkdir()
    taken = timed(lambda: run(("bash", "-c", loop), cwd=logs, env=workspace.env))
    remove(logs)
    return taken


def _run(workspace: Workspace, plan: Path, isolation: str) -> None:
    said = workspace.run("run", "--plan", str(plan), "--isolation", isolation)
    if isolation != "none" and b"isolation bubblewrap" not in said:
        raise SystemExit("bwrap is installed, but did not confine the run; `loopwright doctor` may show why")
