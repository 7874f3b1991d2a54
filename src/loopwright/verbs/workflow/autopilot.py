"""`loopwright autopilot`: all stages in a row, by the consents that the policy allows; stops where a person has to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec

from loopwright.agents.port import Role
from loopwright.errors import Interrupted, LoopRefused, LoopwrightError, WorkflowRefused
from loopwright.kernel.locks import try_lock
from loopwright.kernel.process import Cancellation
from loopwright.loop.model import Budget, Completed, Failed, Held, Holder, Loop
from loopwright.stages.clarifying import take_round
from loopwright.stages.context import Context
from loopwright.stages.loops.budgets import limits_for
from loopwright.stages.person import actor, require_person
from loopwright.stages.spending import Spending, loops_for, spent_on
from loopwright.stages.stores import workflows_of
from loopwright.verbs.workflow.approve import consent
from loopwright.verbs.workflow.build import BuildRequest, drive, prepare_build
from loopwright.verbs.workflow.look import WorkflowView, show
from loopwright.verbs.workflow.plan import PlanRequest, plan
from loopwright.verbs.workflow.review import ReviewRequest, review
from loopwright.workflow import commands as c
from loopwright.workflow.amounts import SpendingLimits
from loopwright.workflow.flight import LANDED
from loopwright.workflow.model import Archived, Building, Done, Stage, Transition

BY = "autopilot"
Tell = Callable[[str], None]
_FORWARD = {
    Stage.CLARIFY: Transition.CLARIFY_PLAN,
    Stage.PLAN: Transition.PLAN_BUILD,
    Stage.BUILD: Transition.BUILD_REVIEW,
    Stage.REVIEW: Transition.REVIEW_DONE,
}


class FlightPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Who works, who reviews, and what all of it may cost together: calls, money, time, passes of the build."""

    # Empty: by the settings, stage for stage.
    agent: str = ""
    reviewer: str = ""
    max_iterations: int = 10
    budget: Budget = Budget()


def autopilot(context: Context, slug: str, flight: FlightPlan, tell: Tell, cancellation: Cancellation) -> WorkflowView:
    """Stage by stage; each consent is stamped as the policy's own, which only a person can put in force."""
    require_person(context.environment, "autopilot")
    with _alone(context, slug):
        if isinstance(show(context, slug).workflow.at, Done | Archived):
            return show(context, slug)
        _take_off(context, slug, flight)
        try:
            _fly(context, slug, flight, tell, cancellation)
        except LoopwrightError as stop:
            reason = stop.error if isinstance(stop, WorkflowRefused) else stop.code.lower()
            _land(context, slug, reason, stop.message)
            raise
        _land(context, slug, LANDED, "")
        return show(context, slug)


@contextmanager
def _alone(context: Context, slug: str) -> Iterator[None]:
    """Two of them would spend twice what either may."""
    if not workflows_of(context).exists(slug):
        show(context, slug)  # says that there is none
    lock = try_lock(context.layout.lock(f"autopilot-{slug}"))
    if lock is None:
        raise WorkflowRefused(
            "autopilot_phase_blocked",
            f"another autopilot is at {slug} already",
            next_command=f"loopwright status {slug}",
        )
    try:
        yield
    finally:
        lock.release()


def _take_off(context: Context, slug: str, flight: FlightPlan) -> None:
    limits = limits_for(context, flight.budget)
    with workflows_of(context).changing(slug) as opened:
        before = spent_on(opened.workflow, loops_for(context, opened.workflow))
        allowed = SpendingLimits(
            usd=limits.usd, tokens=limits.tokens, wall_s=limits.wall_s, turns=limits.turns,
            iterations=flight.max_iterations,
        )  # fmt: skip
        opened.apply(c.BeginFlight(by=actor(), limits=allowed, before=before), actor())


def _land(context: Context, slug: str, reason: str, said: str) -> None:
    with workflows_of(context).changing(slug) as opened:
        opened.apply(c.EndFlight(reason=reason, said=context.tools().redactor.clean(said).text), BY)


def _fly(context: Context, slug: str, flight: FlightPlan, tell: Tell, cancellation: Cancellation) -> None:
    shown = show(context, slug)
    if shown.workflow.stage is Stage.CLARIFY and shown.blockers:
        shown = _clarify(context, slug, flight, tell, cancellation)
    while not isinstance(shown.workflow.at, Done):
        stage = shown.workflow.stage
        tell(f"{slug} is at {stage.value}")
        if shown.blockers and stage is not Stage.CLARIFY:
            _work(context, slug, stage, flight, tell, cancellation)
            shown = show(context, slug)
        transition = _consent(context, shown, tell)
        _work(context, slug, transition.target, flight, tell, cancellation)
        shown = show(context, slug)


