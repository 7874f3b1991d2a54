"""A task is done for people only when Loopwright's own tests of the work passed."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.loop.test_rules import IDLE, NOW

from loopwright.judging.reports.model import TestResult
from loopwright.loop.model import Completed, Task, Validation
from loopwright.loop.task_standing import TaskStanding, done_tasks, percent_done, standing_of

PASSED = Validation(results=(TestResult("t", "s", "passed"),), passed=True)
BROKEN = Validation(results=(TestResult("t", "s", "failed"),), passed=False)


def task(status="completed", mode="write"):
    return Task(id="A", description="d", tool="scripted", mode=mode, status=status, created_at=NOW)


@pytest.mark.parametrize(
    ("of_task", "changes", "standing"),
    [
        (task(), {"is_validated": True, "validation": PASSED}, TaskStanding.DONE),
        (task(), {"is_validated": True, "validation": BROKEN}, TaskStanding.TESTS_FAIL),
        (task(), {"is_validated": False, "validation": PASSED}, TaskStanding.UNTESTED),
        (task(), {"is_validated": False, "validation": Validation()}, TaskStanding.UNTESTED),
        (task(), {"phase": Completed(at=NOW, forced="looks fine"), "validation": BROKEN}, TaskStanding.DONE),
        (task(mode="analysis"), {"is_validated": False}, TaskStanding.DONE),
        (task("pending"), {"is_validated": True, "validation": PASSED}, TaskStanding.PENDING),
        (task("in_progress"), {"is_validated": True, "validation": PASSED}, TaskStanding.IN_PROGRESS),
        (task("failed"), {"is_validated": True, "validation": PASSED}, TaskStanding.FAILED),
    ],
)
def test_an_agents_word_counts_only_after_the_tests_passed(of_task, changes, standing):
    state = replace(IDLE, tasks=(of_task,), **changes)
    assert standing_of(state, of_task) is standing
    is_done = standing is TaskStanding.DONE
    assert done_tasks(state) == is_done
    assert percent_done(state) == 50 * is_done + 25 * state.validation.holds
    assert bool(standing.note) is (standing in (TaskStanding.UNTESTED, TaskStanding.TESTS_FAIL))
