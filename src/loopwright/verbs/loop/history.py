"""`loopwright loop logs`: every change of a loop, as it was appended."""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.loop import log
from loopwright.verbs.context import Context
from loopwright.verbs.loop.control import store_of
from loopwright.verbs.loop.look import resolve


def history(context: Context, name: str) -> Iterator[log.Line]:
    """The lines of the log, oldest first."""
    loop_id = resolve(context, name)
    store = store_of(context)
    store.load(loop_id)
    return (line for _, line in log.lines(store.paths(loop_id).events))
