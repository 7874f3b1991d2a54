"""`loopwright loop choose` and `mode`: who says what a loop does next, and what a person says."""

from __future__ import annotations

import secrets

from loopwright.loop import commands as c
from loopwright.loop import events as e
from loopwright.loop.model import Action, Loop, Mode
from loopwright.stages.context import Context
from loopwright.stages.person import actor, require_person
from loopwright.stages.stores import loops_of


def choose(context: Context, loop_id: str, action: Action, *, revision: int | None = None) -> Loop:
    """What is next; whoever drives the loop then does it."""
    require_person(context.environment, "loop choose")
    with loops_of(context).changing(loop_id, revision=revision) as opened:
        return opened.apply(c.Choose(action=action, action_id=f"a-{secrets.token_hex(4)}"), actor()).loop


def set_mode(context: Context, loop_id: str, mode: Mode, *, revision: int | None = None) -> Loop:
    """Let the rules choose from now on, or a person."""
    require_person(context.environment, "loop mode")
    with loops_of(context).changing(loop_id, revision=revision) as opened:
        return opened.apply(e.ModeSet(mode=mode), actor()).loop
