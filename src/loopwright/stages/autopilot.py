"""Runs a workflow through all stages with the approvals that the policy allows; stops if a person is needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
from msgspec.structs import replace

from loopwright.agents.port import Role
from loopwright.errors import Interrupted, LoopRefused, LoopwrightError, WorkflowRefused
from loopwright.kernel.locks import try_lock
from loopwright.kernel.process import Cancellation
from loopwright.loop.model import Budget, Completed, Failed, Held, Holder, Loop
from loopwright.stages.agent_choice import require_agent
from loopwright.stages.building.begin import BuildRequest, begin_build
from loopwright.stages.building.drive import drive_loop
from loopwright.stages.clarifying.rounds import ClarifyRequest, clarify_change
from loopwright.stages.consents import give_consent
from loopwright.stages.context import Context, Tell, ignore_progress, workflows_of
from loopwright.stages.person import actor, require_person
from loopwright.stages.planning.stage import plan_change
from loopwright.stages.planning.state import PlanRequest
from loopwright.stages.reviewing.reviewers import ReviewRequest
from loopwright.stages.reviewing.stage import review_change
from loopwright.stages.spending import Spending, limits_for, loops_for, spent_on
from loopwright.stages.status import WorkflowView, view_workflow
from loopwright.workflow import events as e
from loopwright.workflow.flight import LANDED
from loopwright.workflow.model import FORWARD, POLICY, Archived, Building, Done, SpendingLimits, Transition
from loopwright.workflow.stage import Stage
from loopwright.workflow.verdict import request_sentence


class AutopilotRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The agents that work and review, and the limits of all stages together.

    An empty `agent` or `reviewer` means the default agent of each stage.
    """

    agent: str = ""
    reviewer: str = ""
    max_iterations: int = 10
    budget: Budget = Budget()


def run_autopilot(
    context: Context,
    slug: str,
    request: AutopilotRequest,
    tell: Tell = ignore_progress,
    cancellation: Cancellation | None = None,
) -> WorkflowView:
    """Run a workflow through its stages until it is done, or until a person has to decide.

    Each approval is recorded as given by the policy (`autopilot.may_approve`). Only a person can start an autopilot. An
    error says why the autopilot stopped early, and the next command.
    """
    require_person(context.environment, "autopilot")
    context = replace(context, is_attended=False)  # the policy approves, so no person has to watch
    for role in (Role.PLANNER, Role.BUILDER):
        require_agent(context, role, request.agent, command=f"loopwright autopilot {slug}")
    with _alone(context, slug):
        view = view_workflow(context, slug)
        if isinstance(view.workflow.at, Done | Archived):
            return view
        with _recorded(context, slug, request):
            _run_stages(context, slug, request, tell, cancellation or Cancellation())
        return view_workflow(context, slug)


def _run_stages(
    context: Context, slug: str, autopilot: AutopilotRequest, tell: Tell, cancellation: Cancellation
) -> None:
    view = view_workflow(context, slug)
    if view.workflow.stage is Stage.CLARIFY and view.blockers:
        view = _clarify(context, slug, autopilot, tell, cancellation)
    while not isinstance(view.workflow.at, Done):
        stage = view.workflow.stage
        tell(f"{slug} is at {stage.value}")
        if view.blockers and stage is not Stage.CLARIFY:
            view = _work(context, slug, stage, autopilot, tell, cancellation)
        transition = _consent_by_policy(context, view, tell)
        view = _work(context, slug, transition.target, autopilot, tell, cancellation)


def _clarify(
    context: Context, slug: str, autopilot: AutopilotRequest, tell: Tell, cancellation: Cancellation
) -> WorkflowView:
    """One round; only a person can answer its question."""
    request = ClarifyRequest(agent=autopilot.agent or None, spending=Spending(context, slug))
    report = clarify_change(context, slug, request, tell, cancellation)
    tell(f"asked: {report.question}" if report.question else "no question is open")
    if report.view.blockers:
        raise _stopped("autopilot_requires_resolved_spec", f"the spec of {slug} is not clear yet", report.view)
    return report.view


def _work(
    context: Context, slug: str, stage: Stage, autopilot: AutopilotRequest, tell: Tell, cancellation: Cancellation
) -> WorkflowView:
    with workflows_of(context).changing(slug) as opened:
        opened.apply(e.FlightAt(phase=stage), POLICY)
    spending = Spending(context, slug)
    match stage:
        case Stage.PLAN:
            agent = require_agent(context, Role.PLANNER, autopilot.agent, command=f"loopwright autopilot {slug}")
            return plan_change(context, slug, PlanRequest(agent=agent, spending=spending), tell, cancellation)
        case Stage.BUILD:
            _require_built(context, slug, _build(context, slug, autopilot, spending, tell, cancellation))
        case Stage.REVIEW:
            request = ReviewRequest(reviewer=autopilot.reviewer, spending=spending)
            view = review_change(context, slug, request, tell, cancellation)
            review = view.workflow.review
            if review is None or review.verdict != "approve":
                why = request_sentence(review) if review is not None else "the work was not reviewed"
                raise _stopped("autopilot_review_failed", why, view)
            return view
        case Stage.CLARIFY | Stage.DONE:
            pass
    return view_workflow(context, slug)


