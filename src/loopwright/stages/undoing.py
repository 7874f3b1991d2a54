"""Takes a delivered change back, whole or not at all."""

from __future__ import annotations

from loopwright.errors import WorkflowRefused
from loopwright.kernel.locks import locked
from loopwright.stages import deliver
from loopwright.stages.consents import ConsentReport
from loopwright.stages.context import Context
from loopwright.stages.person import actor
from loopwright.stages.status import view_of
from loopwright.stages.stores import workflows_of
from loopwright.workflow import events as e
from loopwright.workflow.model import Archived, Done
from loopwright.workflow.store import SPECS_LOCK


def undo_delivery(context: Context, slug: str) -> ConsentReport:
    """Bring the files, or the branch, back to what they were before; then record it."""
    with workflows_of(context).changing(slug) as opened:
        at = opened.workflow.at
        delivery = at.delivery if isinstance(at, Done | Archived) else None
        if delivery is None:
            raise WorkflowRefused(
                "nothing_delivered",
                f"nothing of {slug} was delivered",
                next_command=f"loopwright status {slug}",
            )
        # Archiving may have written the specs: no other command writes them meanwhile.
        with locked(context.layout.lock(SPECS_LOCK)):
            said = deliver.undo(context, opened.workflow, delivery)
        opened.apply(e.ChangeUndone(by=actor()), actor())
        snapshot = opened.snapshot()
    return ConsentReport(view_of(context, snapshot), said)
