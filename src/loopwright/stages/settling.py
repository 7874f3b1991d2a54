"""Archives that a crash cut short are finished before anybody reads or writes living specs."""

from __future__ import annotations

from contextlib import suppress

from loopwright.errors import LoopwrightError
from loopwright.stages.context import Context
from loopwright.stages.stores import workflows_of
from loopwright.workflow.listing import list_workflows

_ARCHIVED = b'"kind":"archived"'


def settle_archives(context: Context, *, but: str = "") -> None:
    """Open each workflow that may have one: opening finishes it.

    `state.json` is written behind the journal: one that says `synced` was settled, and needs no second look.
    """
    for one in list_workflows(context.layout):
        if one.slug == but or one.spec_sync_status == "synced" or not _was_archived(context, one.slug):
            continue
        with suppress(LoopwrightError), workflows_of(context).changing(one.slug):
            pass  # one that can't be opened has its own command that says so


def _was_archived(context: Context, slug: str) -> bool:
    """By the journal's bytes alone: to read it as what it is would take long for a thousand of them."""
    try:
        return _ARCHIVED in context.layout.workflow(slug).journal.read_bytes()
    except OSError:
        return False
