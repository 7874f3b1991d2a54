"""Reports the events of a loop line by line: sentences for a pipe or a log, JSON for a program."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable

import msgspec

from loopwright.cli.language import catalogue, message
from loopwright.cli.options import echo_json_line, put
from loopwright.kernel.cells import one_line
from loopwright.loop.events import HoldPlaced
from loopwright.loop.log import Line
from loopwright.loop.model import Holder
from loopwright.loop.sentences import sentence
from loopwright.stages.context import Context
from loopwright.verbs.loop.follow import LOOK_EVERY_S, LoopFollower, Seen


def is_screen() -> bool:
    """Whether standard output is a terminal that can show a full screen."""
    return sys.stdout.isatty() and os.environ.get("TERM", "") not in ("", "dumb")


def sentences(line: Line, *, status_follows: bool = False) -> list[str]:
    """Time, actor and text of each event; one line each, even if the text has several lines.

    `status_follows`: the status of the loop is printed next, with the whole reason of a hold.
    """
    texts = (
        message("held by {holder}: the reason follows", holder=event.hold.holder)
        if status_follows and isinstance(event, HoldPlaced) and event.hold.holder is Holder.PROOF
        else sentence(event, catalogue())
        for event in line.events
    )
    return [f"{line.at[11:19]}  {line.actor:<8}  {one_line(text)}" for text in texts]


class LoopReporter:
    """Prints what is new about a loop."""

    def __init__(self, *, as_json: bool, status_follows: bool = False) -> None:
        self._as_json = as_json
        self._status_follows = status_follows
        self._had_worker: bool | None = None

    def __call__(self, seen: Seen) -> None:
        """Print what one look at the loop found."""
        for line in seen.lines:
            if self._as_json:
                text = [sentence(event) for event in line.events]
                echo_json_line({"type": "events", **msgspec.to_builtins(line), "text": text})
            else:
                for text_line in sentences(line, status_follows=self._status_follows):
                    put(text_line)
        if self._as_json:
            if seen.has_worker != self._had_worker:
                self._had_worker = seen.has_worker
                echo_json_line({"type": "worker", "loop_id": seen.loop.loop_id, "has_worker": seen.has_worker})
            for printed in seen.printed:
                for text_line in printed.lines:
                    echo_json_line({"type": "log", "log": printed.name, "text": text_line})
        sys.stdout.flush()


class BackgroundStep:
    """Repeats a step in a thread while the `with` block runs, and once more when the block ends."""

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
            # The wait ends together with the block: the end of a loop is reported at once.
            while not self._over.wait(self._every_s):
                self._step()
            self._step()
        except Exception as problem:  # noqa: BLE001 -- a failure of the view must not stop the work; raised afterwards
            self._problem = problem


def reporting(context: Context, loop_id: str, reporter: LoopReporter, *, since: int) -> BackgroundStep:
    """Report the events of a loop while a `with` block runs."""
    follower = LoopFollower(context, loop_id, since=since)
    return BackgroundStep(lambda: reporter(follower.look()), every_s=LOOK_EVERY_S)
