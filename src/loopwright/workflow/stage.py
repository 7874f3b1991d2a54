"""The stages of a change."""

from __future__ import annotations

from enum import StrEnum


class Stage(StrEnum):
    """The stage of a change."""

    CLARIFY = "clarify"
    PLAN = "plan"
    BUILD = "build"
    REVIEW = "review"
    DONE = "done"
