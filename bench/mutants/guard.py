"""A pytest plugin: a mutant of code that ends processes or removes files can't reach mutmut, which runs it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

_here = Path.cwd()


def _refusing(send: Callable[[int, int], None], protected: frozenset[int]) -> Callable[[int, int], None]:
    def send_if_allowed(pid: int, number: int) -> None:
        if number and (abs(pid) in protected or pid in {0, -1}):
            os._exit(1)  # the mutant is noticed; an exception could be caught
        send(pid, number)

    return send_if_allowed


def pytest_collection_finish() -> None:
    """Protect all processes that run now, and leave the folder with the results: `os.scandir(None)` lists it."""
    running = frozenset(int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()) - {os.getpid()}
    os.kill, os.killpg = _refusing(os.kill, running), _refusing(os.killpg, running)
    os.chdir(tempfile.mkdtemp())


def pytest_sessionfinish() -> None:
    """Go back for mutmut, which writes its results."""
    os.chdir(_here)
