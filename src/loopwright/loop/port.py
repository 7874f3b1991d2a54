"""What the worker of a loop is given from above: the parts of a build, and the store of reflections."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import msgspec

from loopwright.agents.port import NoAnswer
from loopwright.agents.structured import AgentRequest
from loopwright.judging.reports.model import TestResult
from loopwright.judging.scope import WorkScope
from loopwright.loop.model import Hold, Loop, Task, Tree
from loopwright.loop.proof import LeftOut
from loopwright.loop.ran_checks import RanChecks
from loopwright.loop.split_work import SplitWork
from loopwright.loop.work_verdict import WorkVerdict
from loopwright.reflection.capture.self_report import SelfReport
from loopwright.reflection.model import Point
from loopwright.reflection.points import ReflectedWork
from loopwright.runner.request import Finished, Observer

# Runs steps on a tree of the work, or on the project as it is; counts the time. The last arguments are the run on the
# base with which the results are compared, and the scope of the work.
RunSteps = Callable[[Tree | None, tuple[dict[str, object], ...], str, Observer, str | None, WorkScope | None], Finished]
# Runs the project's own tests on base and work, except where the checks ran the same commands; None without a test
# command.
TestProject = Callable[[SplitWork, RanChecks], WorkVerdict | None]


class JudgedByChecks(msgspec.Struct, frozen=True, kw_only=True):
    """What the checks of a plan said, the run that decides, and changes that were left out."""

    run_id: str
    # A result for each check, and then each test of the project that fails.
    results: tuple[TestResult, ...]
    checks: int
    needs_protected: bool = False
    left_out: LeftOut | None = None


class Judging(Protocol):
    """One validation of the work, in place of the test command."""

    def judge(self, run: RunSteps, test_project: TestProject) -> JudgedByChecks:
        """The results; if the checks passed, also what the work did to the rest of the project."""
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
