"""`loopwright status` and `next`: all workflows at a glance, off their `state.json` alone. Imports little."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from loopwright.kernel.files import read_plainly
from loopwright.workspace.layout import Layout

STAGES = ("clarify", "plan", "build", "review", "done", "damaged")
_MOST_BYTES = 64 << 20


class Listed(msgspec.Struct, frozen=True):
    """A workflow in a line."""

    slug: str
    current_stage: str = "damaged"
    stage_status: str = ""
    archive_status: str = ""
    spec_sync_status: str = ""
    pending_user_decision: str | None = None
    updated_at: str = ""
    recommended_next_action: str = ""


def list_workflows(layout: Layout) -> list[Listed]:
    """Every workflow, the newest change first."""
    return sorted(_listed(layout), key=lambda one: (one.updated_at, one.slug), reverse=True)


def _listed(layout: Layout) -> Iterator[Listed]:
    decoder = msgspec.json.Decoder(Listed)
    for slug in layout.workflow_slugs():
        damaged = Listed(slug, recommended_next_action=f"loopwright status {slug}")
        try:
            found = decoder.decode(read_plainly(layout.workflow(slug).state, most=_MOST_BYTES))
        except (OSError, ValueError):
            found = damaged
        yield found if found.slug == slug and found.current_stage in STAGES else damaged
