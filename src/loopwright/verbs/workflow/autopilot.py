"""All stages in a row, by the consents that the policy allows; stops, with a reason, where a person is needed."""

from __future__ import annotations

from loopwright.agents.port import Role
from loopwright.errors import Interrupted, LoopRefused
from loopwright.kernel.process import Cancellation
from loopwright.loop.model import Loop
from loopwright.stages.agent_choice import require_agent
from loopwright.stages.clarifying.rounds import ClarifyRequest, clarify_change
from loopwright.stages.context import Context, Tell
from loopwright.stages.flying import FlightPlan, alone, consent_by_policy, fly_at, in_force, require_built, stopped
from loopwright.stages.person import require_person
from loopwright.stages.planning.stage import plan_change
from loopwright.stages.planning.state import PlanRequest
from loopwright.stages.reviewing.reviewers import ReviewRequest
from loopwright.stages.reviewing.stage import review_change
from loopwright.stages.spending import Spending
from loopwright.stages.status import WorkflowView, view_workflow
from loopwright.verbs.workflow.build import BuildRequest, drive, prepare_build
from loopwright.workflow.model import Archived, Building, Done, Stage

__all__ = ["FlightPlan", "autopilot"]


def autopilot(context: Context, slug: str, flight: FlightPlan, tell: Tell, cancellation: Cancellation) -> WorkflowView:
    """Carry a workflow through its stages until it is done, or until a person has to decide.

    Each consent is recorded as the policy's own (`autopilot.may_approve`); only a person can start an autopilot.
    """
    require_person(context.environment, "autopilot")
    for role in (Role.PLANNER, Role.BUILDER):
        require_agent(context, role, flight.agent, command=f"loopwright autopilot {slug}")
    with alone(context, slug):
        view = view_workflow(context, slug)
        if isinstance(view.workflow.at, Done | Archived):
            return view
        with in_force(context, slug, flight):
            _fly(context, slug, flight, tell, cancellation)
        return view_workflow(context, slug)


def _fly(context: Context, slug: str, flight: FlightPlan, tell: Tell, cancellation: Cancellation) -> None:
    view = view_workflow(context, slug)
    if view.workflow.stage is Stage.CLARIFY and view.blockers:
        view = _clarify(context, slug, flight, tell, cancellation)
    while not isinstance(view.workflow.at, Done):
        stage = view.workflow.stage
        tell(f"{slug} is at {stage.value}")
        if view.blockers and stage is not Stage.CLARIFY:
            view = _work(context, slug, stage, flight, tell, cancellation)
        transition = consent_by_policy(context, view, tell)
        view = _work(context, slug, transition.target, flight, tell, cancellation)


def _clarify(context: Context, slug: str, flight: FlightPlan, tell: Tell, cancellation: Cancellation) -> WorkflowView:
    """One round; only a person can answer what it asks."""
    request = ClarifyRequest(agent=flight.agent or None, spending=Spending(context, slug))
    report = clarify_change(context, slug, request, tell, cancellation)
    tell(f"asked: {report.question}" if report.question else "no question is open")
    if report.view.blockers:
        raise stopped("autopilot_requires_resolved_spec", f"the spec of {slug} is not clear yet", report.view)
    return report.view


def _work(
    context: Context, slug: str, stage: Stage, flight: FlightPlan, tell: Tell, cancellation: Cancellation
) -> WorkflowView:
    fly_at(context, slug, stage)
    spending = Spending(context, slug)
    match stage:
        case Stage.PLAN:
            agent = require_agent(context, Role.PLANNER, flight.agent, command=f"loopwright autopilot {slug}")
            return plan_change(context, slug, PlanRequest(agent=agent, spending=spending), tell, cancellation)
        case Stage.BUILD:
            require_built(context, slug, _build(context, slug, flight, spending, tell, cancellation))
        case Stage.REVIEW:
            request = ReviewRequest(reviewer=flight.reviewer, spending=spending)
            view = review_change(context, slug, request, tell, cancellation)
            if view.workflow.review is None or view.workflow.review.verdict != "approve":
                raise stopped("autopilot_review_failed", "the review asks for changes", view)
            return view
        case Stage.CLARIFY | Stage.DONE:
            pass
    return view_workflow(context, slug)


def _build(
    context: Context, slug: str, flight: FlightPlan, spending: Spending, tell: Tell, cancellation: Cancellation
) -> Loop:
    """The loop that builds spends from the same budget, and is bound to what is left of it before it goes on."""
    spending.allowance()
    at = view_workflow(context, slug).workflow.at
    if isinstance(at, Building) and at.loop_id is not None:
        spending.bind(at.loop_id)
    agent = require_agent(context, Role.BUILDER, flight.agent, command=f"loopwright autopilot {slug}")
    request = BuildRequest(agent=agent, max_iterations=flight.max_iterations, gives_more=False)
    try:
        loop_id = prepare_build(context, slug, request, tell, cancellation)
        spending.bind(loop_id)
        after = drive(context, loop_id, cancellation)
    except LoopRefused as refusal:
        if refusal.blocker == "too_few_iterations":
            raise spending.refusal("budget_iterations", refusal.message) from refusal
        view = view_workflow(context, slug)
        raise stopped("autopilot_phase_blocked", f"the build waits: {refusal.message}", view) from None
    if cancellation.reason is not None:
        raise Interrupted(cancellation.reason, hint="the same command again goes on")
    return after
