"""Where somebody can work by hand: in loops and builds, whose turns can be found and handed in."""

from __future__ import annotations

from loopwright.agents.port import Reason, Role, WorksOutside
from loopwright.errors import AgentFailed
from loopwright.stages.context import Context


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
