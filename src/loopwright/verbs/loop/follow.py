"""`loopwright loop watch`: a loop as it changes, from any terminal."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from loopwright.kernel.locks import is_held
from loopwright.kernel.process import Cancellation, wait_for_request
from loopwright.loop import log
from loopwright.loop.model import Completed, Failed, Loop
from loopwright.verbs.context import Context
from loopwright.verbs.loop.control import store_of

_LOOK_EVERY_S = 0.2


class Seen(msgspec.Struct, frozen=True):
    """How a loop stands, what happened since the last look, and whether a process drives it."""

    loop: Loop
    lines: tuple[log.Line, ...]
    has_worker: bool


def follow(context: Context, loop_id: str, cancellation: Cancellation) -> Iterator[Seen]:
    """A look at each change, the first at once, until the loop is over or the watcher has seen enough."""
    store = store_of(context)
    paths = store.paths(loop_id)
    offset, before = 0, None
    while True:
        loop = store.load(loop_id)
        has_worker = is_held(context.layout.loop_worker(loop_id))
        if (loop.revision, has_worker) != before:
            found = list(log.lines(paths.events, start=offset))
            offset = found[-1][0] if found else offset
            before = (loop.revision, has_worker)
            yield Seen(loop, tuple(line for _, line in found), has_worker)
        if isinstance(loop.phase, Completed | Failed) or wait_for_request(cancellation, _LOOK_EVERY_S):
            return
