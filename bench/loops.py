"""What a loop costs beyond the work itself: an iteration, a list of many loops, and durable events."""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Iterator
from pathlib import Path

from loopwright.kernel.clock import utc_now
from loopwright.loop import commands as c
from loopwright.loop import events as e
from loopwright.loop.model import Spent
from loopwright.loop.store import LoopStore
from loopwright.workspace.layout import Flavour, Layout
from measure import Way, duration, medians, run, say, timed
from report import Row, verdict
from workspace import LOOPWRIGHT, Workspace

_ROUNDS = 5
_TASKS = 20
_LOOPS = 1000
_EVENTS = 200
_APPENDED = 2000


def measure(folder: Path) -> Iterator[Row]:
    yield _iterations(folder / "iterations")
    yield _listing(folder / "many")
    yield _appending(folder / "appended")


def _iterations(folder: Path) -> Row:
    """Bash tasks that write a file each: the loop against a script that does the same and logs it."""
    workspace = Workspace(folder)
    (workspace.root / ".loopwright").mkdir(exist_ok=True)
    (workspace.root / ".loopwright" / "config.toml").write_text(
        '[loop]\ntest_command = "true"\n[sandbox]\nisolation = "none"\n', encoding="utf-8"
    )
    tasks = [f"echo {number} > file{number}" for number in range(_TASKS)]
    script = folder / "same.sh"
    commands = "".join(f"bash -c '{task}' >> log 2>&1\n" for task in (*tasks, "true"))
    script.write_text(f"cd $(mktemp -d)\n{commands}", encoding="utf-8")

    def loopwright(*arguments: str) -> bytes:
        return run((LOOPWRIGHT, "loop", *arguments), cwd=workspace.root, env=workspace.env)

    def ours() -> float:
        made = json.loads(loopwright("new", "bench", "--max-iterations", "99", "--json"))
        listed = folder / "tasks.jsonl"
        lines = [json.dumps({"id": f"B-{n}", "description": task, "tool": "bash"}) for n, task in enumerate(tasks)]
        listed.write_text("\n".join(lines), encoding="utf-8")
        loopwright("task", "import", made["loop_id"], str(listed))
        return timed(lambda: loopwright("start", made["loop_id"]))

    ways = [
        Way("script", lambda: timed(lambda: run(("bash", str(script)), cwd=folder, env=workspace.env))),
        Way("start-up", lambda: timed(lambda: loopwright("list"))),
        Way("loop", ours),
    ]
    theirs, start_up, taken = medians("an iteration", ways, _ROUNDS)
    # One develop for each task, one validate, and what comes before the first is start-up.
    each = (taken - start_up - theirs) / (_TASKS + 1)
    return Row(
        "a loop's iteration beyond its commands",
        "<= 50 ms over a bash script",
        f"+{each * 1000:.0f} ms",
        verdict(each <= 0.050),
        duration(taken),
        f"script: {duration(theirs)}, start-up: {duration(start_up)}",
    )


def _listing(folder: Path) -> Row:
    workspace = Workspace(folder)
    store = LoopStore(Layout(workspace.root, Flavour.UNIFIED, folder), utc_now)
    (workspace.root / ".loopwright").mkdir(exist_ok=True)
    say(f"  making {_LOOPS} loops of {_EVENTS} events")
    first = _make(store, "loop-v2-20260101-000000", _EVENTS)
    events = store.paths(first).events.read_bytes()
    state = store.paths(first).state.read_bytes()
    head = store.paths(first).head.read_bytes()
    for number in range(1, _LOOPS):
        loop_id = f"loop-v2-20260101-{number:06d}"
        paths = store.paths(loop_id)
        for path, data in ((paths.events, events), (paths.state, state), (paths.head, head)):
            path.write_bytes(data.replace(first.encode(), loop_id.encode()))

    def loopwright(*arguments: str) -> float:
        return timed(lambda: run((LOOPWRIGHT, *arguments), cwd=workspace.root, env=workspace.env))

    ways = [Way("--version", lambda: loopwright("--version")), Way("loop list", lambda: loopwright("loop", "list"))]
    bare, ours = medians("listing", ways, _ROUNDS)
    return Row(
        f"`loop list` of {_LOOPS} loops of {_EVENTS} events",
        "<= 100 ms over --version",
        f"+{(ours - bare) * 1000:.0f} ms",
        verdict(ours - bare <= 0.100),
        duration(ours),
        f"--version: {duration(bare)}",
    )


def _make(store: LoopStore, loop_id: str, events: int) -> str:
    wanted = e.LoopCreated(loop_id=loop_id, title="bench", description="d", max_iterations=9)
    store.create(c.Create(wanted=wanted), "bench")
    for _ in range(events - 1):
        with store.changing(loop_id) as opened:
            opened.apply(c.Count(spent=Spent(tokens=1)), "bench")
    return loop_id


def _appending(folder: Path) -> Row:
    store = LoopStore(Layout(folder, Flavour.UNIFIED, folder), utc_now)
    _make(store, "loop-v2-20260101-bbbbbb", 1)
    line = store.paths("loop-v2-20260101-bbbbbb").events.read_bytes()
    bare, ours = [], []
    for number in range(3):
        bare.append(timed(lambda number=number: _bare(folder / f"bare{number}", line)))
        ours.append(timed(lambda number=number: _make(store, f"loop-v2-20260101-cccc{number:02d}", _APPENDED)))
        say(f"  {_APPENDED} events: bare {duration(bare[-1])}, ours {duration(ours[-1])}")
    least, taken = statistics.median(bare), statistics.median(ours)
    return Row(
        f"{_APPENDED} events appended durably, projections and all",
        "<= 2 x write + fsync",
        f"{taken / least:.2f} x",
        verdict(taken <= 2 * least),
        duration(taken),
        f"write + fsync: {duration(least)}",
    )


def _bare(path: Path, line: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    for _ in range(_APPENDED):
        os.write(handle, line)
        os.fsync(handle)
    os.close(handle)
