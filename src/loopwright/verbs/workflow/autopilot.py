"""`loopwright autopilot`: all stages in a row, by the consents that the policy allows; stops where a person has to."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from loopwright.errors import WorkflowRefused
from loopwright.kernel.process import Cancellation
from loopwright.loop.model import Completed, Failed, Held, Loop
from loopwright.verbs.context import Context
from loopwright.verbs.person import require_person
from loopwright.verbs.workflow.approve import consent
from loopwright.verbs.workflow.build import BuildWish, drive, prepare_build
from loopwright.verbs.workflow.clarify import take_round
from loopwright.verbs.workflow.look import Shown, show
from loopwright.verbs.workflow.plan import PlanWish, plan
from loopwright.verbs.workflow.review import ReviewWish, review
from loopwright.workflow.model import Done, Stage, Transition

BY = "autopilot"
Tell = Callable[[str], None]
_FORWARD = {
    Stage.CLARIFY: Transition.CLARIFY_PLAN,
    Stage.PLAN: Transition.PLAN_BUILD,
    Stage.BUILD: Transition.BUILD_REVIEW,
    Stage.REVIEW: Transition.REVIEW_DONE,
}


class Flight(msgspec.Struct, frozen=True, kw_only=True):
    """Who works, who reviews, and how often at most."""

    agent: str
    reviewer: str = ""
    max_iterations: int = 10


def autopilot(context: Context, slug: str, flight: Flight, tell: Tell, cancellation: Cancellation) -> Shown:
    """Stage by stage; each consent is stamped as the policy's own, which only a person can put in force."""
    require_person(context.environment, "autopilot")
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
    return shown


def _clarify(context: Context, slug: str, flight: Flight, tell: Tell, cancellation: Cancellation) -> Shown:
    """One round; what it asks only a person can answer."""
    found = take_round(context, slug, flight.agent or None, cancellation)
    tell(f"asked: {found.question}" if found.question else "nothing is open any more")
    shown = show(context, slug)
    if shown.blockers:
        raise _stopped("autopilot_requires_resolved_spec", f"the spec of {slug} is not clear yet", shown)
    return shown


def _work(context: Context, slug: str, stage: Stage, flight: Flight, tell: Tell, cancellation: Cancellation) -> None:
    match stage:
        case Stage.PLAN:
            plan(context, slug, PlanWish(agent=flight.agent), tell, cancellation)
        case Stage.BUILD:
            loop_id = prepare_build(context, slug, BuildWish(agent=flight.agent, max_iterations=flight.max_iterations))
            _require_that_it_is_through(context, slug, drive(context, loop_id, cancellation))
        case Stage.REVIEW:
            after = review(context, slug, ReviewWish(reviewer=flight.reviewer), tell, cancellation)
            if after.review is None or after.review.verdict != "approve":
                raise _stopped("autopilot_review_failed", "the review asks for changes", show(context, slug))
        case Stage.CLARIFY | Stage.DONE:
            return


def _require_that_it_is_through(context: Context, slug: str, loop: Loop) -> None:
    match loop.phase:
        case Completed():
            return
        case Held(holds=holds):
            said = "; ".join(hold.message for hold in holds)
        case Failed(reason=reason):
            said = reason
        case _:
            said = "it was stopped"
    raise _stopped("autopilot_phase_blocked", f"the build stopped: {said}", show(context, slug))


def _consent(context: Context, shown: Shown, tell: Tell) -> Transition:
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


def _stopped(error: str, message: str, shown: Shown) -> WorkflowRefused:
    return WorkflowRefused(
        error,
        message,
        next_command=shown.next,
        blockers=tuple((one.code, one.message, one.next) for one in shown.blockers),
    )
