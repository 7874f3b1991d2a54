"""Rounds of planning: a planner, and in the profile `full` an architect and a critic, until they agree."""

from __future__ import annotations

from loopwright.agents.port import Role
from loopwright.stages.context import Context
from loopwright.stages.planning.planner import ComposedPlan, PlanSession, ask_planner
from loopwright.stages.planning.reviewers import ask_reviewers
from loopwright.stages.planning.state import PlanState, read_plan
from loopwright.stages.stores import workflows_of
from loopwright.workflow.model import PlanRound


def plan_in_rounds(session: PlanSession, state: PlanState) -> ComposedPlan:
    """Plan until the critic approves, the person at the terminal is content, or the rounds are used up."""
    context, request = session.context, session.request
    is_reviewed = request.is_reviewed(context)
    notes = _taken_over(context, state) or (_sent_back(context, state) if state.is_sent_back else "")
    is_complete = is_reviewed and state.lacks_only_reviews
    planned = ComposedPlan((), state)
    for number in range(1, request.max_rounds + 1):
        if is_complete and number == 1:
            session.tell(f"round {number}: the plan is complete, and not reviewed as it is now")
        else:
            session.tell(f"round {number}: the planner works")
            if names := ", ".join(planned.state.by_hand):
                session.tell(f"note: the planner overwrites the edits in {names}")
            planned = ask_planner(session, planned.state, notes)
        if is_reviewed:
            planned = ask_reviewers(session, planned.state)
        taken = planned.state.workflow.plan_rounds[-1]
        remark = request.ask(taken) if request.ask is not None and number < request.max_rounds else None
        if remark is None and not _goes_on(session, taken):
            break
        heard = context.prompts().part("person_says", remark=remark) if remark else ""
        notes = "\n".join(part for part in (_sent_back(context, planned.state), heard) if part)
        if remark:
            # The person at the terminal may have edited the plan meanwhile.
            planned = ComposedPlan(planned.deltas, _read_again(context, state))
    return planned


def _goes_on(session: PlanSession, taken: PlanRound) -> bool:
    """Whether another round follows without a remark; a person may end the rounds where a critic objects."""
    return session.request.ask is None and taken.critic not in (None, "approve")


def _read_again(context: Context, state: PlanState) -> PlanState:
    with workflows_of(context).changing(state.workflow.slug) as opened:
        return read_plan(opened)


def _sent_back(context: Context, state: PlanState) -> str:
    """What the planner is told of a plan that has to change."""
    book = context.prompts()
    architect, critic = state.notes.get(Role.ARCHITECT, ""), state.notes.get(Role.CRITIC)
    heard = "" if critic is None else book.part("opinions", architect=architect, critic=critic)
    return "\n".join(part for part in (book.part("sent_back"), heard) if part)


def _taken_over(context: Context, state: PlanState) -> str:
    """What another tool planned before its workspace was taken over: it may hold, or not."""
    if state.workflow.origin is None or not state.taken_over:
        return ""
    head = context.prompts().part("taken_over", tool=state.workflow.origin.tool)
    return "\n\n".join([head, *state.taken_over])
