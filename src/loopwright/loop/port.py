"""What the worker of a loop is given from above: the parts of a build, and the store of reflections."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import msgspec

from loopwright.agents.port import NoAnswer
from loopwright.agents.structured import AgentRequest
from loopwright.loop.model import Hold, Loop, Task
from loopwright.loop.reports.model import TestResult
from loopwright.loop.test_runs import Comparison
from loopwright.reflection.capture.self_report import SelfReport
from loopwright.reflection.model import Point
from loopwright.reflection.points import ReflectedWork
from loopwright.runner.request import Finished, Observer

# Runs the project's own tests on base and work; None without a test command or without changes.
CompareTests = Callable[[], Comparison | None]


class Judging(Protocol):
    """One validation of the work, in place of the test command."""

    @property
    def steps(self) -> tuple[dict[str, object], ...]:
        """The steps of the plan that decides."""
        ...

    @property
    def observer(self) -> Observer:
        """Looks at the sandbox before and after the steps."""
        ...

    def results(self, finished: Finished, compare_tests: CompareTests) -> tuple[TestResult, ...]:
        """What the steps said; if they passed, also what the work did to the rest of the project."""
        ...


class Briefing(Protocol):
    """What the builder of one task is told."""

    def prompt(self) -> str:
        """The prompt."""
        ...

    def leave_in(self, mailbox: Path) -> None:
        """Put the documents that the builder should read into the mailbox."""
        ...


class Lanes(Protocol):
    """What a build does beyond its slices: an agent looks at the work, and the builder tidies it up."""

    def look(self, task: Task) -> AgentRequest[msgspec.Struct] | None:
        """The question, if the task is a look at the work. Its answer counts, and its changes do not."""
        ...

    def after_look(self, loop: Loop, answer: msgspec.Struct | NoAnswer) -> tuple[Task, ...]:
        """The tasks that follow from the answer; `HeldBack` if a person has to see the answer first."""
        ...

    def stopped(self, task: Task, hold: Hold, failure: NoAnswer) -> Hold:
        """The hold for a task whose agent can't work at all, as a person should see it."""
        ...

    def is_tried(self, loop: Loop, task: Task, failure: NoAnswer | None) -> bool:
        """Whether the task's work is dropped if it breaks something; `HeldBack` if its agent can't be asked again."""
        ...


class Reflections(Protocol):
    """Keeps what builders say about their work."""

    def keep(self, work: ReflectedWork, said: SelfReport, point: Point | None = None) -> None:
        """Write a reflection; `OSError` or `LoopwrightError` if that fails."""

    def has(self, work: ReflectedWork, point: Point) -> bool:
        """Whether a reflection of this session and point exists."""
