"""Decisions of a person about a workflow: approve or reject a transition, sign, undo a delivery."""

from __future__ import annotations

import msgspec

from loopwright.errors import WorkflowConflict, WorkflowRefused, WrongUsage
from loopwright.kernel.locks import locked
from loopwright.kernel.process import Cancellation
from loopwright.stages.building.built import built, require_outside_build, require_verified
from loopwright.stages.building.loop_proofs import record_proofs
from loopwright.stages.building.settle import settle_build
from loopwright.stages.building.sign_part import judge_part
from loopwright.stages.context import Context, workflows_of
from loopwright.stages.deliver import deliver, undo
from loopwright.stages.names import transition_of
from loopwright.stages.person import actor, require_own_words, require_person
from loopwright.stages.proof import evidence_problems
from loopwright.stages.status import WorkflowView, view_of
from loopwright.workflow import commands as c
from loopwright.workflow import events as e
from loopwright.workflow.audit import audited, check_digest, requirement_digest, signed_digest
from loopwright.workflow.build_gate import as_if_signed, tests_digest
from loopwright.workflow.model import Archived, Building, Done, Key, Signature, Transition, Workflow
from loopwright.workflow.rules import SCOPE_BLOCKED, Deliver
from loopwright.workflow.stage import Stage
from loopwright.workflow.store import SPECS_LOCK, Opened
from loopwright.workflow.verdict import OWN_CHECKS
from loopwright.workflow.verification import PROJECT_TESTS, PROTECTED, WITHOUT_PROTECTED, Verification


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
        standing = opened.standing(evidence=_unverified(context, opened, transition))
        tested_by = context.settings.values.project.command_text if transition is Transition.PLAN_BUILD else None
        command = c.Approve(
            transition=transition, standing=standing, by=by, rationale=rationale, seals=seals, test_command=tested_by
        )
        try:
            effects = opened.apply(command, by)
        except WorkflowRefused as refusal:
            raise _sent_back(opened, refusal) if refusal.error == SCOPE_BLOCKED else refusal from None
        if Deliver() in effects:
            sentence = _deliver(context, opened, transition, by, as_branch=as_branch)
        snapshot = opened.snapshot()
    at = snapshot.workflow.at
    if isinstance(at, Building) and at.loop_id is not None:
        # A person who approves the build answers what only a policy may not accept.
        record_proofs(context, snapshot, at.loop_id)
    return ConsentReport(view_of(context, snapshot), sentence)


def _unverified(context: Context, opened: Opened, transition: Transition) -> dict[str, str]:
    """Runs that no longer verify, before the work leaves Loopwright."""
    if transition is not Transition.REVIEW_DONE:
        return {}
    return evidence_problems(context, opened.workflow, opened.facts())


