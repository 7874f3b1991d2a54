"""A person signs off a slice, accepts a change to a protected file, or accepts tests that the work breaks."""

from __future__ import annotations

from loopwright.errors import WorkflowRefused
from loopwright.stages.building.outside_build import require_outside_build
from loopwright.stages.building.settle import settle_build
from loopwright.stages.context import Context
from loopwright.stages.person import actor
from loopwright.stages.status import WorkflowView, view_of
from loopwright.stages.stores import workflows_of
from loopwright.workflow import events as e
from loopwright.workflow.audit import immune_digest
from loopwright.workflow.model import Building, Signature
from loopwright.workflow.project_tests import PROJECT_TESTS, signed_digest
from loopwright.workflow.slices import Slices
from loopwright.workflow.store import Opened


def sign_subject(context: Context, slug: str, what: str, *, note: str) -> WorkflowView:
    """Record a person's signature for the content as it is now, and no other."""
    said = context.tools().redactor.clean(note).text
    with workflows_of(context).changing(slug) as opened:
        require_outside_build(context, opened.workflow, "sign")
        name, digest = _subject(opened, what)
        signature = Signature(what=name, digest=digest, by=actor(), at=opened.now, note=said)
        at = opened.apply(e.Signed(signature=signature), actor()).workflow.at
        snapshot = opened.snapshot()
    if isinstance(at, Building) and at.loop_id is not None:
        # The signature may clear the last blocker of the build: then the build's record says so now.
        settle_build(context, slug, at.loop_id)
        with workflows_of(context).changing(slug) as opened:
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
    are_broken = verified is not None and verified.tests is not None and verified.tests.broken
    if verified is not None and what == PROJECT_TESTS and are_broken:
        return what, signed_digest(verified)
    known = [one.id for one in slices.slices] if isinstance(slices, Slices) else []
    known += [*verified.judges, *verified.immune] if verified is not None else []
    known += [PROJECT_TESTS] if are_broken else []
    raise WorkflowRefused(
        "nothing_to_sign",
        f"there is no slice and no changed judge '{what}' (there are: {', '.join(known[:10]) or 'none'})",
        next_command=f"loopwright status {opened.workflow.slug}",
    )
