"""Which agent works in a role: chosen by name or by the settings; and which agents may not review a build."""

from __future__ import annotations

import shutil

from loopwright.agents.model_choice import AgentIdentity, identity_of, matching_builder
from loopwright.agents.needs import HasNeeds
from loopwright.agents.port import HasModel, Reason, Role, WorksOutside
from loopwright.errors import AgentFailed, LoopwrightError, WorkflowRefused
from loopwright.stages.context import Context
from loopwright.workflow.documents.record import Record

_NOT_SET = {
    Role.PLANNER: "no agent is set for planning",
    Role.BUILDER: "no agent is set for building",
}


def agent_for(context: Context, role: Role, named: str | None) -> str:
    """The named agent, or the default agent of the role; an empty name means that no agent does the work."""
    return context.settings.values.agents.default_for_role(role) if named is None else named


def require_agent(context: Context, role: Role, named: str, *, command: str) -> str:
    """The same for work that needs an agent; `command` is the user's command without the agent."""
    agent = agent_for(context, role, named or None)
    if not agent:
        raise WorkflowRefused("agent_missing", _NOT_SET[role], next_command=f"{command} --agent NAME")
    return agent


def agent_to_do(context: Context, named: str, *, command: str) -> str:
    """The agent for `do`: the named agent, the default of the settings, else the only one that is installed here."""
    if agent := agent_for(context, Role.BUILDER, named or None):
        context.open_agent(agent)
        return agent
    programs = {agent.name: agent.needs.program for agent in context.known_agents() if isinstance(agent, HasNeeds)}
    path = context.environment.get("PATH")
    installed = [name for name, program in programs.items() if shutil.which(program, path=path) is not None]
    if len(installed) == 1:
        return installed[0]
    if installed:
        message = f"no agent is set for building, and several are installed: {', '.join(installed)}"
        way_on = f"{command} --agent {installed[0]}, or set agents.default in config.toml"
    else:
        message = f"no agent is set for building, and none of these is installed: {', '.join(programs)}"
        way_on = "loopwright doctor, which says how to install each"
    raise WorkflowRefused("agent_missing", message, next_command=way_on)


def works_by_hand(context: Context, name: str) -> bool:
    """Whether a person takes the turns of this agent by hand."""
    try:
        return isinstance(context.open_agent(name), WorksOutside)
    except AgentFailed:
        return False  # asking the agent to work reports the failure


def programs_in(context: Context, names: tuple[str, ...]) -> tuple[str, ...]:
    """The agents in `names` that run a program, so that no person has to find and take their turns."""
    return tuple(name for name in names if not works_by_hand(context, name))


def require_a_program(context: Context, name: str, role: Role) -> None:
    """Raise if the turns of this agent are taken by hand: no person would find the turn."""
    if works_by_hand(context, name):
        raise AgentFailed(
            Reason.AGENT_MISSING,
            f"{name} works by hand, which only loops and builds support: the role {role.value} needs another agent",
            hint="use an agent with a program, such as claude or codex: `loopwright doctor` lists them",
        )


def builder_behind(context: Context, record: Record, reviewer: str) -> str | None:
    """The builder with the same identity as this reviewer; None if the reviewer built nothing."""
    return matching_builder(reviewer, record.actors, lambda name: doer_behind(context, name)) if reviewer else None


def barred_from_review(context: Context, record: Record) -> frozenset[str]:
    """All builders, and all configured agents with the identity of a builder."""
    candidates = (*context.failover_agents(), *context.settings.values.agents.roles.values())
    same = (name for name in candidates if builder_behind(context, record, name) is not None)
    return frozenset((*record.actors, *same))


def doer_behind(context: Context, name: str) -> AgentIdentity:
    """The identity behind the name of an agent, by the current settings."""
    named = context.settings.values.agents.named
    try:
        agent = context.open_agent(name)
    except LoopwrightError:
        return identity_of(name, named)
    return identity_of(name, named, agent.model if isinstance(agent, HasModel) else "")
