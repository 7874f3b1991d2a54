"""A turn whose process died: what still runs of it is ended, and its agent can be asked what it had used."""

from __future__ import annotations

from pathlib import Path

from loopwright.agents.port import ReportsCost
from loopwright.errors import AgentFailed
from loopwright.sandbox import place
from loopwright.stages.context import Context


def end_processes(context: Context, mailbox: Path) -> None:
    """Before its sandbox is cleared: an agent that outlived whoever asked it is ended."""
    folder, root = mailbox.parent, context.wanted_sandbox_root().resolve()
    if folder in (*place.leftovers(root, context.project), *place.unfinished(root, context.project)):
        place.end_processes(folder)


def reporter_of(context: Context, agent: str) -> ReportsCost | None:
    """Who can tell what it used; None where that agent can't, or is gone."""
    try:
        found = context.open_agent(agent)
    except AgentFailed:
        return None
    return found if isinstance(found, ReportsCost) else None
