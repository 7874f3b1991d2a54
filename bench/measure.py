"""Timing: ways to do the same task, measured in turn, so that a change of the machine's load affects all of them.

Comparisons and limits are in `report`.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Way:
    """One way to do the task: `once` does it and returns the seconds of the relevant part."""

    name: str
    once: Callable[[], float]


def medians(title: str, ways: Sequence[Way], rounds: int) -> list[float]:
    """The median of each way, in order. The first of `rounds + 1` rounds is a warm-up and does not count."""
    taken: list[list[float]] = [[] for _ in ways]
    for number in range(rounds + 1):
        seconds = [way.once() for way in ways]
        shown = ", ".join(f"{way.name} {duration(value)}" for way, value in zip(ways, seconds, strict=True))
        say(f"  {title}: {'warm-up' if number == 0 else f'round {number} of {rounds}'}: {shown}")
        if number:
            for values, value in zip(taken, seconds, strict=True):
                values.append(value)
    return [statistics.median(values) for values in taken]


def timed(action: Callable[[], object]) -> float:
    """The duration of a call."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def settled(action: Callable[[], object]) -> float:
    """The duration of a call, after earlier writes have reached the disk."""
    os.sync()
    return timed(action)


def run(argv: Sequence[str | Path], *, cwd: Path, env: Mapping[str, str], accepts: tuple[int, ...] = (0,)) -> bytes:
    """Run a program to its end and return its output. Another exit code than these ends the benchmark."""
    done = subprocess.run(argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode not in accepts:
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
        raise SystemExit(f"{' '.join(map(str, argv[:4]))} … exited with {done.returncode}: {said[-2000:]}")
    return done.stdout


def remove(folder: Path) -> None:
    """Remove a tree in the fastest way; never part of a measured time."""
    with suppress(FileNotFoundError):
        subprocess.run(("rm", "-rf", "--", folder), check=False)


def duration(seconds: float) -> str:
    """Seconds as text for people."""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.2f} s"


def say(line: str) -> None:
    """Print a line of progress at once."""
    print(line, flush=True)
