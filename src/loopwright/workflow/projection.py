"""`state.json`: a workflow in the names of the contract, for agents and other tools. Derived; never read back."""

from __future__ import annotations

from typing import Any

import msgspec

from loopwright.workflow.advice import authorizations, evidence_chain, next_choices, next_command
from loopwright.workflow.facts import Facts
from loopwright.workflow.listing import NO_ARCHIVE
from loopwright.workflow.model import (
    FORWARD,
    Approved,
    Archived,
    Done,
    Key,
    Rejected,
    Requested,
    Transition,
    UsedApproval,
    Workflow,
)
from loopwright.workflow.standing import Readiness, Standing, status_of

SCHEMA_VERSION = 1


def document_of(workflow: Workflow, facts: Facts, standing: Standing) -> dict[str, Any]:
    """The projection, with the keys of the contract."""
    review = workflow.review
    asked = _asked(workflow)
    return {
        "slug": workflow.slug,
        "schema_version": SCHEMA_VERSION,
        "revision": workflow.revision,
        "created_at": workflow.created_at,
        "updated_at": workflow.updated_at,
        "current_stage": workflow.stage.value,
        "stage_status": stage_status(workflow, standing),
        "pending_user_decision": _pending(workflow, asked),
        "requested_transition": asked.value if asked is not None else None,
        "last_confirmed_transition": workflow.confirmed.value if workflow.confirmed is not None else None,
        "completion_confirmed": isinstance(workflow.at, Done | Archived),
        "approval": {key.value: _approval(workflow, key, standing) for key in Key},
        "review_status": "complete" if review is not None else "pending",
        "execution_record_status": facts.record_status,
        "review_verdict": review.verdict if review is not None else None,
        "rollback_target": review.target.value if review is not None and review.target is not None else None,
        "rollback_rationale": _rationale(workflow),
        "review_handoff_ready": not standing.readiness.review and workflow.stage.value in ("build", "review", "done"),
        "change_id": workflow.change_id,
        "change_artifacts_status": facts.change_status,
        "slice_artifacts_status": facts.slices_status,
        "spec_delta_status": facts.delta_status,
        "spec_sync_status": "synced" if isinstance(workflow.at, Archived) and not workflow.at.pending else "pending",
        "archive_status": _archive_status(workflow),
        "context_manifest_status": facts.manifest_status,
        "spec_status": facts.spec_status,
        "readiness": readiness_document(standing.readiness),
        "authorization": authorizations(workflow, standing),
        "current_evidence_chain": [msgspec.to_builtins(link) for link in evidence_chain(workflow, facts, standing)],
        "recommended_next_action": next_command(workflow, standing),
        "choices": [msgspec.to_builtins(choice) for choice in next_choices(workflow, standing)],
    }


def readiness_document(readiness: Readiness) -> dict[str, Any]:
    """Each gate with its blockers."""
    gates = {name: getattr(readiness, name) for name in Readiness.__struct_fields__}
    return {
        name: {"ready": not blockers, "blockers": [msgspec.to_builtins(blocker) for blocker in blockers]}
        for name, blockers in gates.items()
    }


def stage_status(workflow: Workflow, standing: Standing) -> str:
    """The status of the stage in the contract's terms."""
    if isinstance(workflow.at, Done | Archived):
        return "completed"
    if workflow.review is not None and workflow.review.verdict == "request-changes":
        return "pending-rework"
    is_ready = not standing.readiness.before(FORWARD[workflow.stage].target)
    return "awaiting-approval" if is_ready else "blocked"


def _archive_status(workflow: Workflow) -> str:
    if workflow.is_quick and isinstance(workflow.at, Done):
        return NO_ARCHIVE
    if not isinstance(workflow.at, Archived):
        return "active"
    return "archiving" if workflow.at.pending else "archived"


def _asked(workflow: Workflow) -> Transition | None:
    approvals = (workflow.approval(key) for key in Key)
    return next((approval.transition for approval in approvals if isinstance(approval, Requested)), None)


def _pending(workflow: Workflow, asked: Transition | None) -> str | None:
    decision = next((decision for decision in workflow.decisions if decision.answer is None), None)
    if decision is not None:
        return f"{decision.id}: {decision.question}"
    return f"approve {asked.value}" if asked is not None else None


def _approval(workflow: Workflow, key: Key, standing: Standing) -> dict[str, Any]:
    approval = workflow.approval(key)
    document: dict[str, Any] = {"status": status_of(approval, standing)}
    match approval:
        case Approved() | UsedApproval():
            document |= {
                "transition": approval.transition.value, "by": approval.by, "at": approval.at,
                "subject_hash": approval.subject.hash,
            }  # fmt: skip
        case Rejected():
            document |= {
                "transition": approval.transition.value, "by": approval.by, "at": approval.at,
                "reason": approval.reason,
            }  # fmt: skip
        case Requested():
            document |= {"transition": approval.transition.value, "at": approval.at}
        case _:
            pass
    return document


def _rationale(workflow: Workflow) -> str | None:
    """Why the change goes back: the approver's reason comes before the reviewer's."""
    consent = workflow.approval(Key.ROLLBACK)
    if isinstance(consent, Approved) and consent.rationale:
        return consent.rationale
    return workflow.review.rationale if workflow.review is not None else None
