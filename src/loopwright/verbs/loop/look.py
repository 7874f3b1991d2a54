"""`loopwright loop show`: one loop, found by its id, a part of the id, or its workflow."""

from __future__ import annotations

from loopwright.errors import LoopRefused
from loopwright.loop.model import Loop
from loopwright.stages.context import Context, loops_of, workflows_of
from loopwright.stages.loop_control import has_worker
from loopwright.stages.names import slug_of

__all__ = ["has_worker", "loop_named", "resolve", "show_loop"]


def show_loop(context: Context, loop_id: str) -> Loop:
    """The loop of this id."""
    return loops_of(context).load(resolve(context, loop_id))


def resolve(context: Context, name: str) -> str:
    """The id of the loop for an id, or for the start or the end of an id; an unknown name is returned as it is."""
    ids = loops_of(context).ids()
    if name in ids:
        return name
    matching = [loop_id for loop_id in ids if loop_id.endswith(name) or loop_id.startswith(name)] if name else []
    return matching[0] if len(matching) == 1 else name


def loop_named(context: Context, name: str) -> str:
    """The same as `resolve`, but for the name of a workflow the loop of its last build."""
    # Parts of ids are tried last: the name of a workflow may look like one.
    if name in loops_of(context).ids() or not (context.layout.workflows / slug_of(name)).is_dir():
        return resolve(context, name)
    slug = slug_of(name)
    with workflows_of(context).changing(slug) as opened:
        loops = opened.workflow.loops
    if not loops:
        raise LoopRefused(
            "not_built_yet", f"{slug} has no build yet", hint=f"`loopwright build {slug} --agent interactive --detach`"
        )
    return loops[-1]
