"""A task is done for people only when Loopwright's own tests of the work passed."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.loop.test_rules import IDLE, NOW

from loopwright.judging.reports.model import TestResult
from loopwright.loop.model import Completed, Task, Validation
from loopwright.loop.outside import tasks_of
from loopwright.loop.projection import status_of, task_line
from loopwright.loop.proof import TaskGrade, TaskProof
from loopwright.loop.task_standing import TaskStanding, done_tasks, percent_done, standing_of

PASSED = Validation(results=(TestResult("t", "s", "passed"),), passed=True)
UNPROVEN = replace(PASSED, proofs=(TaskProof(task_id="A", grade=TaskGrade.CHANGED),))
AT_END = {"phase": Completed(at=NOW, forced=None)}
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
        (task(), {"is_validated": True, "validation": UNPROVEN}, TaskStanding.UNPROVEN),
        (task(), {"is_validated": True, "validation": UNPROVEN, **AT_END}, TaskStanding.DONE),
        (task(), {"is_validated": True, "validation": UNPROVEN, **AT_END, "workflow": "w"}, TaskStanding.UNPROVEN),
        (task(), {"is_validated": True, "validation": PASSED, **AT_END, "workflow": "w"}, TaskStanding.DONE),
        (task(), {"is_validated": False, "done_by_people": ("A",)}, TaskStanding.DONE),
        (task("failed"), {"is_validated": True, "validation": PASSED}, TaskStanding.FAILED),
    ],
)
def test_an_agents_word_counts_only_after_the_tests_passed(of_task, changes, standing):
    state = replace(IDLE, tasks=(of_task,), **changes)
    assert standing_of(state, of_task) is standing
    is_done = standing is TaskStanding.DONE
    assert done_tasks(state) == is_done
    assert percent_done(state) == 50 * is_done + 25 * state.validation.holds
    is_doubtful = standing in (TaskStanding.UNTESTED, TaskStanding.TESTS_FAIL, TaskStanding.UNPROVEN)
    assert bool(standing.note) is is_doubtful
    line = task_line(state, of_task)
    assert line["status"] == ("in_progress" if is_doubtful else of_task.status)
    assert tasks_of([line]) == (of_task if not is_doubtful else replace(of_task, completed_at=NOW),)
    assert status_of(state) == (
        "paused" if is_doubtful and isinstance(state.phase, Completed) else status_of(replace(state, workflow=None))
    )
