"""Rounds of planning: a planner, and with the profile `full` an architect and a critic, until they agree."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from loopwright.agents.port import Role
from loopwright.agents.structured import verdict_form
from loopwright.runner.ask_agent import AgentReply
from loopwright.stages.agent_view import agent_view
from loopwright.stages.context import Context, workflows_of
from loopwright.stages.planning.documents import compose
from loopwright.stages.planning.planner import ComposedPlan, PlanSession, ask_planner
from loopwright.stages.planning.state import PlanState, read_plan, review_page
from loopwright.workflow import events as e
from loopwright.workflow.model import PlanRound, Workflow
from loopwright.workflow.store import Opened


def plan_in_rounds(session: PlanSession, state: PlanState) -> ComposedPlan:
    """Plan until the critic approves, the person at the terminal accepts, or the limit of rounds is reached."""
    context, request = session.context, session.request
    is_reviewed = request.is_reviewed(context)
    found = review_findings(context, state.workflow)
    notes = _imported_plan(context, state) or (_objections(context, state) if state.is_sent_back else "")
    is_complete = is_reviewed and state.lacks_only_reviews
    planned = ComposedPlan((), state)
    for number in range(1, request.max_rounds + 1):
        if is_complete and number == 1:
            session.tell(f"round {number}: the plan is complete, but this version is not reviewed")
        else:
            session.tell(f"round {number}: the planner works")
            if names := ", ".join(planned.state.by_hand):
                session.tell(f"note: the planner overwrites the edits in {names}")
            planned = ask_planner(session, planned.state, "\n".join(part for part in (found, notes) if part))
        if is_reviewed:
            planned = ask_reviewers(session, planned.state)
        taken = planned.state.workflow.plan_rounds[-1]
        remark = request.ask(taken) if request.ask is not None and number < request.max_rounds else None
        # A person at the terminal may accept a rejected plan.
        is_rejected = request.ask is None and taken.critic not in (None, "approve")
        if remark is None and not is_rejected:
            break
        instruction = context.prompts().part("person_says", remark=remark) if remark else ""
        notes = "\n".join(part for part in (_objections(context, planned.state), instruction) if part)
        if remark:
            # The person at the terminal may have edited the plan meanwhile.
            with workflows_of(context).changing(state.workflow.slug) as opened:
                planned = ComposedPlan(planned.deltas, read_plan(opened))
    return planned


def _objections(context: Context, state: PlanState) -> str:
    """The objections to a plan, for the planner."""
    book = context.prompts()
    architect, critic = state.notes.get(Role.ARCHITECT, ""), state.notes.get(Role.CRITIC)
    opinions = "" if critic is None else book.part("opinions", architect=architect, critic=critic)
    return "\n".join(part for part in (book.part("sent_back"), opinions) if part)


def review_findings(context: Context, workflow: Workflow) -> str:
    """What the review found that sent the change back, for the planner; empty without such a review."""
    sentences = workflow.sent_back.review.sentences() if workflow.sent_back is not None else ()
    listed = "\n".join(f"- {text}" for text in sentences)
    return context.prompts().part("review_found", findings=listed) if sentences else ""


def _imported_plan(context: Context, state: PlanState) -> str:
    """The plan of another tool from before the import, for the planner; it may be right or wrong."""
    if state.workflow.origin is None or not state.taken_over:
        return ""
    head = context.prompts().part("taken_over", tool=state.workflow.origin.tool)
    return "\n\n".join([head, *state.taken_over])


class PlanOpinion(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of an architect or a critic."""

    verdict: str
    notes: str = ""


def ask_reviewers(session: PlanSession, state: PlanState) -> ComposedPlan:
    """Ask the architect, unless it has reviewed this version of the plan, and then the critic."""
    taken, architect = _ask_architect(session, state)
    session.tell("the critic reviews the plan")
    prompt = session.context.prompts().prompt(
        "critic_plan", plan=_shown(session.context, state), architect=architect.notes or architect.verdict
    )

    def keep(opened: Opened, answer: AgentReply[PlanOpinion]) -> ComposedPlan:
        _record(opened, replace(taken, critic=answer.reply.verdict), Role.CRITIC, answer.reply)
        return ComposedPlan(compose(session.context, opened, session.specs), read_plan(opened))

    return session.ask(state.workflow, Role.CRITIC, prompt, verdict_form(PlanOpinion), keep)


def _ask_architect(session: PlanSession, state: PlanState) -> tuple[PlanRound, PlanOpinion]:
    last, seen = state.workflow.plan_rounds[-1], state.facts.planned_parts
    is_open = last.critic is None and (last.architect is None or last.seen == seen)
    notes = state.notes.get(Role.ARCHITECT) if is_open else None
    if notes is not None:
        session.tell("the architect has already reviewed this version of the plan")
        return last, PlanOpinion(verdict=last.architect or "", notes=notes)
    session.tell("the architect reviews the plan")
    number = last.number if is_open else last.number + 1

    def keep(opened: Opened, answer: AgentReply[PlanOpinion]) -> tuple[PlanRound, PlanOpinion]:
        taken = PlanRound(number=number, architect=answer.reply.verdict, seen=seen)
        _record(opened, taken, Role.ARCHITECT, answer.reply)
        return taken, answer.reply

    prompt = session.context.prompts().prompt("architect_plan", plan=_shown(session.context, state))
    return session.ask(state.workflow, Role.ARCHITECT, prompt, verdict_form(PlanOpinion), keep)


def _shown(context: Context, state: PlanState) -> str:
    """The documents of the plan as a reviewer may read them: the same agent may build the plan."""
    view = agent_view(context)
    return "\n\n".join(view.document(name, data).text for name, data in state.documents.items())


def _record(opened: Opened, taken: PlanRound, role: Role, opinion: PlanOpinion) -> None:
    page = f"# {role.value}: {opinion.verdict}\n\n{opinion.notes}\n".encode()
    opened.write({review_page(taken.number, role): page}, "tool")
    opened.apply(e.PlanRoundTaken(round=taken), "tool")
