"""The tools for agents, in a workspace and inside a turn: their arguments and descriptions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from msgspec import Meta

from loopwright.kernel.process import Cancellation
from loopwright.mcp_server.model import Arguments, Tool
from loopwright.reflection.model import MostLikelyWrong
from loopwright.verbs.agent_reports import LONGEST_TEXT
from loopwright.verbs.reflect import ReportInput

Said = Annotated[str, Meta(description="A sentence or two.", min_length=1, max_length=LONGEST_TEXT)]
Question = Annotated[str, Meta(description="The decision to make, and why.", min_length=1, max_length=LONGEST_TEXT)]
Option = Annotated[str, Meta(min_length=1, max_length=LONGEST_TEXT)]
ReadPath = Annotated[str, Meta(description="The path of a row.", min_length=1, max_length=1000)]
Confidence = Annotated[float, Meta(description="How sure you are that the work is right.", ge=0, le=1)]
Known = Annotated[str, Meta(description="What you know that the diff does not show.", max_length=LONGEST_TEXT)]
Surface = Literal["auth", "data", "infra", "build", "ui", "test", "docs", "none"]


class Nothing(Arguments, frozen=True, kw_only=True):
    """Nothing."""


class ReadContext(Arguments, frozen=True, kw_only=True):
    """Which file; without a path, the list of files."""

    path: ReadPath | None = None


class Progress(Arguments, frozen=True, kw_only=True):
    """A progress note."""

    text: Said


class RequestDecision(Arguments, frozen=True, kw_only=True):
    """A question for a person."""

    question: Question
    options: Annotated[tuple[Option, ...], Meta(description="Possible answers.", max_length=10)] = ()
    scope_wanted: Annotated[
        tuple[Option, ...], Meta(description="Paths or globs that you ask to change outside your scope.", max_length=20)
    ] = ()


class SelfReport(Arguments, frozen=True, kw_only=True):
    """The agent's opinion of its own work."""

    confidence: Confidence | None = None
    most_likely_wrong: Annotated[str, Meta(description="What is most likely wrong.", max_length=4000)] | None = None
    surface: Annotated[Surface, Meta(description="Where that would be.")] = "none"
    known_not_in_diff: Known | None = None

    def report(self) -> ReportInput:
        """The stored form."""
        wrong = self.most_likely_wrong
        most_likely = MostLikelyWrong(surface=self.surface, description=wrong) if wrong else None
        return ReportInput(self.confidence, most_likely, self.known_not_in_diff)


def self_report_tool(does: Callable[[SelfReport, Cancellation], dict[str, Any]]) -> Tool[SelfReport]:
    """The tool that is the same in a workspace and inside a turn."""
    return Tool(
        "self_report",
        SelfReport,
        does,
        "Report your opinion of your own work before you end your turn: how sure you are, what is most likely wrong, "
        "what the diff does not show. The report is recorded, and never lowers the required review.",
    )
