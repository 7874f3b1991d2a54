"""What a person can do about a blocker of built work: look first, and sign last."""

from __future__ import annotations

import pytest

from loopwright.workflow.blockers import Blocker, Family
from loopwright.workflow.choices import before_approval, look_command, with_choices
from loopwright.workflow.model import Building, Workflow
from loopwright.workflow.profiles import PROFILES

WORKFLOW = Workflow(
    slug="greet",
    idea="i",
    profile=PROFILES["standard"],
    created_at="",
    updated_at="",
    revision=1,
    at=Building(plan="p"),
)
APPROVE = "approve greet --from build --to review"


@pytest.mark.parametrize(
    ("code", "commands"),
    [
        ("vacuous_check_C", ["loop diff greet", "build greet", "sign greet C"]),
        ("unproven_requirement_REQ-1", ["loop diff greet", "build greet", "sign greet REQ-1"]),
        ("process_state_changed", ["loop diff greet", "build greet", "sign greet process-state"]),
        ("flagged", ["loop diff greet", "build greet", APPROVE]),
        ("unaltered_proof_REQ-1", ["loop diff greet", APPROVE]),
        ("tests_unread", ["build greet", "loop diff greet", "sign greet project-tests"]),
        ("base_not_judged_C", ["build greet", "loop diff greet", "sign greet C"]),
        ("nothing_changed", []),
    ],
)
def test_a_signature_comes_last(code, commands):
    blocker = with_choices(WORKFLOW, Blocker(code, "m", "the only command"))
    assert [choice.command.removeprefix("loopwright ") for choice in blocker.choices] == commands
    assert blocker.next == (blocker.choices[0].command if commands else "the only command")
    assert all(choice.does for choice in blocker.choices)


def test_work_without_a_doubt_is_approved_at_once():
    assert before_approval("greet", [Blocker(Family.RISK_ABOVE_FLOOR.code, "m")]) == ()


def test_a_path_is_quoted_for_the_shell():
    assert look_command("greet", "tests/a b.py") == "loopwright loop diff greet 'tests/a b.py'"
