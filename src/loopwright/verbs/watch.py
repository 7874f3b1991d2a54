"""`loopwright run --watch`: run the plan whenever it changes; wait while the workspace is latched."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from loopwright.errors import LoopwrightError
from loopwright.kernel.digest import sha256
from loopwright.kernel.process import Cancellation, wait_for_request
from loopwright.plan.parse import read_plan_file
from loopwright.runner.events import Listener
from loopwright.runner.latch import read_latch
from loopwright.stages.context import Context
from loopwright.verbs.run import RunOptions, RunReport, run

_LOOK_EVERY_S = 0.3


def watch(
    context: Context,
    request: RunOptions,
    listening: Callable[[], AbstractContextManager[Listener]],
    cancellation: Cancellation,
) -> Iterator[RunReport]:
    """A report for each new content of the plan file, until a stop is requested."""
    path = request.plan or context.layout.plan
    seen: str | None = None
    while cancellation.reason is None:
        digest = _digest(path)
        if digest is not None and digest != seen:
            with listening() as listener:
                report = run(context, request, listener, cancellation)
            yield report
            # The replanning agent may have written a new plan, which has already run.
            seen = _digest(path) if request.replan_with else digest
            if report.failure is not None and report.failure.code == "LATCHED":
                _wait_while_latched(context, cancellation)
                seen = None
        wait_for_request(cancellation, _LOOK_EVERY_S)


def _wait_while_latched(context: Context, cancellation: Cancellation) -> None:
    while read_latch(context.layout.latch) is not None and not wait_for_request(cancellation, _LOOK_EVERY_S):
        pass


def _digest(path: Path) -> str | None:
    try:
        return sha256(read_plan_file(path))
    except LoopwrightError:
        return None
