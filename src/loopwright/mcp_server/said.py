"""What an agent says, as the tools of a workspace and those of a turn take it."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

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