def _clarify(context: Context, slug: str, flight: FlightPlan, tell: Tell, cancellation: Cancellation) -> WorkflowView:
    """One round; what it asks only a person can answer."""
    found = take_round(
        context,
        slug,
        _who(context, flight, Role.CLARIFIER) or None,
        cancellation,
        tell=tell,
        spending=Spending(context, slug),
    )
    tell(f"asked: {found.question}" if found.question else "nothing is open any more")
    shown = show(context, slug)
    if shown.blockers:
        raise _stopped("autopilot_requires_resolved_spec", f"the spec of {slug} is not clear yet", shown)
    return shown


def _work(
    context: Context, slug: str, stage: Stage, flight: FlightPlan, tell: Tell, cancellation: Cancellation
) -> None:
    with workflows_of(context).changing(slug) as opened:
        opened.apply(c.FlyAt(phase=stage), BY)
    spending = Spending(context, slug)
    match stage:
        case Stage.PLAN:
            wanted = PlanRequest(agent=_who(context, flight, Role.PLANNER), anew=True, spending=spending)
            plan(context, slug, wanted, tell, cancellation)
        case Stage.BUILD:
            _require_that_it_is_through(context, slug, _build(context, slug, flight, spending, tell, cancellation))
        case Stage.REVIEW:
            request = ReviewRequest(reviewer=flight.reviewer, spending=spending)
            after = review(context, slug, request, tell, cancellation)
            if after.review is None or after.review.verdict != "approve":
                raise _stopped("autopilot_review_failed", "the review asks for changes", show(context, slug))
        case Stage.CLARIFY | Stage.DONE:
            return


def _who(context: Context, flight: FlightPlan, role: Role) -> str:
    return flight.agent or context.settings.values.agents.begun_by(role)


def _build(
    context: Context, slug: str, flight: FlightPlan, spending: Spending, tell: Tell, cancellation: Cancellation
) -> Loop:
    """The loop that builds pays from the same purse, and is bound to what is left of it before it goes on."""
    spending.allowance()
    at = show(context, slug).workflow.at
    if isinstance(at, Building) and at.loop_id is not None:
        spending.bind(at.loop_id)
    request = BuildRequest(
        agent=_who(context, flight, Role.BUILDER), max_iterations=flight.max_iterations, gives_more=False
    )
    try:
        loop_id = prepare_build(context, slug, request, tell, cancellation)
        spending.bind(loop_id)
        after = drive(context, loop_id, cancellation)
    except LoopRefused as refusal:
        if refusal.blocker == "too_few_iterations":
            raise spending.refusal("budget_iterations", refusal.message) from refusal
        raise _stopped("autopilot_phase_blocked", f"the build waits: {refusal.message}", show(context, slug)) from None
    if cancellation.reason is not None:
        raise Interrupted(cancellation.reason, hint="the same command again goes on")
    return after


def _require_that_it_is_through(context: Context, slug: str, loop: Loop) -> None:
    spending = Spending(context, slug)
    match loop.phase:
        case Completed():
            return
        case Held(holds=holds):
            said = "; ".join(hold.message for hold in holds)
            for hold in holds:
                if hold.holder is Holder.BUDGET:
                    raise spending.after_an_end(hold.code, hold.message)
        case Failed(code="iterations_used", reason=reason):
            raise spending.refusal("budget_iterations", reason)
        case Failed(reason=reason):
            said = reason
        case _:
            said = "it was stopped"
    raise _stopped("autopilot_phase_blocked", f"the build stopped: {said}", show(context, slug))


def _consent(context: Context, shown: WorkflowView, tell: Tell) -> Transition:
    """To the next stage, if nothing blocks it and the policy covers it; the stage's own command enters it."""
    workflow = shown.workflow
    transition = _FORWARD[workflow.stage]
    if shown.blockers:
        raise _stopped("autopilot_phase_blocked", f"{workflow.slug} can't leave {workflow.stage.value}", shown)
    if transition.key.value not in context.settings.values.autopilot.may_approve:
        said = f"autopilot.may_approve does not cover '{transition.key.value}': a person decides on {transition.value}"
        raise _stopped("autopilot_phase_blocked", said, shown)
    done = consent(context, workflow.slug, transition, by=BY)
    tell(f"approved {transition.value}, by policy" + (f"; {done.sentence}" if done.sentence else ""))
    return transition


def _stopped(error: str, message: str, shown: WorkflowView) -> WorkflowRefused:
    return WorkflowRefused(
        error,
        message,
        next_command=shown.next,
        blockers=tuple((one.code, one.message, one.next) for one in shown.blockers),
    )
