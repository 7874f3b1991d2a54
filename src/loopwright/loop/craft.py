"""What is special about a loop's work: who judges it, and what a builder is told. Most loops have nothing special."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import msgspec

from loopwright.loop.model import Loop, Task
from loopwright.loop.reports.model import TestResult
from loopwright.runner.order import Observer
from loopwright.runner.run_plan import Finished


class Judging(msgspec.Struct, frozen=True):
    """Steps of a plan that decide in place of the test command, and what is put in place for them."""

    steps: tuple[dict[str, object], ...]
    observer: Observer | None = None


class Craft(Protocol):
    """Asked by the actions; None is the usual way."""

    def judging(self, loop: Loop) -> Judging | None:
        """Who decides whether the work is right."""
        ...

    def results(self, loop: Loop, finished: Finished) -> tuple[TestResult, ...]:
        """What those who decide said."""
        ...

    def prompt(self, loop: Loop, task: Task) -> str | None:
        """What the builder is told."""
        ...

    def brief(self, loop: Loop, mailbox: Path) -> None:
        """Put what the builder should read where it can read it."""
        ...

    def mending(self, loop: Loop) -> str | None:
        """What is to be done about a failed validation, without asking anybody for causes."""
        ...


class Plain:
    """The usual way."""

    def judging(self, loop: Loop) -> Judging | None:
        """The test command."""
        del loop
        return None

    def results(self, loop: Loop, finished: Finished) -> tuple[TestResult, ...]:
        """Nobody is asked."""
        del loop, finished
        return ()

    def prompt(self, loop: Loop, task: Task) -> str | None:
        """The task itself."""
        del loop, task
        return None

    def brief(self, loop: Loop, mailbox: Path) -> None:
        """Nothing beyond the project."""

    def mending(self, loop: Loop) -> str | None:
        """A debugger looks for causes."""
        del loop
        return None
