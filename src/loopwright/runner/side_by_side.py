"""Does two pieces of work at the same time, if cores are free."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

_A = TypeVar("_A")
_B = TypeVar("_B")
_LOAD = Path("/proc/loadavg")


def has_free_core() -> bool:
    """Whether one core has nothing to do while this process and another keep a core each busy."""
    return _cores() - _running() >= 1


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
