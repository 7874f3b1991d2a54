"""`loopwright loop show`: one loop, and which one is meant."""

from __future__ import annotations

from loopwright.kernel.locks import is_held
from loopwright.loop.model import Loop
from loopwright.stages.context import Context
from loopwright.stages.stores import loops_of


def show_loop(context: Context, loop_id: str) -> Loop:
    """One loop, whole."""
    return loops_of(context).load(resolve(context, loop_id))


def has_worker(context: Context, loop_id: str) -> bool:
    """Whether a living process drives it."""
    return is_held(context.layout.loop_worker(loop_id))


def resolve(context: Context, name: str) -> str:
    """The loop that is meant: an id, the end or the start of one."""
    ids = loops_of(context).ids()
    if name in ids:
        return name
    matching = [loop_id for loop_id in ids if loop_id.endswith(name) or loop_id.startswith(name)] if name else []
    return matching[0] if len(matching) == 1 else name
