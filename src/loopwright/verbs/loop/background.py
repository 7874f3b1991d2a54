"""`loopwright loop start --detach`: a worker that continues after its terminal is closed."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

import msgspec

from loopwright.errors import LoopRefused, LoopwrightError, StorageFailed
from loopwright.kernel import codec, process
from loopwright.kernel.files import make_folder, replace_without_sync, shown
from loopwright.loop import events as e
from loopwright.loop import log
from loopwright.loop.events import WorkerArrived
from loopwright.stages.context import Context, loops_of
from loopwright.stages.loop_control import has_worker
from loopwright.stages.loop_worker import driven_already
from loopwright.stages.person import actor

_LONGEST_S = 20.0


class Detached(msgspec.Struct, frozen=True):
    """A worker in the background, and the file with its output."""

    loop_id: str
    pid: int
    log: Path


class StartFailure(msgspec.Struct, frozen=True):
    """Why a worker could not start; a message from the worker to the process that started it."""

    code: str
    message: str


def start_detached(context: Context, loop_id: str) -> Detached:
    """Start a worker, and wait until it drives the loop."""
    store = loops_of(context)
    if has_worker(context, loop_id):
        raise driven_already(context, loop_id)
    context.prompts()
    # Here and not in the worker: the caller should see a refusal of the rules at once.
    with store.changing(loop_id) as opened:
        if not opened.loop.is_for_a_worker:
            opened.apply(e.LoopStarted(), actor())
    output = store.paths(loop_id).progress / "worker.log"
    make_folder(output.parent)
    events = store.paths(loop_id).events
    before = events.stat().st_size
    failure = output.with_name("worker-failure.json")
    failure.unlink(missing_ok=True)
    argv = (
        sys.executable, "-m", "loopwright", "loop", "start", loop_id, "--project-root", str(context.project),
        "--failure-file", str(failure),
    )  # fmt: skip
    pid = process.detach(argv, cwd=context.project, env=context.environment, log=output)
    until = time.monotonic() + _LONGEST_S
    while time.monotonic() < until:
        # First whether the worker ended, then whether it arrived: a quick worker has done both.
        ended, _ = os.waitpid(pid, os.WNOHANG)
        if _has_arrived(events, before, pid):
            return Detached(loop_id, pid, output)
        if ended:
            break
        time.sleep(0.02)
    raise LoopRefused(
        "not_started",
        f"the worker ended at once: {_reason(failure)}",
        hint=f"see {shown(output)}; `loopwright loop show {loop_id}` shows the loop",
    )


def write_failure(path: Path, problem: LoopwrightError) -> None:
    """Report to the process that started this worker why the worker ends."""
    with suppress(StorageFailed):
        replace_without_sync(path, codec.to_json(StartFailure(problem.code, problem.message)))


def _reason(path: Path) -> str:
    failure = codec.read_json(path, StartFailure)
    return f"{failure.code}: {failure.message}" if failure is not None else "it gave no reason"


def _has_arrived(events: Path, start: int, pid: int) -> bool:
    """Whether the log names this worker: another process may have been faster."""
    return any(
        isinstance(event, WorkerArrived) and event.worker.pid == pid
        for _, line in log.lines(events, start=start)
        for event in line.events
    )
