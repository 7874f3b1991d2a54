"""What is special about a loop's work: who judges it, and what a builder is told. Most loops have nothing special."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import msgspec

from loopwright.agents.port import NoAnswer, Role
from loopwright.loop.model import Hold, Loop, Task, Validation
from loopwright.loop.reports.model import TestResult
from loopwright.loop.test_runs import Comparison
from loopwright.runner.request import Finished, Observer

# Runs the project's own tests on base and work; None where there are none to run.
CompareTests = Callable[[], Comparison | None]


class Judging(msgspec.Struct, frozen=True):
    """Steps of a plan that decide in place of the test command, and what is put in place for them."""

    steps: tuple[dict[str, object], ...]
    observer: Observer | None = None


class Look(msgspec.Struct, frozen=True):
    """Who looks at the work, and what they are asked."""

    role: Role
    prompt: str
    # The shape of the answer.
    kind: type[msgspec.Struct]
    # How many turns in this role were taken for the same work outside of the loop.
    taken: int = 0


class Craft(Protocol):
    """Asked by the actions; None is the usual way."""

    def judging(self, loop: Loop) -> Judging | None:
        """Who decides whether the work is right."""
        ...

    def results(self, loop: Loop, finished: Finished, compare_tests: CompareTests) -> tuple[TestResult, ...]:
        """What the judges said; where they passed, also what the work did to the rest of the project."""
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

    def look(self, loop: Loop, task: Task) -> Look | None:
        """Whether a task is a look at the work, whose answer counts and whose changes do not."""
        ...

    def seen(self, loop: Loop, task: Task, answer: msgspec.Struct | NoAnswer) -> tuple[Task, ...]:
        """What is to be done because of what a look came to; `HeldBack` where a person has to see it first."""
        ...

    def stopped(self, task: Task, hold: Hold, failure: NoAnswer) -> Hold:
        """The agent of a task can't work at all: the hold for that, as a person is to see it."""
        ...

    def tries(self, loop: Loop, task: Task, failure: NoAnswer | None) -> bool:
        """Whether a task's work is only tried; `HeldBack` where its agent failed and nothing goes on without it."""
        ...

    def before_completion(self, loop: Loop, validation: Validation) -> tuple[Task, ...]:
        """What is still to be done, when everything passed, before the loop is."""
        ...

    def heed(self, loop: Loop) -> None:
        """The loop is another one while its agent works: somebody paused, resumed or stopped it. From any thread."""
        ...


class Plain:
    """The usual way."""

    def judging(self, loop: Loop) -> Judging | None:
        """The test command."""
        del loop
        return None

    def results(self, loop: Loop, finished: Finished, compare_tests: CompareTests) -> tuple[TestResult, ...]:
        """The test command has said it all."""
        del loop, finished, compare_tests
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

    def look(self, loop: Loop, task: Task) -> Look | None:
        """Every task is work."""
        del loop, task
        return None

    def seen(self, loop: Loop, task: Task, answer: msgspec.Struct | NoAnswer) -> tuple[Task, ...]:
        """Nobody looks."""
        del loop, task, answer
        return ()

    def stopped(self, task: Task, hold: Hold, failure: NoAnswer) -> Hold:
        """As it is."""
        del task, failure
        return hold

    def tries(self, loop: Loop, task: Task, failure: NoAnswer | None) -> bool:
        """Work is work."""
        del loop, task, failure
        return False

    def before_completion(self, loop: Loop, validation: Validation) -> tuple[Task, ...]:
        """Nothing."""
        del loop, validation
        return ()

    def heed(self, loop: Loop) -> None:
        """The watcher does all that is to be done."""
