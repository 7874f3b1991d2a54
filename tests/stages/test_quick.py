"""What `loopwright do` derives from an idea, and what a person signs for."""

from __future__ import annotations

import pytest

from loopwright.stages.quick.commit import proposed_message
from loopwright.stages.quick.decide import subject_to_sign
from loopwright.workflow.blockers import Blocker, Family, blocker
from loopwright.workflow.model import Clarifying, Workflow
from loopwright.workflow.profiles import QUICK
from loopwright.workflow.verification import PROCESS_STATE, ProtectedChanges, Verification

AT = "2026-01-01T00:00:00Z"
LONG = "make the signer accept keys of any length, and say in the error which length it had before"


def workflow(idea="add it", **verified):
    verification = Verification(iteration=1, tree="t", patch_sha256="p", files=(), checks={}, **verified)
    return Workflow(
        slug="x", idea=idea, profile=QUICK, created_at=AT, updated_at=AT, revision=1, at=Clarifying(),
        verification=verification,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("idea", "message"),
    [
        ("add Signer.__repr__", "Add Signer.__repr__\n"),
        ("fix it\n\nin two places", "Fix it\n\nin two places\n"),
        (LONG, f"M{LONG[1:71]}…\n\n{LONG[:69]}\n{LONG[70:]}\n"),
    ],
)
def test_the_idea_becomes_the_message_of_the_commit(idea, message):
    found = proposed_message(workflow(idea))
    assert found == message
    assert len(found.splitlines()[0]) <= 72


def protected(outcome):
    return ProtectedChanges(
        digest="d", files={"Makefile": "changed"}, test_files=(), outcome=outcome, tree="t", patch_sha256="p", checks={}
    )


@pytest.mark.parametrize(
    ("found", "verified", "subject"),
    [
        (Blocker("unproven_requirement_REQ-1", ""), {}, "REQ-1"),
        (Blocker("vacuous_check_VS-1-C1", ""), {}, "VS-1-C1"),
        (Blocker("process_state_changed", ""), {}, PROCESS_STATE),
        (Blocker("sealed_file_changed_a.py", ""), {"judges": {"a.py": "d"}}, "a.py"),
        (Blocker("sealed_file_changed_Makefile", ""), {"protected": protected("passes_without")}, "protected"),
        (Blocker("changed_test_Makefile", ""), {"protected": protected("passes_only_with")}, "protected"),
        (Blocker("sealed_file_changed_Makefile", ""), {"protected": protected("fails_with")}, "without-protected"),
        (blocker(Family.COMPLETION_AUDIT_NOT_RUN, slug="x"), {}, None),
        (Blocker("a_code_of_another_version", ""), {}, None),
    ],
)
def test_each_doubt_has_a_signature_or_none_helps(found, verified, subject):
    assert subject_to_sign(workflow(**verified), found) == subject
