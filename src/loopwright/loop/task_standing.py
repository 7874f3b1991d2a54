"""How far a task and its loop are, for people and other tools. An agent's word that a task is done is no proof. Pure.

A task is done if Loopwright's own tests prove it, or a person took it. In a build the gate to the review decides that,
not the loop.
"""

from __future__ import annotations

from enum import StrEnum

from loopwright.loop.model import Completed, Loop, Task, TaskStatus


class TaskStanding(StrEnum):
    """How far a task is."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    # An agent says that it is done.
    UNTESTED = "worked on, not tested yet"
    TESTS_FAIL = "worked on, the tests fail"
    UNPROVEN = "worked on, not proven"
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
    """How far the task is, by Loopwright's own tests of the work, or by a person's word."""
    if task.status == "completed" and loop.validation.checks and loop.validation.needs_protected:
        return TaskStanding.ONLY_WITH_PROTECTED
    if task.status != "completed" or task.mode == "analysis" or task.id in loop.done_by_people:
        return TaskStanding(task.status)
    if isinstance(loop.phase, Completed) and not awaits_its_build(loop):
        return TaskStanding.DONE
    if not loop.is_validated:
        return TaskStanding.UNTESTED
    if not loop.validation.holds:
        return TaskStanding.TESTS_FAIL
    return TaskStanding.UNPROVEN if _is_unproven(loop, task) else TaskStanding.DONE


def status_in_file(loop: Loop, task: Task) -> TaskStatus:
    """The status of a task in the contract's terms: work that nothing proves is in progress."""
    return "in_progress" if standing_of(loop, task).note else task.status


def awaits_its_build(loop: Loop) -> bool:
    """Whether the loop is at its end, and the build that it works for has not accepted its work.

    Old loops have no proofs: their builds were judged by older rules.
    """
    at_end = isinstance(loop.phase, Completed) and loop.phase.forced is None
    return at_end and loop.workflow is not None and any(not proof.is_proven for proof in loop.validation.proofs)


def _is_unproven(loop: Loop, task: Task) -> bool:
    return any(proof.task_id == task.id and not proof.is_proven for proof in loop.validation.proofs)


def done_tasks(loop: Loop) -> int:
    """How many tasks are done."""
    return sum(standing_of(loop, task) is TaskStanding.DONE for task in loop.tasks)


def worked_on_tasks(loop: Loop) -> int:
    """How many tasks an agent calls done, without a proof."""
    return sum(bool(standing_of(loop, task).note) for task in loop.tasks)


def percent_of_tasks(loop: Loop) -> float:
    """How many tasks of a hundred are done."""
    return round(100 * done_tasks(loop) / len(loop.tasks), 1) if loop.tasks else 0.0


def percent_done(loop: Loop) -> float:
    """How far the loop is: tasks count for half, a confirmed cause and passed tests for a quarter each."""
    tasks = 50 * done_tasks(loop) / len(loop.tasks) if loop.tasks else 0.0
    return round(tasks + 25 * (loop.debug.confirmed is not None) + 25 * loop.validation.holds, 1)
