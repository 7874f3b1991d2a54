"""Removes the private folders of agents whose work is over: they hold sessions, which nobody goes on with."""

from __future__ import annotations

from loopwright.errors import LoopwrightError
from loopwright.loop.worker_sandbox import work_of
from loopwright.sandbox import homes, place
from loopwright.stages.context import Context
from loopwright.stages.stores import loops_of


def drop_finished_homes(context: Context) -> None:
    """Those of loops that are over or gone, and what a process that died left of other work."""
    root = context.wanted_sandbox_root()
    goes_on = {work_of(loop_id) for loop_id in loops_of(context).ids() if not _is_over(context, loop_id)}
    for work in homes.works_with_homes(root, context.project):
        if work not in goes_on and not place.is_in_use(root / work):
            homes.drop_homes(root, context.project, work)


def _is_over(context: Context, loop_id: str) -> bool:
    try:
        return loops_of(context).load(loop_id).is_over
    except LoopwrightError:
        return False  # what can't be read may still be mended
