"""`loopwright loop logs`: every change of a loop, as it was appended, and what its agents printed."""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.kernel.process import Cancellation, wait_for_request
from loopwright.loop import log
from loopwright.stages.context import Context
from loopwright.stages.stores import loops_of
from loopwright.verbs.loop.agent_logs import Printed
from loopwright.verbs.loop.follow import LOOK_EVERY_S, LoopFollower


def history(context: Context, loop_id: str, *, since: int = 0) -> Iterator[log.Line]:
    """The lines of the log behind a revision, oldest first."""
    store = loops_of(context)
    store.load(loop_id)
    return (line for _, line in log.lines(store.paths(loop_id).events) if line.revision > since)


def agent_output(context: Context, loop_id: str, cancellation: Cancellation | None = None) -> Iterator[Printed]:
    """What the loop's agents and tests printed, oldest first; with a cancellation it goes on until that or the end."""
    follower = LoopFollower(context, loop_id, whole_logs=True)
    while True:
        seen = follower.look()
        yield from seen.printed
        if cancellation is None or seen.loop.is_over or wait_for_request(cancellation, LOOK_EVERY_S):
            return
