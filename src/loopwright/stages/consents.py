"""Decisions of a person about a workflow: approve or reject a transition, sign, undo a delivery."""

from __future__ import annotations

import msgspec

from loopwright.errors import WorkflowRefused, WrongUsage
from loopwright.kernel.locks import locked
from loopwright.stages.building.built import built, require_outside_build, require_verified
from loopwright.stages.building.settle import settle_build
from loopwright.stages.context import Context, workflows_of
from loopwright.stages.deliver import deliver, undo
from loopwright.stages.names import transition_of
from loopwright.stages.person import actor, require_person
from loopwright.stages.status import WorkflowView, view_of
from loopwright.workflow import commands as c
from loopwright.workflow import events as e
from loopwright.workflow.audit import immune_digest, signed_digest
from loopwright.workflow.build_gate import PROJECT_TESTS, tests_digest
from loopwright.workflow.model import Archived, Building, Done, Key, Signature, Stage, Transition
from loopwright.workflow.rules import SCOPE_BLOCKED, Deliver
from loopwright.workflow.store import SPECS_LOCK, Opened


class ConsentReport(msgspec.Struct, frozen=True):
    """The workflow after the decision; `sentence` says what was delivered or undone."""

    view: WorkflowView
    sentence: str = ""


def give_consent(
    context: Context,
    slug: str,
    transition: Transition,
    *,
    by: str,
    rationale: str = "",
    revision: int | None = None,
    as_branch: bool = False,
) -> ConsentReport:
    """Record an approval of the current content, by a person or by the policy; `review -> done` delivers the result."""
    sentence = ""
    with workflows_of(context).changing(slug, revision=revision) as opened:
        require_outside_build(context, opened.workflow, "approve")
        seals = opened.facts().judges if transition.key is Key.BUILD else {}
        command = c.Approve(transition=transition, standing=opened.standing(), by=by, rationale=rationale, seals=seals)
        try:
            effects = opened.apply(command, by)
        except WorkflowRefused as refusal:
            raise _sent_back(opened, refusal) if refusal.error == SCOPE_BLOCKED else refusal from None
        if Deliver() in effects:
            sentence = _deliver(context, opened, transition, by, as_branch=as_branch)
        snapshot = opened.snapshot()
    return ConsentReport(view_of(context, snapshot), sentence)


def _sent_back(opened: Opened, refusal: WorkflowRefused) -> WorkflowRefused:
    """The review missed a part of the scope: its verdict becomes a request for changes in the build."""
    workflow = opened.workflow
    why = "; ".join(message for _, message, _ in refusal.blockers)
    if workflow.review is not None:
        corrected = msgspec.structs.replace(
            workflow.review,
            verdict="request-changes",
            target=Stage.BUILD,
            rationale=f"the build does not cover the whole scope: {why}",
        )
        opened.apply(e.WorkReviewed(review=corrected), "tool")
    return WorkflowRefused(
        refusal.error,
        f"{refusal.message}: the review now requests changes",
        next_command=f"loopwright approve {workflow.slug} --from review --to build",
        blockers=refusal.blockers,
    )


def _deliver(context: Context, opened: Opened, transition: Transition, by: str, *, as_branch: bool) -> str:
    workflow = opened.workflow
    work = built(context, workflow, require_verified(workflow))
    # Taken before the delivery: the delivery may change protected files, which were approved.
    standing = opened.standing()
    done = deliver(context, workflow, work, as_branch=as_branch)
    opened.apply(c.Enter(transition=transition, standing=standing, delivery=done.delivery), by)
    return done.sentence


def refuse_consent(context: Context, slug: str, origin: str, target: str, *, reason: str) -> WorkflowView:
    """Reject one transition, and record the reason."""
    require_person(context.environment, "reject")
    transition = transition_of(origin, target)
    if not reason.strip():
        raise WrongUsage("a rejection needs a reason", hint="describe what has to change: --reason TEXT")
    with workflows_of(context).changing(slug) as opened:
        require_outside_build(context, opened.workflow, "reject")
        text = context.tools().redactor.clean(reason).text
        opened.apply(e.ApprovalRefused(transition=transition, reason=text, by=actor()), actor())
        snapshot = opened.snapshot()
    return view_of(context, snapshot)


def sign_subject(context: Context, slug: str, what: str, *, note: str = "") -> WorkflowView:
    """Sign off the current content of a slice, of a changed protected file, or of tests that the work breaks."""
    require_person(context.environment, "sign")
    text = context.tools().redactor.clean(note).text
    with workflows_of(context).changing(slug) as opened:
        require_outside_build(context, opened.workflow, "sign")
        name, digest = _subject(opened, what)
        signature = Signature(what=name, digest=digest, by=actor(), at=opened.now, note=text)
        opened.apply(e.Signed(signature=signature), actor())
        snapshot = opened.snapshot()
    at = snapshot.workflow.at
    if isinstance(at, Building) and at.loop_id is not None:
        # The signature may clear the last blocker of the build; the record of the build is updated at once.
        settle_build(context, slug, at.loop_id)
        with workflows_of(context).changing(slug) as opened:
            snapshot = opened.snapshot()
    return view_of(context, snapshot)


def _subject(opened: Opened, what: str) -> tuple[str, str]:
    slices, verified = opened.facts().readable_slices, opened.workflow.verification
    signed_slice = slices.slice(what.upper())
    if signed_slice is not None:
        return signed_slice.id, signed_digest(signed_slice, verified)
    if verified is not None and what in verified.judges:
        return what, verified.judges[what]
    if verified is not None and what in verified.immune:
        return what, immune_digest(what, verified)
    are_broken = verified is not None and verified.tests is not None and verified.tests.broken
    if verified is not None and what == PROJECT_TESTS and are_broken:
        return what, tests_digest(verified)
    known = [known_slice.id for known_slice in slices.slices]
    known += [*verified.judges, *verified.immune] if verified is not None else []
    known += [PROJECT_TESTS] if are_broken else []
    raise WorkflowRefused.see_status(
        opened.workflow.slug,
        "nothing_to_sign",
        f"'{what}' is not a slice or a changed protected file (known: {', '.join(known[:10]) or 'none'})",
    )


def undo_delivery(context: Context, slug: str) -> ConsentReport:
    """Undo a delivered change, all of it or nothing."""
    require_person(context.environment, "undo")
    with workflows_of(context).changing(slug) as opened:
        at = opened.workflow.at
        delivery = at.delivery if isinstance(at, Done | Archived) else None
        if delivery is None:
            raise WorkflowRefused.see_status(slug, "nothing_delivered", f"{slug} has no delivery to undo")
        # Archiving may have written the specs: the lock keeps other commands from writing them meanwhile.
        with locked(context.layout.lock(SPECS_LOCK)):
            sentence = undo(context, opened.workflow, delivery)
        opened.apply(e.ChangeUndone(by=actor()), actor())
        snapshot = opened.snapshot()
    return ConsentReport(view_of(context, snapshot), sentence)
