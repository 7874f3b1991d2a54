"""What became of a quick workflow: how far it is, why it waits, and what a person looks at before deciding."""

from __future__ import annotations

from enum import StrEnum
from typing import assert_never

import msgspec

from loopwright.loop.model import Completed, Failed, Held, Holder, Loop
from loopwright.loop.own_work import own_work
from loopwright.loop.work_files import patch_path
from loopwright.reflection.risk import RiskVerdict
from loopwright.stages.context import Context, loops_of
from loopwright.stages.reviewing.mechanical import risk_of
from loopwright.stages.status import WorkflowView, view_workflow
from loopwright.workflow.blockers import Blocker, Family
from loopwright.workflow.model import (
    Approved,
    Archived,
    Building,
    Clarifying,
    Decision,
    Done,
    Key,
    Planning,
    Reviewing,
    Transition,
)


class DoOutcome(StrEnum):
    """How far the work is."""

    DELIVERED = "delivered"
    DISCARDED = "discarded"
    # Proven and reviewed: a person may accept it.
    PROVEN = "proven"
    # A risk, a flag or a protected change waits for a person.
    HELD = "held"
    # The agent asks a person.
    QUESTION = "question"
    UNPROVEN = "unproven"
    FAILED = "failed"


# Nothing proves the work, as far as these blockers say; a person may sign for it.
_UNPROVEN = frozenset({Family.UNPROVEN_REQUIREMENT, Family.VACUOUS_CHECK, Family.UNALTERED_PROOF})
# A person must look at this; they may sign for it.
_HELD = frozenset({
    Family.SEALED_FILE_CHANGED, Family.CHANGED_TEST, Family.PROCESS_STATE_CHANGED, Family.FLAGGED,
    Family.RISK_ABOVE_FLOOR, Family.APPROVAL_REJECTED,
})  # fmt: skip
# What follows from other blockers: the record of a build is complete when nothing else is missing.
_FOLLOWS = frozenset({
    Family.EXECUTION_RECORD, Family.COMPLETION_AUDIT_BLOCKED, Family.COMPLETION_AUDIT_MISSING_EVIDENCE,
})  # fmt: skip


class DoResult(msgspec.Struct, frozen=True, kw_only=True):
    """The work, for the decision of a person."""

    view: WorkflowView
    outcome: DoOutcome
    # Why it waits or failed, in the order of the gates.
    reasons: tuple[Blocker, ...]
    # The whole work, with its changes to protected files.
    patch: bytes = b""
    # What became of each protected file: "changed", "added" or "deleted".
    protected: dict[str, str] = {}
    risk: RiskVerdict | None = None

    @property
    def question(self) -> Decision | None:
        """The first open question of the agent."""
        return next((asked for asked in self.view.workflow.decisions if asked.answer is None), None)

    @property
    def may_be_accepted(self) -> bool:
        """Whether a person may accept it, some of it with a signature."""
        return self.outcome in (DoOutcome.PROVEN, DoOutcome.HELD, DoOutcome.UNPROVEN)


def must_be_built(context: Context, slug: str) -> bool:
    """Whether the next step of the workflow is to build: it is not planned or built yet, or was sent back."""
    view = view_workflow(context, slug)
    workflow = view.workflow
    match workflow.at:
        case Clarifying() | Planning():
            return True
        case Building(loop_id=loop_id):
            if loop_id is None:
                return True
            if any(asked.answer is None for asked in workflow.decisions):
                return False
            is_rejected = any(blocker.family is Family.APPROVAL_REJECTED for blocker in doubts_about(view))
            return is_rejected or not _has_ended(loops_of(context).load(loop_id))
        case Reviewing():
            consent = workflow.approval(Key.BUILD)
            return isinstance(consent, Approved) and consent.transition is Transition.REVIEW_BUILD
        case Done() | Archived():
            return False
        case _:
            assert_never(workflow.at)


