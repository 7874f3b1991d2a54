"""Which loop is meant, by its own name or by that of the workflow that it builds."""

from __future__ import annotations

from loopwright.errors import LoopRefused
from loopwright.stages.context import Context
from loopwright.stages.names import slug_of
from loopwright.stages.stores import loops_of, workflows_of
from loopwright.verbs.loop.look import resolve


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
