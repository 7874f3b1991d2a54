"""How long `loopwright` takes to start, beyond the interpreter's own start."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from measure import Way, duration, medians, run, timed
from report import Row, Verdict, verdict
from workspace import LOOPWRIGHT, Workspace

_ROUNDS = 15
_LIMIT_S = 0.150


def measure(folder: Path) -> Iterator[Row]:
    workspace = Workspace(folder)
    plan = workspace.plan([("only", "true", ())])

    def interpreter() -> float:
        return timed(lambda: run((sys.executable, "-c", "pass"), cwd=workspace.root, env=workspace.env))

    def helped() -> float:
        return timed(lambda: run((LOOPWRIGHT, "--help"), cwd=workspace.root, env=workspace.env))

    arguments = ("run", "--plan", str(plan), "--isolation", "none")
    ways = [
        Way("interpreter", interpreter),
        Way("--help", helped),
        Way("run, first event", lambda: _first_line(workspace, (*arguments, "--json"))),
        Way("run, all of it", lambda: timed(lambda: workspace.run(*arguments))),
    ]
    bare, help_s, first_s, whole_s = medians("start-up", ways, _ROUNDS)
    yield _over("`loopwright --help`", help_s, bare)
    yield _over("`loopwright run` until its first event", first_s, bare)
    yield Row(
        "`loopwright run` of one `true`, all of it, not confined",
        "none",
        f"+{duration(whole_s - bare)}",
        Verdict.INFORMATION,
        duration(whole_s),
        f"python -c pass: {duration(bare)}",
    )


def _over(what: str, ours: float, bare: float) -> Row:
    return Row(
        what,
        f"<= {duration(_LIMIT_S)} over python",
        f"+{duration(ours - bare)}",
        verdict(ours - bare <= _LIMIT_S),
        duration(ours),
        f"python -c pass: {duration(bare)}",
    )


def _first_line(workspace: Workspace, arguments: tuple[str, ...]) -> float:
    """The time from the start of the process to its first line. The rest of the run does not count."""
    began = time.perf_counter()
    with subprocess.Popen(
        (LOOPWRIGHT, *arguments), cwd=workspace.root, env=workspace.env, stdout=subprocess.PIPE
    ) as child:
        if child.stdout is None:
            raise SystemExit("the run has no standard output")
        first = child.stdout.readline()
        taken = time.perf_counter() - began
        child.stdout.read()
    if child.returncode or b"run.started" not in first:
        raise SystemExit(f"the run began with {first!r} and exited with {child.returncode}")
    return taken
