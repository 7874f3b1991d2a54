"""Whether what `install` put in place is current, outdated, changed by the user or not ours. Reads only.

Hooks are looked at by `hook_check`, which tries them, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from loopwright.agents.harness import Scope
from loopwright.agents.kit import KITS, Kit, What
from loopwright.agents.marks import State
from loopwright.errors import LoopwrightError
from loopwright.kernel.files import shown
from loopwright.stages.context import Context
from loopwright.verbs.install_desk import Desk
from loopwright.verbs.install_parts import Item, part_of, place_of

_LOOKED_AT = (What.SKILLS, What.INSTRUCTIONS, What.MCP)
Health = Literal["ok", "note", "problem"]


class PartFound(msgspec.Struct, frozen=True):
    """One part of one agent: where, how it stands, and what to do about it."""

    where: str
    health: Health
    said: str
    remedy: str = ""
    code: str = ""


def check_installed(context: Context) -> Iterator[PartFound]:
    """Every part that is there, in any state."""
    for kit in KITS.values():
        for scope in Scope:
            for what in _LOOKED_AT:
                where = _where(what, kit.agent, scope)
                try:
                    yield from _judged(context, kit, scope, what, where)
                except LoopwrightError as problem:
                    health: Health = "problem" if place_of(context, kit, scope).may_hold_ours(what) else "note"
                    yield PartFound(where, health, problem.message, problem.hint, "installed_unreadable")


def _where(what: What, agent: str, scope: Scope) -> str:
    match what:
        case What.SKILLS:
            return f"skills of {agent} ({scope})"
        case What.INSTRUCTIONS:
            return f"instructions of {agent} ({scope})"
        case _:
            return f"MCP server of {agent} ({scope})"


def _judged(context: Context, kit: Kit, scope: Scope, what: What, where: str) -> Iterator[PartFound]:
    place = place_of(context, kit, scope)
    part = part_of(what, place)
    items = (
        [item for item in part.items(Desk(place.top())) if item.state is not State.ABSENT] if part is not None else []
    )
    if not items:
        return
    again = f"`loopwright install --agent {kit.agent} --scope {scope} --what {what}`"
    for state in (State.OUTDATED, State.CHANGED, State.FOREIGN):
        if of_it := [item for item in items if item.state is state]:
            yield _told(where, state, of_it, again)
    if all(item.state is State.CURRENT for item in items):
        yield PartFound(where, "ok", "current", code="installed_current")


def _told(where: str, state: State, items: list[Item], again: str) -> PartFound:
    paths = ", ".join([*(shown(item.path) for item in items[:3]), *(["…"] if items[3:] else [])])
    code = f"installed_{state.value}"
    match state:
        case State.OUTDATED:
            return PartFound(where, "note", f"of another version: {paths}", again, code)
        case State.CHANGED:
            said = f"changed by you, and left alone: {paths}"
            return PartFound(where, "note", said, f"to get ours: move it away, then {again}", code)
        case _:
            said = f"not ours, and left alone: {paths}"
            return PartFound(where, "note", said, f"to get ours: move it away, then {again}", code)
