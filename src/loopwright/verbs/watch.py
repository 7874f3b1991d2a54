"""`loopwright run --watch`: run whenever another plan appears, respecting the latch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from loopwright.errors import LoopwrightError
from loopwright.kernel.digest import sha256
from loopwright.kernel.process import Cancellation, wait_for_request
from loopwright.plan.parse import read_plan_file
from loopwright.runner.events import Listener
from loopwright.verbs.context import Context
from loopwright.verbs.run import RunReport, RunRequest, run

_LOOK_EVERY_S = 0.3


def watch(
    context: Context,
    request: RunRequest,
    listening: Callable[[], AbstractContextManager[Listener]],
    cancellation: Cancellation,
) -> Iterator[RunReport]:
    """One report for each plan that was seen, until a stop is requested."""
    path = request.plan or context.layout.plan
    seen: str | None = None
    while cancellation.reason is None:
        try:
            digest: str | None = sha256(read_plan_file(path))
        except LoopwrightError:
            digest = None
        if digest is not None and digest != seen:
            seen = digest
            with listening() as listener:
                yield run(context, request, listener, cancellation)
        wait_for_request(cancellation, _LOOK_EVERY_S)
