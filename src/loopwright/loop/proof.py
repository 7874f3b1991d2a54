"""What the tests say about a loop's work: doubts, a grade for each task, and what a person can do. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

import msgspec

from loopwright.judging.reports.model import TestResult
from loopwright.wording.catalogue import few
from loopwright.wording.choices import PersonChoice

# The codes of doubts about protected changes; the code of a changed test ends with its path.
PROTECTED_CHANGES, CHANGED_TEST = "protected_changes", "changed_test_"
# The code of a doubt about work that changed no file.
NOTHING_CHANGED = "nothing_changed"


# Why an action ends although nothing went wrong: the work is held by design.
WAITS_FOR_A_PERSON = "a person decides about the work"


class Doubt(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why tests that pass do not prove the work."""

    code: str
    message: str


class TaskGrade(StrEnum):
    """How well a task is proven."""

    # A test or command failed before the task and passes after it.
    PROVEN = "proven"
    # The task changed files and broke nothing, and nothing proves it.
    CHANGED = "changed"
    UNPROVEN = "unproven"


class TaskProof(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The grade of a task, and the reason for it."""

    task_id: str
    grade: TaskGrade
    reason: str = ""

    @property
    def is_proven(self) -> bool:
        """Whether no person has to accept the task."""
        return self.grade is TaskGrade.PROVEN


class LeftOut(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Protected changes without which failing tests ran, and the tests that fail only without them."""

    files: tuple[str, ...]
    failing: tuple[str, ...] = ()
    # Whether tests also fail with the changes.
    fails_with: bool = False

    @property
    def sentence(self) -> str:
        """What was left out and what fails without it, for people."""
        files, failing = few(self.files), few(self.failing)
        left_out = f"changes to {files} were left out: existing tests and other protected files come from the base"
        without = f"without them these tests fail: {failing}" if failing else ""
        return "; ".join(filter(None, (left_out, without, "with them the tests fail, too" if self.fails_with else "")))


class WholeWork(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the tests say about the work with its protected changes."""

    run_id: str
    passed: bool
    results: tuple[TestResult, ...] = ()


def needs_a_part_left_out(whole: WholeWork | None, *, can_leave_out: bool) -> bool:
    """Whether the tests accept the work only without its protected changes."""
    return whole is not None and not whole.passed and can_leave_out


def choices_about(loop_id: str, code: str, whole: WholeWork | None, *, can_leave_out: bool) -> Iterator[PersonChoice]:
    """What a person can do about work that nothing proves: look, send it back, leave a part out, take it."""
    back = PersonChoice(f"loopwright loop resume {loop_id}", "sends the work back; the agent learns why and continues")
    if code == NOTHING_CHANGED:
        yield PersonChoice(f"loopwright loop logs {loop_id} --agent", "shows what the agent printed")
        yield back
        yield PersonChoice(f"loopwright loop accept {loop_id}", "completes the loop without a change, in your name")
        return
    yield PersonChoice(f"loopwright loop diff {loop_id}", "shows what the work changed")
    yield back
    if can_leave_out:
        without = f"loopwright loop accept {loop_id} --without-protected"
        yield PersonChoice(without, "takes the work without its changes to protected files")
    if not needs_a_part_left_out(whole, can_leave_out=can_leave_out):
        yield PersonChoice(f"loopwright loop accept {loop_id}", "takes the work as it is, in your name")
