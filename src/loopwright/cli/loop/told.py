"""What happens to a loop, line by line: sentences for a pipe or a log, JSON for a program."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable

import msgspec

from loopwright.cli.language import spoken
from loopwright.cli.options import put, say_json_line
from loopwright.kernel.cells import one_line
from loopwright.loop.log import Line
from loopwright.loop.sentences import sentence
from loopwright.stages.context import Context
from loopwright.verbs.loop.follow import LOOK_EVERY_S, LoopFollower, Seen


def is_screen() -> bool:
    """Whether standard output is a terminal that a whole screen can be drawn on."""
    return sys.stdout.isatty() and os.environ.get("TERM", "") not in ("", "dumb")


def sentences(line: Line) -> list[str]:
    """When, by whom, what; a line each, however many lines the text has."""
    return [f"{line.at[11:19]}  {line.actor:<8}  {one_line(sentence(event, spoken()))}" for event in line.events]


class LoopReporter:
    """Says what is new about a loop."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._had_worker: bool | None = None

    def __call__(self, seen: Seen) -> None:
        """One look's worth of it."""
        for line in seen.lines:
            if self._as_json:
                text = [sentence(event) for event in line.events]
                say_json_line({"type": "events", **msgspec.to_builtins(line), "text": text})
            else:
                for text_line in sentences(line):
                    put(text_line)
        if self._as_json:
            self._say_worker(seen)
            for printed in seen.printed:
                for text_line in printed.lines:
                    say_json_line({"type": "log", "log": printed.name, "text": text_line})
        sys.stdout.flush()

    def _say_worker(self, seen: Seen) -> None:
        if seen.has_worker != self._had_worker:
            self._had_worker = seen.has_worker
            say_json_line({"type": "worker", "loop_id": seen.loop.loop_id, "has_worker": seen.has_worker})


class BackgroundStep:
    """Does a step again and again in a thread beside the work of a block, and once more when the block is over."""

    def __init__(self, step: Callable[[], None], *, every_s: float = 0.0) -> None:
        self._step = step
        self._every_s = every_s
        self._over = threading.Event()
        self._problem: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="view", daemon=True)

    def __enter__(self) -> BackgroundStep:
        self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._over.set()
        self._thread.join()
        if self._problem is not None and problem[0] is None:
            raise self._problem

    def _run(self) -> None:
        try:
            self._step()
            # The end of the block is not waited for: a loop that is done says so at once.
            while not self._over.wait(self._every_s):
                self._step()
            self._step()
        except Exception as problem:  # noqa: BLE001 -- what is shown must not end what is done: it is raised afterwards
            self._problem = problem


def telling(context: Context, loop_id: str, teller: LoopReporter, *, since: int) -> BackgroundStep:
    """Tell what happens while a block works."""
    follower = LoopFollower(context, loop_id, since=since)
    return BackgroundStep(lambda: teller(follower.look()), every_s=LOOK_EVERY_S)
