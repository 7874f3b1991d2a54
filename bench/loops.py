"""The cost of a loop beyond the work itself: an iteration, a list of many loops, and durable events."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from loopwright.kernel.clock import utc_now
from loopwright.loop import events as e
from loopwright.loop.model import Spent
from loopwright.loop.store import LoopStore
from loopwright.workspace.layout import Flavour, Layout
from measure import Way, duration, medians, remove, run, say, settled, timed
from report import Row, Verdict, at_most, verdict
from workspace import LOOPWRIGHT, Workspace

_ROUNDS = 5
_HELD = 14
_TASKS = 20
_TRIES = 6
_LOOPS = 1000
_EVENTS = 200
_LONG = 2000
_APPENDED = 10_000
_OWN_BLOCKS = 2000


def measure(folder: Path) -> Iterator[Row]:
    yield _tasks(folder / "tasks")
    yield _rounds(folder / "rounds")
    yield from _listing(folder / "many")
    yield from _appending(folder / "appended")


def _tasks(folder: Path) -> Row:
    """Bash tasks that write one file each: the loop against a script with the same commands."""
    workspace = Workspace(folder)
    _settings(workspace, '[loop]\ntest_command = "true"\n')
    tasks = [f"echo {number} > file{number}" for number in range(_TASKS)]
    listed = folder / "tasks.jsonl"
    lines = [json.dumps({"id": f"B-{n}", "description": task, "tool": "bash"}) for n, task in enumerate(tasks)]
    listed.write_text("\n".join(lines), encoding="utf-8")

    def prepared() -> str:
        loop_id = _new(workspace)
        _loopwright(workspace, "task", "import", loop_id, str(listed))
        return loop_id

    return _against_a_script("a develop iteration beyond its command", workspace, folder, prepared, (*tasks, "true"))


def _rounds(folder: Path) -> Row:
    """Develop, validate and debug in turn: a scripted agent needs several tries until the tests pass."""
    workspace = Workspace(folder)
    cause = {
        "description": "c",
        "testable_condition": "echo YES",
        "evidence_criteria": {"confirm": "YES", "reject": "NO"},
    }
    asked = {"role": "debugger", "answer": json.dumps({"hypotheses": [{**cause, "fix": "f"}]})}
    _settings(
        workspace,
        f'[loop]\ntest_command = "test $(wc -l < work) -ge {_TRIES}"\n[agents]\ndefault = "scripted"\n'
        '[agents.scripted]\nturns = ".loopwright/turns.yaml"\n',
    )
    turns = [{"role": "builder", "run": "echo x >> work"}, asked] * _TRIES
    (workspace.root / ".loopwright" / "turns.yaml").write_text(json.dumps({"turns": turns}), encoding="utf-8")
    same = [*(["echo x >> work", "test $(wc -l < work) -ge 0", "echo YES"] * _TRIES)][:-1]
    return _against_a_script(
        "an iteration of develop, validate and debug in turn",
        workspace,
        folder,
        lambda: _new(workspace, "--task", "t"),
        tuple(same),
    )


def _against_a_script(
    what: str, workspace: Workspace, folder: Path, prepared: Callable[[], str], commands: tuple[str, ...]
) -> Row:
    script = folder / "same.sh"
    lines = "".join(f"bash -c '{command}' >> log 2>&1\n" for command in commands)
    script.write_text(f"cd $(mktemp -d)\n{lines}", encoding="utf-8")

    def ours() -> float:
        loop_id = prepared()
        # No test proves the work, so the loop is held in the end.
        return settled(lambda: _loopwright(workspace, "start", loop_id, accepts=(0, _HELD)))

    ways = [
        Way("script", lambda: settled(lambda: run(("bash", str(script)), cwd=folder, env=workspace.env))),
        # Imports the same as `start`, but runs no loop.
        Way("start-up", lambda: timed(lambda: _loopwright(workspace, "start", "--help"))),
        Way("loop", ours),
    ]
    theirs, start_up, taken = medians(what, ways, _ROUNDS)
    each = (taken - start_up - theirs) / len(commands)
    return Row(
        what,
        "<= 50 ms over a bash script",
        f"+{each * 1000:.0f} ms",
        verdict(each <= 0.050),
        duration(taken),
        f"script: {duration(theirs)}, start-up: {duration(start_up)}",
    )


def _settings(workspace: Workspace, text: str) -> None:
    own = workspace.root / ".loopwright"
    own.mkdir(exist_ok=True)
    (own / "config.toml").write_text(f'{text}[sandbox]\nisolation = "none"\n', encoding="utf-8")


def _new(workspace: Workspace, *arguments: str) -> str:
    made = json.loads(_loopwright(workspace, "new", "bench", "--max-iterations", "99", *arguments, "--json"))
    return str(made["loop_id"])


def _loopwright(workspace: Workspace, *arguments: str, accepts: tuple[int, ...] = (0,)) -> bytes:
    return run((LOOPWRIGHT, "loop", *arguments), cwd=workspace.root, env=workspace.env, accepts=accepts)


def _listing(folder: Path) -> Iterator[Row]:
    workspace = Workspace(folder)
    layout = Layout(workspace.root, Flavour.UNIFIED, folder)
    layout.loops.mkdir(parents=True)

    def loopwright(*arguments: str) -> float:
        return timed(lambda: run((LOOPWRIGHT, *arguments), cwd=workspace.root, env=workspace.env))

    ways = [
        Way("--version", lambda: loopwright("--version")),
        Way("loop list", lambda: loopwright("loop", "list")),
        Way("status", lambda: loopwright("status")),
    ]
    _fill(LoopStore(layout, utc_now), _EVENTS)
    bare, listed, status = medians("listing", ways, _ROUNDS)
    for name, ours in (("loop list", listed), ("status", status)):
        yield Row(
            f"`{name}` of {_LOOPS} loops of {_EVENTS} events",
            "<= 100 ms over --version",
            f"+{(ours - bare) * 1000:.0f} ms",
            verdict(ours - bare <= 0.100),
            duration(ours),
            f"--version: {duration(bare)}",
        )
    remove(layout.loops)
    layout.loops.mkdir()
    _fill(LoopStore(layout, utc_now), _LONG)
    _, longer, _ = medians("listing", ways, _ROUNDS)
    yield at_most(
        f"`loop list` of {_LOOPS} loops of {_LONG} events", longer, listed, 1.25, against=f"of {_EVENTS} events"
    )


def _fill(store: LoopStore, events: int) -> None:
    """Make many loops by copying one: only their names differ."""
    say(f"  making {_LOOPS} loops of {events} events")
    first = _make(store, "loop-v2-20260101-000000", events)
    paths = store.paths(first)
    found = [(name, getattr(paths, name).read_bytes()) for name in ("events", "state", "head")]
    for number in range(1, _LOOPS):
        loop_id = f"loop-v2-20260101-{number:06d}"
        for name, data in found:
            getattr(store.paths(loop_id), name).write_bytes(data.replace(first.encode(), loop_id.encode()))


def _make(store: LoopStore, loop_id: str, events: int) -> str:
    """Write events in one block of changes; each event is durable before the next."""
    _create(store, loop_id)
    with store.changing(loop_id) as opened:
        for _ in range(events - 1):
            opened.apply(e.CostCounted(spent=Spent(tokens=1)), "bench")
    return loop_id


def _make_in_blocks(store: LoopStore, loop_id: str, events: int) -> str:
    """Write each event in its own block, with lock, check of the state file and projections."""
    _create(store, loop_id)
    for _ in range(events - 1):
        with store.changing(loop_id) as opened:
            opened.apply(e.CostCounted(spent=Spent(tokens=1)), "bench")
    return loop_id


def _create(store: LoopStore, loop_id: str) -> None:
    wanted = e.LoopCreated(loop_id=loop_id, title="bench", description="d", max_iterations=9)
    store.create(wanted, "bench")


def _appending(folder: Path) -> Iterator[Row]:
    store = LoopStore(Layout(folder, Flavour.UNIFIED, folder), utc_now)
    sample = store.paths(_make(store, "loop-v2-20260101-bbbbbb", 2)).events.read_bytes()
    line = sample.splitlines(keepends=True)[-1]
    fresh = (f"loop-v2-20260101-{number:06d}" for number in itertools.count())
    files = (folder / f"bare{number}" for number in itertools.count())
    ways = [
        Way("write + fsync", lambda: settled(lambda: _bare(next(files), line, _APPENDED))),
        Way("ours", lambda: settled(lambda: _make(store, next(fresh), _APPENDED))),
    ]
    least, taken = medians(f"{_APPENDED} events", ways, _ROUNDS)
    yield at_most(f"{_APPENDED} events appended durably", taken, least, 2, against="write + fsync")
    ways = [
        Way("write + fsync", lambda: settled(lambda: _bare(next(files), line, _OWN_BLOCKS))),
        Way("ours", lambda: settled(lambda: _make_in_blocks(store, next(fresh), _OWN_BLOCKS))),
    ]
    least, taken = medians(f"{_OWN_BLOCKS} changes", ways, _ROUNDS)
    yield Row(
        f"{_OWN_BLOCKS} changes of one event, each with lock, state file and list",
        "",
        f"{taken / least:.2f} x",
        Verdict.INFORMATION,
        duration(taken),
        f"write + fsync: {duration(least)}",
    )


def _bare(path: Path, line: bytes, count: int) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    for _ in range(count):
        os.write(handle, line)
        os.fsync(handle)
    os.close(handle)
