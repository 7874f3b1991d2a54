"""Decisions of a person about the work of `do`: accept it, send it back with a comment, discard it."""

from __future__ import annotations

from loopwright.errors import WorkflowConflict
from loopwright.kernel.process import Cancellation
from loopwright.stages.consents import ConsentReport, give_consent, refuse_consent, sign_subject
from loopwright.stages.context import Context, workflows_of
from loopwright.stages.loop_texts import required_text
from loopwright.stages.person import actor, require_own_words, require_person
from loopwright.stages.quick.page import write_page
from loopwright.stages.quick.result import DoOutcome, DoResult
from loopwright.stages.reviewing.reviewers import ReviewRequest
from loopwright.stages.reviewing.stage import review_change
from loopwright.stages.status import WorkflowView, view_of, view_workflow
from loopwright.workflow import commands as c
from loopwright.workflow import events as e
from loopwright.workflow.blockers import Blocker, Family
from loopwright.workflow.model import Building, Transition, Workflow
from loopwright.workflow.verification import PROCESS_STATE, PROTECTED, WITHOUT_PROTECTED

_NOTE = "accepted in `loopwright do`, after the diff was shown"


def subject_to_sign(workflow: Workflow, found: Blocker) -> str | None:
    """What a person signs to accept the work in spite of this blocker; None if no signature helps."""
    family, verified = found.family, workflow.verification
    rest = found.code.removeprefix(family.code) if family is not None else ""
    match family:
        case Family.UNPROVEN_REQUIREMENT | Family.VACUOUS_CHECK:
            return rest
        case Family.PROCESS_STATE_CHANGED:
            return PROCESS_STATE
        case Family.SEALED_FILE_CHANGED if verified is not None and rest in verified.judges:
            return rest
        case Family.CHANGED_TEST | Family.SEALED_FILE_CHANGED:
            protected = verified.protected if verified is not None else None
            fails = protected is not None and protected.outcome == "fails_with"
            return WITHOUT_PROTECTED if fails else PROTECTED
        case _:
            return None


def accept_work(
    context: Context, result: DoResult, *, as_branch: bool = False, cancellation: Cancellation | None = None
) -> ConsentReport:
    """Deliver the work that a person has seen, with the signatures for what it waits for, and for nothing else."""
    require_person(context.environment, "do")
    slug = result.view.workflow.slug
    view = _signed(context, result, cancellation or Cancellation())
    if isinstance(view.workflow.at, Building):
        give_consent(context, slug, Transition.BUILD_REVIEW, by=actor())
    if isinstance(view.workflow.at, Building) or _needs_verdict(view):
        review_change(context, slug, ReviewRequest(verdict="approve", rationale=_NOTE), cancellation=cancellation)
    done = give_consent(context, slug, Transition.REVIEW_DONE, by=actor(), as_branch=as_branch)
    write_page(context, done.view, done.sentence)
    return done


def accept_if_proven(context: Context, result: DoResult, *, as_branch: bool = False) -> ConsentReport | None:
    """Deliver the work if it is proven, and no risk, flag or protected change holds it back; else None."""
    require_person(context.environment, "do --accept-if-proven")
    if result.outcome is not DoOutcome.PROVEN:
        return None
    slug, revision = result.view.workflow.slug, result.view.workflow.revision
    done = give_consent(
        context, slug, Transition.REVIEW_DONE, by=actor(), revision=revision, as_branch=as_branch
    )  # fmt: skip
    write_page(context, done.view, done.sentence)
    return done


def send_back(context: Context, slug: str, comment: str) -> None:
    """Record the comment of a person and the way back to the build; the next build has the comment as its task."""
    require_person(context.environment, "do")
    require_own_words(comment)
    text = required_text(context, "the comment", comment)
    view = view_workflow(context, slug)
    if isinstance(view.workflow.at, Building):
        refuse_consent(context, slug, "build", "review", reason=text)
        return
    review_change(context, slug, ReviewRequest(verdict="request-changes", target="build", rationale=text))
    with workflows_of(context).changing(slug) as opened:
        command = c.Approve(
            transition=Transition.REVIEW_BUILD, standing=opened.standing(), by=actor(), rationale=text,
            seals=opened.facts().judges,
        )  # fmt: skip
        opened.apply(command, actor())


def discard_work(context: Context, slug: str) -> WorkflowView:
    """End the workflow without a delivery. Its evidence and its patch stay."""
    require_person(context.environment, "do")
    with workflows_of(context).changing(slug) as opened:
        opened.apply(e.ChangeDiscarded(by=actor()), actor())
        snapshot = opened.snapshot()
    return view_of(context, snapshot)


def _signed(context: Context, result: DoResult, cancellation: Cancellation) -> WorkflowView:
    """The workflow after the signatures for what the person has seen. The work must not have changed since."""
    slug = result.view.workflow.slug
    view = view_workflow(context, slug)
    if view.workflow.revision != result.view.workflow.revision:
        raise WorkflowConflict(
            f"the work of {slug} changed after it was shown", hint=f"look again: `loopwright do --continue {slug}`"
        )
    seen = {subject_to_sign(result.view.workflow, reason) for reason in result.reasons} - {None}
    while isinstance(view.workflow.at, Building):
        subjects = (subject_to_sign(view.workflow, found) for found in view.blockers)
        what = next((subject for subject in subjects if subject in seen), None)
        if what is None:
            break
        seen.remove(what)
        sign_subject(context, slug, what, note=_NOTE, cancellation=cancellation)
        view = view_workflow(context, slug)
    return view


def _needs_verdict(view: WorkflowView) -> bool:
    review = view.workflow.review
    return review is None or review.verdict != "approve"
