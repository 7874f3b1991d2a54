"""Who of the agents of these settings built a change, under whatever name: they can't review it."""

from __future__ import annotations

from loopwright.agents.model_choice import AgentIdentity, identity_of, matching_builder
from loopwright.agents.port import HasModel
from loopwright.errors import LoopwrightError
from loopwright.stages.context import Context
from loopwright.workflow.documents.record import Record


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
