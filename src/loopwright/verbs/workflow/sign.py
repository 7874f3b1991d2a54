"""`loopwright sign`: a person signs off a slice, a changed judge, or tests that the work breaks on purpose."""

from __future__ import annotations

from loopwright.errors import WorkflowRefused
from loopwright.verbs.context import Context
from loopwright.verbs.loop.control import actor
from loopwright.verbs.person import require_person
from loopwright.verbs.workflow.build import settle
from loopwright.verbs.workflow.names import store_of
from loopwright.verbs.workflow.outside_build import require_outside_build
from loopwright.workflow import commands as c
from loopwright.workflow.audit import immune_digest
from loopwright.workflow.model import Building, Signature, Workflow
from loopwright.workflow.project_tests import PROJECT_TESTS, signed_digest
from loopwright.workflow.slices import Slices
from loopwright.workflow.store import Opened


def sign(context: Context, slug: str, what: str, *, note: str = "") -> Workflow:
    """For the content that is there now and no other."""
    require_person(context.environment, "sign")
    said = context.tools().redactor.clean(note).text
    with store_of(context).changing(slug) as opened:
        require_outside_build(context, opened.workflow, "sign")
        name, digest = _subject(opened, what)
        signature = Signature(what=name, digest=digest, by=actor(), at=opened.now, note=said)
        workflow = opened.apply(c.Sign(signature=signature), actor()).workflow
    at = workflow.at
    # What was signed may be all that kept the build from its end: then its record says so now.
    return settle(context, slug, at.loop_id) if isinstance(at, Building) and at.loop_id is not None else workflow


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
