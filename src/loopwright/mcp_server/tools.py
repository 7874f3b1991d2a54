"""The tools that agents get, in a workspace and inside a turn: what they take and what they do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec
from msgspec import Meta

from loopwright.kernel.process import Cancellation
from loopwright.mcp_server.model import Arguments, Tool
from loopwright.reflection.model import MostLikelyWrong
from loopwright.verbs.agent_says import MOST_SAID
from loopwright.verbs.reflect import ReportInput

Said = Annotated[str, Meta(description="A sentence or two.", min_length=1, max_length=MOST_SAID)]
Question = Annotated[str, Meta(description="What has to be decided, and why.", min_length=1, max_length=MOST_SAID)]
Option = Annotated[str, Meta(min_length=1, max_length=MOST_SAID)]
ReadPath = Annotated[str, Meta(description="A path of one of the rows.", min_length=1, max_length=1000)]
Confidence = Annotated[float, Meta(description="How sure you are that it is right.", ge=0, le=1)]
Known = Annotated[str, Meta(description="What you know that the diff does not show.", max_length=MOST_SAID)]
Surface = Literal["auth", "data", "infra", "build", "ui", "test", "docs", "none"]


def report_of(confidence: float | None, wrong: str | None, surface: Surface, known: str | None) -> ReportInput:
    """The three fields of a self-report."""
    most_likely = MostLikelyWrong(surface=surface, description=wrong) if wrong else None
    return ReportInput(confidence=confidence, most_likely_wrong=most_likely, known_not_in_diff=known)


_A = TypeVar("_A", bound=Arguments)


class Nothing(Arguments, frozen=True, kw_only=True):
    """Nothing."""


class ReadContext(Arguments, frozen=True, kw_only=True):
    """Which file; without one the list of them."""

    path: ReadPath | None = None


class Progress(Arguments, frozen=True, kw_only=True):
    """What to say."""

    text: Said


class RequestDecision(Arguments, frozen=True, kw_only=True):
    """What to ask."""

    question: Question
    options: Annotated[tuple[Option, ...], Meta(description="What could be answered.", max_length=10)] = ()


class SelfReport(Arguments, frozen=True, kw_only=True):
    """What the doer thinks of its own work."""

    confidence: Confidence | None = None
    most_likely_wrong: Annotated[str, Meta(description="What is most likely wrong.", max_length=4000)] | None = None
    surface: Annotated[Surface, Meta(description="Where that would be.")] = "none"
    known_not_in_diff: Known | None = None

    def report(self) -> ReportInput:
        """As it is kept."""
        return report_of(self.confidence, self.most_likely_wrong, self.surface, self.known_not_in_diff)


class Way(msgspec.Struct, Generic[_A], frozen=True):
    """What a tool takes and does in one place, in words for a model."""

    takes: type[_A]
    does: Callable[[_A, Cancellation], dict[str, Any]]
    description: str


def tools(
    *,
    status: Way[Any],
    next: Way[Any],  # noqa: A002 -- a tool's name
    context: Way[Any],
    progress: Way[Any],
    request_decision: Way[Any],
    self_report: Callable[[SelfReport, Cancellation], dict[str, Any]],
    run_checks: Way[Any],
) -> tuple[Tool[Any], ...]:
    """All of them, in the order in which they are listed; the first three leave everything as it is."""
    reading = {"status": status, "next": next, "context": context}
    said = Way(
        SelfReport,
        self_report,
        "Leave what you think of your own work, before you end your turn: how sure you are, what is most likely wrong, "
        "what the diff does not show. It is recorded, and never lowers a review.",
    )
    saying = {"progress": progress, "request_decision": request_decision, "self_report": said, "run_checks": run_checks}
    return tuple(
        Tool(name=name, takes=way.takes, does=way.does, description=way.description, is_reading=name in reading)
        for name, way in (reading | saying).items()
    )
