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
from loopwright.kernel.locks import is_held
from loopwright.loop import commands as c
from loopwright.verbs.context import Context
from loopwright.verbs.loop.control import actor, store_of

_LONGEST_S = 20.0


class Detached(msgspec.Struct, frozen=True):
    """A worker in the background, and where it writes what it would say."""

    loop_id: str
    pid: int
    log: Path


def start_detached(context: Context, loop_id: str) -> Detached:
    """Start it, and wait until it has taken the loop over."""
    store = store_of(context)
    # Here and not in the worker: what the rules refuse, the person who asked should hear at once.
    with store.changing(loop_id) as opened:
        if not opened.loop.is_for_a_worker:
            opened.apply(c.Start(), actor())
    log = store.paths(loop_id).progress / "worker.log"
    make_folder(log.parent)
    argv = (sys.executable, "-m", "loopwright", "loop", "start", loop_id, "--project-root", str(context.project))
    pid = process.detach(argv, cwd=context.project, env=context.environment, log=log)
    until = time.monotonic() + _LONGEST_S
    while time.monotonic() < until:
        if is_held(context.layout.loop_worker(loop_id)):
            return Detached(loop_id, pid, log)
        ended, _ = os.waitpid(pid, os.WNOHANG)
        if ended:
            break
        time.sleep(0.02)
    said = log.read_bytes()[-2000:].decode("utf-8", "replace").strip().splitlines()
    raise LoopRefused(
        "not_started",
        f"the worker ended at once: {said[-1] if said else 'it said nothing'}",
        hint=f"see {shown(log)}; `loopwright loop show {loop_id}` says how the loop stands",
    )
