"""`loopwright loop show`: one loop, and which one is meant."""

from __future__ import annotations

from loopwright.errors import LoopRefused
from loopwright.loop.model import Loop
from loopwright.stages.context import Context, loops_of, workflows_of
from loopwright.stages.loop_control import has_worker
from loopwright.stages.names import slug_of

__all__ = ["has_worker", "loop_named", "resolve", "show_loop"]


def show_loop(context: Context, loop_id: str) -> Loop:
    """One loop, whole."""
    return loops_of(context).load(resolve(context, loop_id))


def resolve(context: Context, name: str) -> str:
    """The loop that is meant: an id, the end or the start of one."""
    ids = loops_of(context).ids()
    if name in ids:
        return name
    matching = [loop_id for loop_id in ids if loop_id.endswith(name) or loop_id.startswith(name)] if name else []
    return matching[0] if len(matching) == 1 else name


def loop_named(context: Context, name: str) -> str:
    """An id, the start or the end of one, or the name of a workflow: then the loop that built it last."""
    # A part of an id comes last: a workflow may be named like one.
    if name in loops_of(context).ids() or not (context.layout.workflows / slug_of(name)).is_dir():
        return resolve(context, name)
    slug = slug_of(name)
    with workflows_of(context).changing(slug) as opened:
        loops = opened.workflow.loops
    if not loops:
        raise LoopRefused(
            "not_built_yet", f"{slug} was not built yet", hint=f"`loopwright build {slug} --agent interactive --detach`"
        )
    return loops[-1]
