"""How close a run of sleeping steps is to its critical path."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from pathlib import Path

from measure import Way, duration, medians, timed
from report import Row, verdict
from workspace import Workspace

_JOBS = 8
_ROUNDS = 5
_START_UP_S = 0.3

# step -> (seconds of sleep, what it waits for). At most eight can run at once, so jobs are not the limit.
_DAG: Mapping[str, tuple[float, tuple[str, ...]]] = {
    "fetch": (0.3, ()),
    "tools": (0.2, ()),
    "generate": (0.4, ("fetch",)),
    "lint-1": (0.3, ("tools",)),
    "lint-2": (0.5, ("tools", "fetch")),
    "lint-join": (0.1, ("lint-1", "lint-2")),
    "core": (0.5, ("generate", "tools")),
    "docs-1": (0.2, ("generate",)),
    "docs-2": (0.4, ("docs-1",)),
    "docs-3": (0.3, ("docs-2",)),
    "build-a": (0.6, ("core",)),
    "build-b": (0.4, ("core",)),
    "build-c": (0.3, ("core",)),
    "build-d": (0.5, ("core", "lint-join")),
    "link": (0.2, ("build-a", "build-b")),
    "pack": (0.3, ("build-c", "build-d")),
    "test-1": (0.5, ("link",)),
    "test-2": (0.3, ("link",)),
    "test-3": (0.4, ("link", "pack")),
    "test-4": (0.2, ("pack",)),
    "test-5": (0.6, ("pack",)),
    "site": (0.3, ("docs-3", "link")),
    "report": (0.3, ("test-1", "test-2", "test-3", "test-4", "test-5")),
    "publish": (0.2, ("report", "site", "lint-join")),
}


def critical_path() -> float:
    """The longest chain of sleeps: no run can be faster."""

    @functools.cache
    def until(step: str) -> float:
        seconds, before = _DAG[step]
        return seconds + max(map(until, before), default=0.0)

    return max(map(until, _DAG))


def measure(folder: Path) -> Iterator[Row]:
    workspace = Workspace(folder)
    plan = workspace.plan([(name, f"sleep {seconds}", before) for name, (seconds, before) in _DAG.items()])
    arguments = ("run", "--plan", str(plan), "--jobs", str(_JOBS))
    way = Way("loopwright", lambda: timed(lambda: workspace.run(*arguments)))
    (ours,) = medians(f"{len(_DAG)} sleeping steps", [way], _ROUNDS)
    shortest = critical_path()
    limit = 1.05 * shortest + _START_UP_S
    yield Row(
        f"{len(_DAG)} sleeping steps with --jobs {_JOBS}, whole process",
        f"<= {limit:.2f} s (1.05 x + 0.3 s)",
        f"{ours:.2f} s",
        verdict(ours <= limit),
        duration(ours),
        f"critical path: {duration(shortest)}",
    )
