"""What the tests say about the proof of a loop's work: reasons for doubt, and a grade for each task. Values only."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from loopwright.judging.reports.model import TestResult
from loopwright.wording.catalogue import few

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