def _build(
    context: Context, slug: str, autopilot: AutopilotRequest, spending: Spending, tell: Tell, cancellation: Cancellation
) -> Loop:
    """The loop of the build uses the same budget: its limits are set to the rest before it continues."""
    spending.allowance()
    at = view_workflow(context, slug).workflow.at
    if isinstance(at, Building) and at.loop_id is not None:
        spending.bind(at.loop_id)
    request = BuildRequest(agent=autopilot.agent, max_iterations=autopilot.max_iterations, by_person=False)
    try:
        loop_id = begin_build(context, slug, request, tell, cancellation)
        spending.bind(loop_id)
        after = drive_loop(context, loop_id, cancellation)
    except LoopRefused as refusal:
        if refusal.blocker == "too_few_iterations":
            raise spending.refusal("budget_iterations", refusal.message) from refusal
        view = view_workflow(context, slug)
        raise _stopped("autopilot_phase_blocked", f"the build waits: {refusal.message}", view) from None
    if cancellation.reason is not None:
        raise Interrupted(cancellation.reason, hint="run the same command again to continue")
    return after


@contextmanager
def _recorded(context: Context, slug: str, autopilot: AutopilotRequest) -> Iterator[None]:
    """Record the start of the autopilot, and its end with the reason."""
    _begin(context, slug, autopilot)
    try:
        yield
    except LoopwrightError as stop:
        reason = stop.error if isinstance(stop, WorkflowRefused) else stop.code.lower()
        _end(context, slug, reason, stop.message)
        raise
    _end(context, slug, LANDED, "")


@contextmanager
def _alone(context: Context, slug: str) -> Iterator[None]:
    """One autopilot per workflow: two would spend twice the budget."""
    workflows_of(context).require(slug)
    lock = try_lock(context.layout.lock(f"autopilot-{slug}"))
    if lock is None:
        raise WorkflowRefused.see_status(slug, "autopilot_phase_blocked", f"another autopilot is running for {slug}")
    try:
        yield
    finally:
        lock.release()


def _consent_by_policy(context: Context, view: WorkflowView, tell: Tell) -> Transition:
    """Approve the next stage, if nothing blocks it and the policy allows it; the command of that stage enters it."""
    workflow = view.workflow
    transition = FORWARD[workflow.stage]
    if view.blockers:
        raise _stopped("autopilot_phase_blocked", f"{workflow.slug} cannot leave {workflow.stage.value}", view)
    if reserved := view.standing.for_a_person.before(transition.target):
        raise _stopped("autopilot_phase_blocked", reserved[0].message, replace(view, blockers=reserved))
    if transition.key.value not in context.settings.values.autopilot.may_approve:
        message = f"a person must approve {transition.value}: autopilot.may_approve lacks '{transition.key.value}'"
        raise _stopped("autopilot_phase_blocked", message, view)
    done = give_consent(context, workflow.slug, transition, by=POLICY)
    tell(f"approved {transition.value}, by policy" + (f"; {done.sentence}" if done.sentence else ""))
    return transition


def _require_built(context: Context, slug: str, loop: Loop) -> None:
    """Raise with the reason, unless the loop of the build is completed."""
    spending = Spending(context, slug)
    match loop.phase:
        case Completed():
            return
        case Held(holds=holds):
            why = "; ".join(hold.message for hold in holds)
            for hold in holds:
                if hold.holder is Holder.BUDGET:
                    raise spending.after_an_end(hold.code, hold.message)
        case Failed(code="iterations_used", reason=reason):
            raise spending.refusal("budget_iterations", reason)
        case Failed(reason=reason):
            why = reason
        case _:
            why = "it was stopped"
    raise _stopped("autopilot_phase_blocked", f"the build stopped: {why}", view_workflow(context, slug))


def _stopped(error: str, message: str, view: WorkflowView) -> WorkflowRefused:
    """Why the autopilot cannot continue, and the next command."""
    return WorkflowRefused(
        error,
        message,
        next_command=view.next,
        blockers=tuple((blocker.code, blocker.message, blocker.next) for blocker in view.blockers),
    )


def _begin(context: Context, slug: str, autopilot: AutopilotRequest) -> None:
    limits = limits_for(context, autopilot.budget)
    with workflows_of(context).changing(slug) as opened:
        before = spent_on(opened.workflow, loops_for(context, opened.workflow))
        allowed = SpendingLimits(
            usd=limits.usd, tokens=limits.tokens, wall_s=limits.wall_s, turns=limits.turns,
            iterations=autopilot.max_iterations,
        )  # fmt: skip
        opened.apply(e.FlightBegun(by=actor(), limits=allowed, before=before), actor())


def _end(context: Context, slug: str, reason: str, message: str) -> None:
    with workflows_of(context).changing(slug) as opened:
        opened.apply(e.FlightEnded(reason=reason, message=context.tools().redactor.clean(message).text), POLICY)
