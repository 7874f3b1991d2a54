"""The record of an autopilot: that it is in force, for which stage, what it may use, and why it stopped."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from loopwright.errors import LoopwrightError, WorkflowRefused
from loopwright.kernel.locks import try_lock
from loopwright.loop.model import Budget, Completed, Failed, Held, Holder, Loop
from loopwright.stages.consents import give_consent
from loopwright.stages.context import Context, Tell, workflows_of
from loopwright.stages.person import actor
from loopwright.stages.spending import Spending, limits_for, loops_for, spent_on
from loopwright.stages.status import WorkflowView, view_workflow
from loopwright.workflow import events as e
from loopwright.workflow.amounts import SpendingLimits
from loopwright.workflow.flight import LANDED
from loopwright.workflow.model import Stage, Transition

BY = "autopilot"
_FORWARD = {
    Stage.CLARIFY: Transition.CLARIFY_PLAN,
    Stage.PLAN: Transition.PLAN_BUILD,
    Stage.BUILD: Transition.BUILD_REVIEW,
    Stage.REVIEW: Transition.REVIEW_DONE,
}


class FlightPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Who works, who reviews, and what all of it may cost together: calls, money, time, passes of the build.

    An empty `agent` or `reviewer`: the settings' default agent of each stage.
    """

    agent: str = ""
    reviewer: str = ""
    max_iterations: int = 10
    budget: Budget = Budget()


@contextmanager
def in_force(context: Context, slug: str, flight: FlightPlan) -> Iterator[None]:
    """An autopilot on record for the block; its end is recorded with the reason."""
    _begin(context, slug, flight)
    try:
        yield
    except LoopwrightError as stop:
        reason = stop.error if isinstance(stop, WorkflowRefused) else stop.code.lower()
        _end(context, slug, reason, stop.message)
        raise
    _end(context, slug, LANDED, "")


@contextmanager
def alone(context: Context, slug: str) -> Iterator[None]:
    """Two autopilots would spend twice what either may."""
    workflows_of(context).require(slug)
    lock = try_lock(context.layout.lock(f"autopilot-{slug}"))
    if lock is None:
        raise WorkflowRefused(
            "autopilot_phase_blocked",
            f"another autopilot is at work on {slug}",
            next_command=f"loopwright status {slug}",
        )
    try:
        yield
    finally:
        lock.release()


def fly_at(context: Context, slug: str, stage: Stage) -> None:
    """Record the stage that the autopilot works on."""
    with workflows_of(context).changing(slug) as opened:
        opened.apply(e.FlightAt(phase=stage), BY)


def consent_by_policy(context: Context, view: WorkflowView, tell: Tell) -> Transition:
    """Consent to the next stage, if nothing blocks it and the policy covers it; the stage's own command enters it."""
    workflow = view.workflow
    transition = _FORWARD[workflow.stage]
    if view.blockers:
        raise stopped("autopilot_phase_blocked", f"{workflow.slug} can't leave {workflow.stage.value}", view)
    if transition.key.value not in context.settings.values.autopilot.may_approve:
        said = f"autopilot.may_approve does not cover '{transition.key.value}': a person decides on {transition.value}"
        raise stopped("autopilot_phase_blocked", said, view)
    done = give_consent(context, workflow.slug, transition, by=BY)
    tell(f"approved {transition.value}, by policy" + (f"; {done.sentence}" if done.sentence else ""))
    return transition


def require_built(context: Context, slug: str, loop: Loop) -> None:
    """Raise, with the reason, unless the loop that builds has completed."""
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
    raise stopped("autopilot_phase_blocked", f"the build stopped: {said}", view_workflow(context, slug))


def stopped(error: str, message: str, view: WorkflowView) -> WorkflowRefused:
    """Why the autopilot can't go on by itself, and what a person does next."""
    return WorkflowRefused(
        error,
        message,
        next_command=view.next,
        blockers=tuple((one.code, one.message, one.next) for one in view.blockers),
    )


def _begin(context: Context, slug: str, flight: FlightPlan) -> None:
    limits = limits_for(context, flight.budget)
    with workflows_of(context).changing(slug) as opened:
        before = spent_on(opened.workflow, loops_for(context, opened.workflow))
        allowed = SpendingLimits(
            usd=limits.usd, tokens=limits.tokens, wall_s=limits.wall_s, turns=limits.turns,
            iterations=flight.max_iterations,
        )  # fmt: skip
        opened.apply(e.FlightBegun(by=actor(), limits=allowed, before=before), actor())


def _end(context: Context, slug: str, reason: str, said: str) -> None:
    with workflows_of(context).changing(slug) as opened:
        opened.apply(e.FlightEnded(reason=reason, said=context.tools().redactor.clean(said).text), BY)
