"""`loopwright undo`: takes a delivered change back, whole or not at all."""

from __future__ import annotations

from loopwright.errors import WorkflowRefused
from loopwright.kernel.locks import locked
from loopwright.stages import deliver
from loopwright.stages.context import Context
from loopwright.stages.person import actor, require_person
from loopwright.stages.stores import workflows_of
from loopwright.verbs.workflow.approve import Consented
from loopwright.workflow import commands as c
from loopwright.workflow.model import Archived, Done
from loopwright.workflow.store import SPECS_LOCK


def undo(context: Context, slug: str) -> Consented:
    """The files, or the branch, as they were before; then the journal says so."""
    require_person(context.environment, "undo")
    with workflows_of(context).changing(slug) as opened:
        at = opened.workflow.at
        delivery = at.delivery if isinstance(at, Done | Archived) else None
        if delivery is None:
            raise WorkflowRefused(
                "nothing_delivered",
                f"nothing of {slug} was delivered",
                next_command=f"loopwright status {slug}",
            )
        # Archiving may have written the specs: nobody else does meanwhile.
        with locked(context.layout.lock(SPECS_LOCK)):
            said = deliver.undo(context, opened.workflow, delivery)
        after = opened.apply(c.Undo(by=actor()), actor()).workflow
    return Consented(after, said)
