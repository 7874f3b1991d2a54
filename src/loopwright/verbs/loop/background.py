"""`loopwright loop start --detach`: a worker that outlives the terminal it was started from."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import msgspec

from loopwright.errors import LoopRefused
from loopwright.kernel import process
from loopwright.kernel.files import make_folder, shown
from loopwright.loop import events as e
from loopwright.loop import log
from loopwright.loop.events import WorkerArrived
from loopwright.stages.context import Context, loops_of
from loopwright.stages.loop_control import has_worker
from loopwright.stages.loop_worker import driven_already
from loopwright.stages.person import actor

_LONGEST_S = 20.0


class Detached(msgspec.Struct, frozen=True):
    """A worker in the background, and where it writes what it would say."""

    loop_id: str
    pid: int
    log: Path


def start_detached(context: Context, loop_id: str) -> Detached:
    """Start it, and wait until it has taken the loop over."""
    store = loops_of(context)
    if has_worker(context, loop_id):
        raise driven_already(context, loop_id)
    context.prompts()
    # Here and not in the worker: what the rules refuse, the person who asked should hear at once.
    with store.changing(loop_id) as opened:
        if not opened.loop.is_for_a_worker:
            opened.apply(e.LoopStarted(), actor())
    output = store.paths(loop_id).progress / "worker.log"
    make_folder(output.parent)
    events = store.paths(loop_id).events
    before = events.stat().st_size
    argv = (sys.executable, "-m", "loopwright", "loop", "start", loop_id, "--project-root", str(context.project))
    pid = process.detach(argv, cwd=context.project, env=context.environment, log=output)
    until = time.monotonic() + _LONGEST_S
    while time.monotonic() < until:
        # First whether it ended, then whether it came: one that was quick has done both.
        ended, _ = os.waitpid(pid, os.WNOHANG)
        if _has_arrived(events, before, pid):
            return Detached(loop_id, pid, output)
        if ended:
            break
        time.sleep(0.02)
    said = output.read_bytes()[-2000:].decode("utf-8", "replace").splitlines()
    said = [line for line in said if line.strip() and not line.startswith("  →")]
    raise LoopRefused(
        "not_started",
        f"the worker ended at once: {said[-1] if said else 'it said nothing'}",
        hint=f"see {shown(output)}; `loopwright loop show {loop_id}` says how the loop stands",
    )


def _has_arrived(events: Path, start: int, pid: int) -> bool:
    """Whether the log says so: that somebody drives the loop does not mean that it is this one."""
    return any(
        isinstance(event, WorkerArrived) and event.worker.pid == pid
        for _, line in log.lines(events, start=start)
        for event in line.events
    )
