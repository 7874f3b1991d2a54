"""The stages of a workflow: clarify, answer, plan, review, archive; all stages by an autopilot; import."""

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
    """Start or continue the workflow of this name, and ask its next question.

    A new workflow needs `request.idea`. The report holds the open question; `answer` records the answer to it.
    """
    return clarify_change(context, name, request, tell, cancellation or Cancellation())


def answer(context: Context, slug: str, item: str, text: str) -> WorkflowView:
    """Record the answer of a person to a question of the spec (`A-1`), or to a question of an agent (`D-1`)."""
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

    With `request.spec` a person provides the spec; if the workflow does not exist yet, it starts with this spec.
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
    """Review a built workflow and record the verdict of an agent, of a person (`request.verdict`), or of Loopwright.

    `name` is the name of the workflow, or the path of its execution record.
    """
    if request.verdict is not None:
        require_person(context.environment, "review --verdict")
    return review_change(context, name, request, tell, cancellation or Cancellation())


def archive(context: Context, slug: str, request: ArchiveRequest) -> ArchiveReport:
    """Archive a change, all of it or nothing. Archiving it again changes nothing."""
    require_person(context.environment, "archive")
    return archive_change(context, slug, request)


def take_over(context: Context, request: TakeOverRequest) -> TakenOver:
    """Import the changes of another tool as workflows, each at clarify. The rows of the report show each entry.

    With `request.dry_run` the rows are the same, but nothing is written.
    """
    return take_over_workspace(context, request)


def autopilot(
    context: Context,
    slug: str,
    flight: FlightPlan,
    tell: Tell = tell_nothing,
    cancellation: Cancellation | None = None,
) -> WorkflowView:
    """Run a workflow through its stages until it is done, or until a person has to decide.

    Each approval is recorded as given by the policy (`autopilot.may_approve`). Only a person can start an autopilot.
    """
    require_person(context.environment, "autopilot")
    return fly(context, slug, flight, tell, cancellation or Cancellation())
