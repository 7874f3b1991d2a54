"""An architect and a critic look at a plan; each opinion is recorded at once, so that a later command finds it."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from loopwright.agents.port import Role
from loopwright.agents.structured import json_form
from loopwright.runner.ask_agent import AgentReply
from loopwright.stages.planning.documents import compose
from loopwright.stages.planning.planner import ComposedPlan, PlanSession
from loopwright.stages.planning.state import PlanState, read_plan, review_page
from loopwright.workflow import events as e
from loopwright.workflow.model import PlanRound
from loopwright.workflow.store import Opened


class PlanOpinion(msgspec.Struct, frozen=True, kw_only=True):
    """What an architect or a critic answers."""

    verdict: str
    notes: str = ""


def ask_reviewers(session: PlanSession, state: PlanState) -> ComposedPlan:
    """Ask the architect, unless it has seen the plan as it is, and then the critic."""
    taken, architect = _ask_architect(session, state)
    session.tell("the critic reviews the plan")
    prompt = session.context.prompts().prompt(
        "critic_plan", plan=state.text, architect=architect.notes or architect.verdict
    )

    def keep(opened: Opened, said: AgentReply[PlanOpinion]) -> ComposedPlan:
        _record(opened, replace(taken, critic=said.reply.verdict), Role.CRITIC, said.reply)
        return ComposedPlan(compose(session.context, opened, session.specs), read_plan(opened))

    return session.ask(state.workflow, Role.CRITIC, prompt, json_form(PlanOpinion), keep)


def _ask_architect(session: PlanSession, state: PlanState) -> tuple[PlanRound, PlanOpinion]:
    last, seen = state.workflow.plan_rounds[-1], state.facts.planned_parts
    is_open = last.critic is None and (last.architect is None or last.seen == seen)
    notes = state.notes.get(Role.ARCHITECT) if is_open else None
    if notes is not None:
        session.tell("the architect has reviewed the plan as it is now")
        return last, PlanOpinion(verdict=last.architect or "", notes=notes)
    session.tell("the architect reviews the plan")
    number = last.number if is_open else last.number + 1

    def keep(opened: Opened, said: AgentReply[PlanOpinion]) -> tuple[PlanRound, PlanOpinion]:
        taken = PlanRound(number=number, architect=said.reply.verdict, seen=seen)
        _record(opened, taken, Role.ARCHITECT, said.reply)
        return taken, said.reply

    prompt = session.context.prompts().prompt("architect_plan", plan=state.text)
    return session.ask(state.workflow, Role.ARCHITECT, prompt, json_form(PlanOpinion), keep)


def _record(opened: Opened, taken: PlanRound, role: Role, said: PlanOpinion) -> None:
    page = f"# {role.value}: {said.verdict}\n\n{said.notes}\n".encode()
    opened.write({review_page(taken.number, role): page}, "tool")
    opened.apply(e.PlanRoundTaken(round=taken), "tool")
