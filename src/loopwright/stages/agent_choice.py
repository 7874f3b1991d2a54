"""Which agent does the work of a role: by name, by the settings, and by what it built before."""

from __future__ import annotations

from loopwright.agents.model_choice import AgentIdentity, identity_of, matching_builder
from loopwright.agents.port import HasModel, Reason, Role, WorksOutside
from loopwright.errors import AgentFailed, LoopwrightError, WorkflowRefused
from loopwright.stages.context import Context
from loopwright.workflow.documents.record import Record

_NOT_SET = {
    Role.PLANNER: "no agent is set for planning",
    Role.BUILDER: "no agent is set for building",
}


def agent_for(context: Context, role: Role, named: str | None) -> str:
    """The agent for a role; an empty name means that no agent does the work."""
    return context.settings.values.agents.default_for_role(role) if named is None else named


def require_agent(context: Context, role: Role, named: str, *, command: str) -> str:
    """The same where an agent has to do the work; `command` is what the user typed, without the agent."""
    agent = agent_for(context, role, named or None)
    if not agent:
        raise WorkflowRefused("agent_missing", _NOT_SET[role], next_command=f"{command} --agent NAME")
    return agent


def works_by_hand(context: Context, name: str) -> bool:
    """Whether the agent of this name is somebody who has to be shown their turn."""
    try:
        return isinstance(context.open_agent(name), WorksOutside)
    except AgentFailed:
        return False  # whoever asks them to work hears that


def programs_in(context: Context, names: tuple[str, ...]) -> tuple[str, ...]:
    """Those of these agents whose turns need nobody to find them."""
    return tuple(name for name in names if not works_by_hand(context, name))


def require_a_program(context: Context, name: str, role: Role) -> None:
    """Raise when this agent's turn would wait for somebody who can't find it."""
    if works_by_hand(context, name):
        raise AgentFailed(
            Reason.AGENT_MISSING,
            f"{name} works by hand, in loops and builds only: a turn as {role.value} needs another agent",
            hint="name one with a program of its own, as claude or codex: `loopwright doctor` lists them",
        )


def builder_behind(context: Context, record: Record, reviewer: str) -> str | None:
    """The builder that this reviewer is; None where it is somebody else, or nobody."""
    return matching_builder(reviewer, record.actors, lambda name: doer_behind(context, name)) if reviewer else None


def barred_from_review(context: Context, record: Record) -> frozenset[str]:
    """All who built it, and whoever of those that could be asked is one of them."""
    agents = context.settings.values.agents
    asked = (*context.stand_ins(), *agents.roles.values())
    return frozenset((*record.actors, *(name for name in asked if builder_behind(context, record, name) is not None)))


def doer_behind(context: Context, name: str) -> AgentIdentity:
    """Who works behind a name, as the settings are now."""
    named = context.settings.values.agents.named
    try:
        agent = context.open_agent(name)
    except LoopwrightError:
        return identity_of(name, named)
    return identity_of(name, named, agent.model if isinstance(agent, HasModel) else "")
