"""`loopwright loop watch, logs`: follow a loop as it changes."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from loopwright.kernel.clock import stamp
from loopwright.kernel.locks import is_held
from loopwright.kernel.process import Cancellation, wait_for_request
from loopwright.loop import log
from loopwright.loop.clocking import Clocked, clocked, clocked_now
from loopwright.loop.events import ActionStarted
from loopwright.loop.model import Loop
from loopwright.stages.context import Context, loops_of
from loopwright.verbs.loop.agent_logs import Printed, Tail, file_stat

LOOK_EVERY_S = 0.2
_RECENT = 100


class Seen(msgspec.Struct, frozen=True):
    """A loop, its events and output since the last look, and whether a process drives it."""

    loop: Loop
    lines: tuple[log.Line, ...]
    has_worker: bool
    clocked: Clocked = Clocked()
    printed: tuple[Printed, ...] = ()


class LoopFollower:
    """Looks at a loop repeatedly; a file is read again only if it changed.

    Events up to the revision `since` are left out. With `whole_logs` the output is read from the start.
    """

    def __init__(self, context: Context, loop_id: str, *, since: int = 0, whole_logs: bool = False) -> None:
        self._context = context
        self._loop_id = loop_id
        self._since = since
        self._store = loops_of(context)
        self._tail = Tail(context.layout, whole=whole_logs)
        self._offset = 0
        self._clocked = Clocked()
        self._stats: tuple[tuple[int, int, int], ...] = ()
        self._loop: Loop | None = None

    def look(self) -> Seen:
        """The current loop, and what is new."""
        loop = self._loop
        lines: tuple[log.Line, ...] = ()
        stats = self._stat()
        if loop is None or stats != self._stats:
            loop, lines = self._store.load(self._loop_id), self._new_lines()
            self._loop, self._stats = loop, stats
        has_worker = is_held(self._context.layout.loop_worker(self._loop_id))
        now = stamp(self._context.clock())
        clocks = clocked_now(self._clocked, now, has_worker=has_worker)
        started = tuple(
            event.action_id for line in lines[-_RECENT:] for event in line.events if isinstance(event, ActionStarted)
        )
        return Seen(loop, lines, has_worker, clocks, self._tail.read(loop, started))

    def _new_lines(self) -> tuple[log.Line, ...]:
        entries = list(log.lines(self._store.paths(self._loop_id).events, start=self._offset))
        self._offset = entries[-1][0] if entries else self._offset
        for _, line in entries:
            self._clocked = clocked(self._clocked, line)
        return tuple(line for _, line in entries if line.revision > self._since)

    def _stat(self) -> tuple[tuple[int, int, int], ...]:
        """The log changes with each event; other tools write the state file."""
        paths = self._store.paths(self._loop_id)
        return tuple(file_stat(path) for path in (paths.events, paths.state))


def follow(
    context: Context, loop_id: str, cancellation: Cancellation, *, since: int = 0, whole_logs: bool = False
) -> Iterator[Seen]:
    """The current loop, then each change, until the loop ends or a stop is requested."""
    follower = LoopFollower(context, loop_id, since=since, whole_logs=whole_logs)
    had_worker = None
    while True:
        seen = follower.look()
        if seen.lines or seen.printed or seen.has_worker != had_worker:
            had_worker = seen.has_worker
            yield seen
        if seen.loop.is_over or wait_for_request(cancellation, LOOK_EVERY_S):
            return


def history(context: Context, loop_id: str, *, since: int = 0) -> Iterator[log.Line]:
    """The lines of the log after a revision, oldest first."""
    store = loops_of(context)
    store.load(loop_id)
    return (line for _, line in log.lines(store.paths(loop_id).events) if line.revision > since)


def agent_output(context: Context, loop_id: str, cancellation: Cancellation | None = None) -> Iterator[Printed]:
    """The output of agents and tests, oldest first. With a cancellation it follows the loop until then or its end."""
    if cancellation is None:
        yield from LoopFollower(context, loop_id, whole_logs=True).look().printed
        return
    for seen in follow(context, loop_id, cancellation, whole_logs=True):
        yield from seen.printed
