"""Does pieces of work at the same time, if cores are free."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Generic, TypeVar

from loopwright.kernel.process import Cancellation

_A = TypeVar("_A")
_B = TypeVar("_B")
_LOAD = Path("/proc/loadavg")
_LOOK_S = 0.05


def has_free_core() -> bool:
    """Whether one core has nothing to do while this process and another keep a core each busy."""
    return _cores() - _running() >= 1


def may_run_beside(setting: str) -> bool:
    """Whether the setting `loop.side_by_side` allows another run now."""
    return setting == "always" or (setting == "auto" and has_free_core())


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _running() -> float:
    """How many threads of the machine run now, this one among them. An average would count work that is over."""
    with suppress(OSError, ValueError, IndexError):
        return int(_LOAD.read_text(encoding="ascii").split()[3].partition("/")[0])
    return 1 + os.getloadavg()[0]


def both(first: Callable[[], _A], second: Callable[[], _B]) -> tuple[_A, _B]:
    """The results of both, which run at the same time. If one raises, the other still comes to its end."""
    with ThreadPoolExecutor(1, "side-by-side") as pool:
        other = pool.submit(second)
        result = first()
        return result, other.result()


class WorkAhead(Generic[_A]):
    """One piece of work that begins when a core is free, before it is known whether its result is needed.

    At the end of the block, work that was not needed is stopped.
    """

    def __init__(self, cancellation: Cancellation) -> None:
        self._cancellation = cancellation
        self._stack = ExitStack()
        self._lock = threading.Lock()
        # Nothing begins any more.
        self._over = threading.Event()
        self._begun = threading.Event()
        self._future: Future[_A | None] | None = None

    def __enter__(self) -> WorkAhead[_A]:
        return self

    def __exit__(self, *problem: object) -> None:
        self.stop()

    def offer(self, work: Callable[[Cancellation], _A], *, at_once: bool = False) -> None:
        """Let the work begin as soon as a core is free."""
        cancellation = self._stack.enter_context(self._cancellation.nested())
        pool = self._stack.enter_context(ThreadPoolExecutor(1, "work-ahead"))
        # The last one in is the first one out: the pool waits for work that was told to stop.
        self._stack.callback(cancellation.request, "over")
        if at_once:
            self._begun.set()
        self._future = pool.submit(self._run, work, cancellation)

    @property
    def has_begun(self) -> bool:
        """Whether the work runs or ran next to other work."""
        return self._begun.is_set()

    @property
    def may_disturb(self) -> bool:
        """Whether the work runs, or may begin at any time."""
        return self._future is not None and not self._future.done() and (self.has_begun or not self._over.is_set())

    def take(self) -> _A | None:
        """The result; None if the work was stopped or has not begun: it does not begin any more."""
        with self._lock:
            is_stopped = self._over.is_set()
            self._over.set()
        if is_stopped or self._future is None or not self.has_begun:
            return None
        return self._future.result()

    def stop(self) -> None:
        """Stop the work: its result is not needed, or other work must run by itself."""
        with self._lock:
            self._over.set()
        self._stack.close()

    def _run(self, work: Callable[[Cancellation], _A], cancellation: Cancellation) -> _A | None:
        while not self.has_begun:
            if not has_free_core():
                self._over.wait(_LOOK_S)
            with self._lock:
                if self._over.is_set():
                    return None
                if has_free_core():
                    self._begun.set()
        return work(cancellation)
