"""A command-line walk, or a lie of the bench, provokes each blocker and each error of the contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.workflow.blockers import Family

TESTS = Path(__file__).parent.parent
WALKS = "\n".join(
    path.read_text(encoding="utf-8")
    for folder in (TESTS / "walks", TESTS.parent / "bench" / "lies")
    for path in sorted(folder.rglob("*.py"))
)
ERRORS = (
    "workflow_not_initialized", "invalid_transition", "approval_from_stage_mismatch", "approved_transition_required",
    "rollback_rationale_required", "review_not_approved", "review_build_fix_not_requested",
    "review_plan_fix_not_requested", "review_clarify_fix_not_requested", "archive_requires_done_workflow",
    "plan_package_incomplete", "plan_review_gate_blocked", "clarify_readiness_blocked",
    "build_requires_workflow_plan_artifacts", "build_requires_approved_plan_artifacts",
    "build_from_review_artifact_required", "build_from_review_artifact_missing", "build_review_gate_blocked",
    "review_gate_blocked", "review_done_scope_blocked", "archive_blocked", "archive_scope_blocked",
    "autopilot_phase_blocked", "autopilot_requires_resolved_spec", "autopilot_review_failed",
    "invalid_clarify_profile", "no_progress", "spec_delta_empty", "spec_delta_missing_domains",
    "spec_delta_missing_requirements",
)  # fmt: skip


@pytest.mark.parametrize("code", [*(family.code for family in Family), *ERRORS])
def test_each_code_is_named_in_a_walk(code):
    assert f'"{code}' in WALKS
