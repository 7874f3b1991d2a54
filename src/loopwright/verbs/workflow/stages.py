"""The stages of a workflow: clarify, answer, plan, review, archive; all stages by an autopilot; import."""

from __future__ import annotations

from loopwright.stages.archiving import ArchiveReport, ArchiveRequest
from loopwright.stages.archiving import archive_change as archive
from loopwright.stages.autopilot import AutopilotRequest
from loopwright.stages.autopilot import run_autopilot as autopilot
from loopwright.stages.clarifying.answers import NOT_ACCEPTED
from loopwright.stages.clarifying.answers import answer_question as answer
from loopwright.stages.clarifying.rounds import ClarifyReport, ClarifyRequest
from loopwright.stages.clarifying.rounds import clarify_change as clarify
from loopwright.stages.planning.stage import plan_change as plan
from loopwright.stages.planning.state import PlanRequest
from loopwright.stages.reviewing.reviewers import ReviewRequest
from loopwright.stages.reviewing.stage import review_change as review
from loopwright.stages.takeover.workflows import TOOLS, TakenOver, TakeOverRequest
from loopwright.stages.takeover.workflows import take_over_workspace as take_over

__all__ = [
    "NOT_ACCEPTED",
    "TOOLS",
    "ArchiveReport",
    "ArchiveRequest",
    "AutopilotRequest",
    "ClarifyReport",
    "ClarifyRequest",
    "PlanRequest",
    "ReviewRequest",
    "TakeOverRequest",
    "TakenOver",
    "answer",
    "archive",
    "autopilot",
    "clarify",
    "plan",
    "review",
    "take_over",
]
