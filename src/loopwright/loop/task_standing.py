"""How far a task is, for people: an agent's word that a task is done counts only after the tests passed. Pure.

The state file has the status of the contract (`projection.py`).
"""

from __future__ import annotations

from enum import StrEnum

from loopwright.loop.model import Completed, Loop, Task


class TaskStanding(StrEnum):
    """How far a task is."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    # An agent says that it is done.
    UNTESTED = "worked on, not tested yet"
    TESTS_FAIL = "worked on, the tests fail"
    # The checks of a build pass only with changes that a person must sign.
    ONLY_WITH_PROTECTED = "worked on, the checks pass only with changes to protected files"
    DONE = "completed"
    FAILED = "failed"

    @property
    def note(self) -> str:
        """What a person must know although the task is worked on; empty otherwise."""
        is_told = self in (TaskStanding.PENDING, TaskStanding.IN_PROGRESS, TaskStanding.DONE, TaskStanding.FAILED)
        return "" if is_told else self.value


def standing_of(loop: Loop, task: Task) -> TaskStanding:
    """How far the task is, by Loopwright's own tests of the work."""
    if task.status == "completed" and loop.validation.checks and loop.validation.needs_protected:
        return TaskStanding.ONLY_WITH_PROTECTED
    if task.status != "completed" or isinstance(loop.phase, Completed) or task.mode == "analysis":
        return TaskStanding(task.status)
    if not loop.is_validated:
        return TaskStanding.UNTESTED
    return TaskStanding.DONE if loop.validation.holds else TaskStanding.TESTS_FAIL


def done_tasks(loop: Loop) -> int:
    """How many tasks are done."""
    return sum(standing_of(loop, task) is TaskStanding.DONE for task in loop.tasks)


def worked_on_tasks(loop: Loop) -> int:
    """How many tasks an agent calls done, without tests that passed."""
    return sum(bool(standing_of(loop, task).note) for task in loop.tasks)


def percent_done(loop: Loop) -> float:
    """How far the loop is: tasks count for half, a confirmed cause and passed tests for a quarter each."""
    tasks = 50 * done_tasks(loop) / len(loop.tasks) if loop.tasks else 0.0
    return round(tasks + 25 * (loop.debug.confirmed is not None) + 25 * loop.validation.holds, 1)
