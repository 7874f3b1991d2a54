"""A person signs off a slice, or accepts a change to a protected file."""

from __future__ import annotations

from loopwright.errors import WorkflowRefused
from loopwright.stages.building.outside_build import require_outside_build
from loopwright.stages.context import Context
from loopwright.stages.person import actor
from loopwright.stages.status import WorkflowView, view_of
from loopwright.stages.stores import workflows_of
from loopwright.workflow import commands as c
from loopwright.workflow.audit import immune_digest
from loopwright.workflow.model import Signature
from loopwright.workflow.slices import Slices
from loopwright.workflow.store import Opened


def sign_subject(context: Context, slug: str, what: str, *, note: str) -> WorkflowView:
    """Record a person's signature for the content as it is now, and no other."""
    said = context.tools().redactor.clean(note).text
    with workflows_of(context).changing(slug) as opened:
        require_outside_build(context, opened.workflow, "sign")
        name, digest = _subject(opened, what)
        signature = Signature(what=name, digest=digest, by=actor(), at=opened.now, note=said)
        opened.apply(c.Sign(signature=signature), actor())
        snapshot = opened.snapshot()
    return view_of(context, snapshot)


def _subject(opened: Opened, what: str) -> tuple[str, str]:
    slices = opened.facts().slices
    found = slices.slice(what.upper()) if isinstance(slices, Slices) else None
    if found is not None:
        tree = opened.workflow.verification.tree if opened.workflow.verification is not None else ""
        return found.id, f"{found.digest}@{tree}"
    verified = opened.workflow.verification
    if verified is not None and what in verified.judges:
        return what, verified.judges[what]
    if verified is not None and what in verified.immune:
        return what, immune_digest(what, verified)
    known = [one.id for one in slices.slices] if isinstance(slices, Slices) else []
    known += [*verified.judges, *verified.immune] if verified is not None else []
    raise WorkflowRefused(
        "nothing_to_sign",
        f"there is no slice and no changed judge '{what}' (there are: {', '.join(known[:10]) or 'none'})",
        next_command=f"loopwright status {opened.workflow.slug}",
    )
