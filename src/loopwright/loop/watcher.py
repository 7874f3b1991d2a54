"""Watches a loop for changes by people and other tools while its worker is busy, and acts within a second."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from loopwright.errors import LoopwrightError
from loopwright.kernel.process import Cancellation, wait_for_request
from loopwright.loop.model import Held, Loop, Running
from loopwright.loop.worker_context import WorkerContext

PAUSED = "paused"
STOPPED = "stopped"
_LOOK_EVERY_S = 0.2
_Seen = tuple[tuple[int, int, int], ...]


class Watcher:
    """A thread that reads a loop's files: it freezes programs while the loop is held, and ends them after a stop.

    A hold that lasts longer than `freeze_s` ends the turn, because an agent's connection to its model would break.
    A turn that a person takes by hand has no connection, and stays open.
    """

    def __init__(self, loop_id: str, context: WorkerContext) -> None:
        self._store = context.store
        self._loop_id = loop_id
        self._cancellation = context.cancellation
        self._freezer = context.freezer
        self._freeze_s = context.settings.freeze_s
        self._on_change = context.on_change
        self._held_since: float | None = None
        self._is_by_hand = False
        self._over = Cancellation()
        self._thread = threading.Thread(target=self._watch, name=f"watcher of {loop_id}", daemon=True)

    def __enter__(self) -> Watcher:
        self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._over.request("over")
        self._thread.join()
        self._over.close()

    def _watch(self) -> None:
        seen: _Seen | None = None
        while not wait_for_request(self._over, _LOOK_EVERY_S):
            now = self._look()
            try:
                if now != seen:
                    seen = now
                    self._heed(self._store.load(self._loop_id))
            except LoopwrightError:
                continue  # the worker reports a damaged file when it has finished its action
            self._end_a_long_hold()

    def _heed(self, loop: Loop) -> None:
        if self._on_change is not None:
            self._on_change(loop)
        match loop.phase:
            case Running():
                self._held_since = None
                self._freezer.thaw()
            case Held(holds=holds) if all(hold.ends_by_itself for hold in holds):
                self._held_since = None  # nothing runs: the worker waits for the end of the hold
            case Held():
                if self._held_since is None:
                    self._held_since = time.monotonic()
                    self._freezer.freeze()
                self._is_by_hand = loop.open_turn is not None and loop.open_turn.is_by_hand
            case _:
                self._cancellation.request(STOPPED)
                self._freezer.thaw()

    def _end_a_long_hold(self) -> None:
        if (
            self._held_since is not None
            and not self._is_by_hand
            and time.monotonic() - self._held_since >= self._freeze_s
        ):
            self._cancellation.request(PAUSED)

    def _look(self) -> _Seen:
        paths = self._store.paths(self._loop_id)
        return tuple(_stat(path) for path in (paths.head, paths.state))


def _stat(path: Path) -> tuple[int, int, int]:
    try:
        status = path.stat()
    except OSError:
        return (0, 0, 0)
    return (status.st_ino, status.st_mtime_ns, status.st_size)
