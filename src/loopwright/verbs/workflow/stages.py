"""The stages of a workflow: clarify, answer, plan, review, archive; all of them by an autopilot; a takeover."""

from __future__ import annotations

from loopwright.kernel.process import Cancellation
from loopwright.stages.archiving import ArchiveReport, ArchiveRequest, archive_change
from loopwright.stages.autopilot import FlightPlan, fly
from loopwright.stages.clarifying.answers import answer_question
from loopwright.stages.clarifying.rounds import ClarifyReport, ClarifyRequest, clarify_change
from loopwright.stages.context import Context, Tell, tell_nothing
from loopwright.stages.person import require_person
from loopwright.stages.planning.stage import plan_change
from loopwright.stages.planning.state import PlanRequest
from loopwright.stages.reviewing.reviewers import ReviewRequest
from loopwright.stages.reviewing.stage import review_change
from loopwright.stages.status import WorkflowView
from loopwright.stages.takeover.workflows import TOOLS, TakenOver, TakeOverRequest, take_over_workspace

__all__ = [
    "TOOLS",
    "ArchiveReport",
    "ArchiveRequest",
    "ClarifyReport",
    "ClarifyRequest",
    "FlightPlan",
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


def clarify(
    context: Context,
    name: str,
    request: ClarifyRequest,
    tell: Tell = tell_nothing,
    cancellation: Cancellation | None = None,
) -> ClarifyReport:
    """Begin the workflow of this name, or continue it, and ask its next question.

    A new workflow needs `request.idea`. The report holds the open question; `answer` records the answer to it.
    """
    return clarify_change(context, name, request, tell, cancellation or Cancellation())


def answer(context: Context, slug: str, item: str, text: str) -> WorkflowView:
    """Record a person's answer to a question of the spec (`A-1`), or to a decision that an agent asked for (`D-1`)."""
    require_person(context.environment, "answer")
    return answer_question(context, slug, item, text)


def plan(
    context: Context,
    name: str,
    request: PlanRequest,
    tell: Tell = tell_nothing,
    cancellation: Cancellation | None = None,
) -> WorkflowView:
    """Plan a workflow, run the checks of the plan on the base, and ask a person to approve it.

    With `request.spec` a person brings the spec and stands for it; a workflow of that name begins with it if needed.
    """
    if request.spec is not None:
        require_person(context.environment, "plan --direct")
    return plan_change(context, name, request, tell, cancellation or Cancellation())


def review(
    context: Context,
    name: str,
    request: ReviewRequest,
    tell: Tell = tell_nothing,
    cancellation: Cancellation | None = None,
) -> WorkflowView:
    """Review a built workflow and record the verdict: of an agent, of a person with `request.verdict`, or of the tool.

    `name` is the workflow's, or the path of its execution record.
    """
    if request.verdict is not None:
        require_person(context.environment, "review --verdict")
    return review_change(context, name, request, tell, cancellation or Cancellation())


def archive(context: Context, slug: str, request: ArchiveRequest) -> ArchiveReport:
    """Archive a change, all of it or nothing; archiving it again changes nothing."""
    require_person(context.environment, "archive")
    return archive_change(context, slug, request)


def take_over(context: Context, request: TakeOverRequest) -> TakenOver:
    """Make workflows of another tool's changes, each at clarify; the rows say what became of each thing.

    With `request.dry_run` the rows are the same, and nothing is written.
    """
    return take_over_workspace(context, request)


def autopilot(
    context: Context,
    slug: str,
    flight: FlightPlan,
    tell: Tell = tell_nothing,
    cancellation: Cancellation | None = None,
) -> WorkflowView:
    """Carry a workflow through its stages until it is done, or until a person has to decide.

    Each consent is recorded as the policy's own (`autopilot.may_approve`); only a person can start an autopilot.
    """
    require_person(context.environment, "autopilot")
    return fly(context, slug, flight, tell, cancellation or Cancellation())
