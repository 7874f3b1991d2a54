"""Asks a planner for a plan, and writes the plan with all documents that follow from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec

from loopwright.agents.port import Role
from loopwright.agents.structured import AgentRequest, AnswerForm, json_form
from loopwright.kernel.process import Cancellation
from loopwright.runner.ask_agent import AgentReply
from loopwright.stages.asking import StageCall, ask_for_stage
from loopwright.stages.context import Context, Tell, documents_of
from loopwright.stages.planning.documents import Specs, compose
from loopwright.stages.planning.state import PlanRequest, PlanState, read_plan, require_spec
from loopwright.workflow import events as e
from loopwright.workflow.delta.model import Delta
from loopwright.workflow.drafting import PlanReply, drafted, wrong_with
from loopwright.workflow.model import PlanRound, Workflow
from loopwright.workflow.stage import Stage
from loopwright.workflow.store import Opened

_T = TypeVar("_T")
_R = TypeVar("_R")


class ComposedPlan(msgspec.Struct, frozen=True):
    """A plan with all documents that follow from it."""

    deltas: tuple[Delta, ...]
    state: PlanState


class PlanSession(msgspec.Struct, frozen=True, kw_only=True):
    """What all turns of one `plan` command share; `specs` are the living specs at its start."""

    context: Context
    request: PlanRequest
    agent: str
    specs: Specs
    tell: Tell
    cancellation: Cancellation

    def ask(
        self,
        workflow: Workflow,
        role: Role,
        prompt: str,
        form: AnswerForm[_T],
        keep: Callable[[Opened, AgentReply[_T]], _R],
    ) -> _R:
        """Ask the agent for this role, and record its answer. Reviewers may be other agents than the planner."""
        agent = (
            self.agent if role is Role.PLANNER else self.context.settings.values.agents.agent_for_role(role, self.agent)
        )
        taken = workflow.turns_of(role.value)
        request = AgentRequest(agent=agent, role=role, prompt=prompt, form=form, number=taken)
        call = StageCall(
            workflow=workflow, stage=Stage.PLAN, name=f"{workflow.slug}-{role.value}-{taken + 1}",
            spending=self.request.spending, tell=self.tell,
        )  # fmt: skip
        return ask_for_stage(self.context, call, request, self.cancellation, keep)


def ask_planner(session: PlanSession, state: PlanState, notes: str) -> ComposedPlan:
    """One turn of the planner. The answer is recorded at once, so that no paid turn is repeated."""
    workflow, spec = state.workflow, require_spec(state.facts, state.workflow)
    domains = spec.domains
    prompt = session.context.prompts().prompt(
        "planner_change",
        spec=spec.page.render().decode(),
        domain=domains[0],
        domains=", ".join(domains),
        blocker=notes,
    )

    def keep(opened: Opened, answer: AgentReply[PlanReply]) -> ComposedPlan:
        catalogue, source = documents_of(session.context), f"spec.md, by {answer.by}"
        opened.write(drafted(workflow.slug, answer.reply, domains, source, catalogue), answer.by or "tool")
        rounds = opened.workflow.plan_rounds
        taken = PlanRound(number=rounds[-1].number + 1 if rounds else 1)
        opened.apply(e.PlanRoundTaken(round=taken), "tool")
        # The documents that follow are written in the same opening: the next reader finds a complete plan.
        return ComposedPlan(compose(session.context, opened, session.specs), read_plan(opened))

    form = json_form(PlanReply, lambda reply: wrong_with(reply, domains))
    return session.ask(workflow, Role.PLANNER, prompt, form, keep)