def _sent_back(opened: Opened, refusal: WorkflowRefused) -> WorkflowRefused:
    """The review missed a part of the scope: its verdict becomes a request for changes in the build."""
    workflow = opened.workflow
    why = "; ".join(message for _, message, _ in refusal.blockers)
    if workflow.review is not None:
        corrected = msgspec.structs.replace(
            workflow.review,
            verdict="request-changes",
            target=Stage.BUILD,
            requested_by=(OWN_CHECKS,),
            is_by_person=False,
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
    require_own_words(reason)
    transition = transition_of(origin, target)
    if not reason.strip():
        raise WrongUsage("a rejection needs a reason", hint="describe what has to change: --reason TEXT")
    with workflows_of(context).changing(slug) as opened:
        require_outside_build(context, opened.workflow, "reject")
        text = context.tools().redactor.clean(reason).text
        subject = opened.standing().subject(transition)
        opened.apply(e.ApprovalRefused(transition=transition, reason=text, by=actor(), subject=subject), actor())
        snapshot = opened.snapshot()
    return view_of(context, snapshot)


def sign_subject(
    context: Context,
    slug: str,
    what: str,
    *,
    only: str = "",
    note: str = "",
    cancellation: Cancellation | None = None,
) -> WorkflowView:
    """Sign off the current content of a slice, of changed protected files, or of tests that the work breaks.

    `only` is a glob: other protected changes are left out, and the checks run on that tree first.
    """
    require_person(context.environment, "sign")
    require_own_words(note)
    text = context.tools().redactor.clean(note).text
    part = _judged_part(context, slug, only, cancellation) if what == PROTECTED and only else None
    with workflows_of(context).changing(slug) as opened:
        require_outside_build(context, opened.workflow, "sign")
        if part is not None and not part.is_about(opened.workflow):
            raise WorkflowConflict(
                f"the work of {slug} changed while its checks ran",
                hint=f"check the new state: `loopwright status {slug}`",
            )
        name, digest = _subject(opened, what)
        if part is not None:
            opened.apply(e.WorkVerified(verification=part.verification), actor())
            name = f"{PROTECTED} {only}"
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


class _JudgedPart(msgspec.Struct, frozen=True):
    """The work of a workflow with a part of its protected changes, judged."""

    verification: Verification
    workflow: Workflow

    def is_about(self, workflow: Workflow) -> bool:
        """Whether the work is still the one that was judged. Control runs for it may have been recorded meanwhile."""
        return (workflow.verification, workflow.at) == (self.workflow.verification, self.workflow.at)


def _judged_part(context: Context, slug: str, only: str, cancellation: Cancellation | None) -> _JudgedPart:
    """Run the checks without holding the workflow's lock: they may take long."""
    workflow = workflows_of(context).snapshot(slug).workflow
    require_outside_build(context, workflow, "sign")
    return _JudgedPart(judge_part(context, workflow, only, cancellation or Cancellation()), workflow)


def _subject(opened: Opened, what: str) -> tuple[str, str]:
    # The gate judges the work as if its protected changes were signed, if it needs them.
    workflow = as_if_signed(opened.workflow)
    slices, verified = opened.facts().readable_slices, workflow.verification
    signed_slice = slices.slice(what.upper())
    if signed_slice is not None:
        return signed_slice.id, signed_digest(signed_slice, verified)
    if verified is not None and what in verified.judges:
        return what, verified.judges[what]
    for line in audited(workflow, opened.facts()).unproven:
        if what.upper() == line.id:
            return line.id, requirement_digest(line, verified)
    now = opened.workflow.verification
    protected = now.protected if now is not None else None
    if protected is not None and what == PROTECTED and protected.outcome == "fails_with":
        raise WorkflowRefused(
            "protected_part_fails",
            "the checks fail with the changes to protected files; nothing was signed",
            next_command=f"loopwright sign {opened.workflow.slug} --without-protected",
        )
    if protected is not None and what in (PROTECTED, WITHOUT_PROTECTED):
        return what, protected.digest
    doubtful = _doubtful_checks(verified)
    if verified is not None and what in doubtful:
        return what, check_digest(what, verified)
    tests = verified.tests if verified is not None else None
    are_broken = tests is not None and (tests.broken > 0 or tests.is_unread or not tests.base_judged)
    if verified is not None and what == PROJECT_TESTS and are_broken:
        return what, tests_digest(verified)
    known = [known_slice.id for known_slice in slices.slices]
    known += [*verified.judges, *doubtful] if verified is not None else []
    known += [PROJECT_TESTS] if are_broken else []
    known += ["--protected"] if protected is not None and protected.decision == "open" else []
    raise WorkflowRefused.see_status(
        opened.workflow.slug,
        "nothing_to_sign",
        f"'{what}' does not wait for a signature (known: {', '.join(known[:10]) or 'none'})",
    )


def _doubtful_checks(verified: Verification | None) -> tuple[str, ...]:
    """Checks that can't fail, or that did not come to their end on the base."""
    if verified is None:
        return ()
    unjudged = (name for name, run in verified.checks.items() if not run.base_judged)
    return tuple(dict.fromkeys((*verified.immune, *unjudged)))


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
        if opened.workflow.is_quick:
            context.layout.quick_page(slug).unlink(missing_ok=True)
        snapshot = opened.snapshot()
    return ConsentReport(view_of(context, snapshot), sentence)