def _has_ended(loop: Loop) -> bool:
    """Whether the loop did what it can: another turn of the same agent on the same work would only cost."""
    match loop.phase:
        case Completed():
            return True
        case Held(holds=holds):
            return all(hold.code == "no_progress" for hold in holds)
        case _:
            return False


def may_be_reviewed(view: WorkflowView) -> bool:
    """Whether the review may begin, or was interrupted."""
    workflow = view.workflow
    consent = workflow.approval(Key.REVIEW)
    if isinstance(workflow.at, Reviewing):
        return workflow.review is None
    is_given = isinstance(consent, Approved) and consent.transition is Transition.BUILD_REVIEW
    return isinstance(workflow.at, Building) and is_given and view.is_approved


def loop_of(context: Context, view: WorkflowView) -> Loop | None:
    """The loop of the build."""
    return loops_of(context).load(view.workflow.loops[-1]) if view.workflow.loops else None


def doubts_about(view: WorkflowView) -> tuple[Blocker, ...]:
    """What stops the next step, for a person or for a policy."""
    ready, reserved = view.standing.readiness, view.standing.for_a_person
    match view.workflow.at:
        case Building():
            return (*ready.review, *reserved.review)
        case Reviewing():
            return (*ready.done, *reserved.done)
        case _:
            return view.blockers


def result_of(context: Context, view: WorkflowView) -> DoResult:
    """What became of the workflow."""
    loop = loop_of(context, view)
    workflow = view.workflow
    reasons = tuple(found for found in doubts_about(view) if found.family not in _FOLLOWS)
    outcome = _outcome(view, loop, reasons)
    if loop is not None and isinstance(workflow.at, Building):
        reasons = (*_of_loop(loop), *reasons)
    verified, patch = workflow.judged or workflow.verification, _patch(context, loop)
    protected = verified.protected if verified is not None else None
    return DoResult(
        view=view,
        outcome=outcome,
        reasons=reasons,
        patch=patch,
        protected=protected.files if protected is not None else {},
        risk=risk_of(context, verified, patch) if verified is not None and patch else None,
    )


def _outcome(view: WorkflowView, loop: Loop | None, reasons: tuple[Blocker, ...]) -> DoOutcome:
    workflow, families = view.workflow, {found.family for found in reasons}
    if isinstance(workflow.at, Done | Archived):
        delivered = workflow.at.delivery is not None
        return DoOutcome.DELIVERED if delivered else DoOutcome.DISCARDED
    if any(asked.answer is None for asked in workflow.decisions):
        return DoOutcome.QUESTION
    if isinstance(workflow.at, Reviewing):
        is_approved = workflow.review is not None and workflow.review.verdict == "approve"
        by_tests = all(line.grade in ("tests", "command") for line in view.requirements)
        return DoOutcome.PROVEN if is_approved and not reasons and by_tests else DoOutcome.HELD
    is_unheard = Family.APPROVAL_REJECTED in families and loop is not None and not isinstance(loop.phase, Completed)
    if loop is None or workflow.verification is None or is_unheard or families - _UNPROVEN - _HELD:
        return DoOutcome.FAILED
    if families & _UNPROVEN:
        return DoOutcome.UNPROVEN
    return DoOutcome.HELD if families & _HELD else DoOutcome.FAILED


def _of_loop(loop: Loop) -> tuple[Blocker, ...]:
    """Why the loop of the build is held, or failed."""
    match loop.phase:
        case Held(holds=holds):
            return tuple(Blocker(hold.code, hold.message) for hold in holds if hold.holder is not Holder.DECISION)
        case Failed(code=code, reason=reason):
            return (Blocker(code, reason),)
        case _:
            return ()


def _patch(context: Context, loop: Loop | None) -> bytes:
    if loop is None or loop.tree is None or not loop.tree.has_changes:
        return b""
    progress = loops_of(context).paths(loop.loop_id).progress
    own = own_work(loop.tree, progress, context.project)
    return own.patch if own is not None else patch_path(progress, loop.tree.patch_sha256).read_bytes()
