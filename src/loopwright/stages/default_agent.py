"""Which agent does the work of a role: the one that the caller names, else the one that the settings name."""

from __future__ import annotations

from loopwright.agents.port import Role
from loopwright.errors import WorkflowRefused
from loopwright.stages.context import Context

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
