"""The contract's JSON of a loop. Pure. Counters are derived from the lists, so they can't contradict them."""

from __future__ import annotations

from typing import Any, assert_never

import msgspec

from loopwright.loop.guidance import choices_of
from loopwright.loop.model import (
    Action,
    Budget,
    Completed,
    Created,
    Failed,
    Held,
    Loop,
    Running,
    Spent,
    Task,
)
from loopwright.loop.task_standing import awaits_its_build, done_tasks, status_in_file

SCHEMA_VERSION = 1
OWN_KEY = "loopwright"
# In a task's own part: when an agent ended its work on a task that is still in progress.
WORKED_ON = "worked_on_at"
ACTION_NAMES = {
    Action.INIT: "action-init",
    Action.DEVELOP: "action-develop-with-file",
    Action.DEBUG: "action-debug-with-file",
    Action.VALIDATE: "action-validate-with-file",
    Action.COMPLETE: "action-complete",
}
Document = dict[str, Any]


def document_of(loop: Loop) -> Document:
    """The state file."""
    document: Document = {
        "loop_id": loop.loop_id,
        "title": loop.title,
        "description": loop.description,
        "max_iterations": loop.max_iterations,
        "status": status_of(loop),
        "current_iteration": loop.iteration,
        "created_at": loop.created_at,
        "updated_at": loop.updated_at,
    }
    if isinstance(loop.phase, Completed) and not awaits_its_build(loop):
        document["completed_at"] = loop.phase.at
    if isinstance(loop.phase, Failed):
        document["failure_reason"] = loop.phase.reason
    if not isinstance(loop.phase, Created):
        document["skill_state"] = skill_state_of(loop)
    document[OWN_KEY] = _own(loop)
    return {**loop.extra, **document}


def skill_state_of(loop: Loop) -> Document:
    """The worker's fields."""
    return {
        **loop.skill_extra,
        "current_action": _current_action(loop),
        "last_action": ACTION_NAMES[loop.last_action] if loop.last_action else None,
        "completed_actions": [ACTION_NAMES[action] for action in loop.completed_actions],
        "mode": loop.mode,
        "develop": _develop(loop),
        "debug": _debug(loop),
        "validate": _validate(loop),
        "errors": [msgspec.to_builtins(error) for error in loop.errors],
    }


def task_line(loop: Loop, task: Task) -> Document:
    """A task in the format of the state file and the task list."""
    line: Document = msgspec.to_builtins(task)
    del line["extra"]
    if (status := status_in_file(loop, task)) != task.status:
        # Without the time at which the agent ended its work, a restored loop would do the work again.
        line |= {"status": status, "completed_at": None, OWN_KEY: {WORKED_ON: task.completed_at or loop.updated_at}}
    return {**task.extra, **line}


def _current_action(loop: Loop) -> str | None:
    if isinstance(loop.phase, Held) or awaits_its_build(loop):
        return "paused"
    return loop.under_way.action.value if loop.under_way is not None else None


def _develop(loop: Loop) -> Document:
    current = loop.under_way.task_id if loop.under_way is not None else None
    return {
        **loop.section_extra.get("develop", {}),
        "total": len(loop.tasks),
        "completed": done_tasks(loop),
        **({"current_task": current} if current else {}),
        "tasks": [task_line(loop, task) for task in loop.tasks],
        "last_progress_at": loop.last_progress_at,
    }


def _debug(loop: Loop) -> Document:
    debug = loop.debug
    return {
        **loop.section_extra.get("debug", {}),
        **({"active_bug": debug.active_bug} if debug.active_bug else {}),
        "hypotheses_count": len(debug.hypotheses),
        "hypotheses": [msgspec.to_builtins(hypothesis) for hypothesis in debug.hypotheses],
        "confirmed_hypothesis": debug.confirmed,
        "iteration": debug.iteration,
        "last_analysis_at": debug.last_analysis_at,
    }


def _validate(loop: Loop) -> Document:
    validation = loop.validation
    return {
        **loop.section_extra.get("validate", {}),
        "pass_rate": validation.pass_rate,
        "coverage": validation.coverage if validation.coverage is not None else 0,
        "test_results": [msgspec.to_builtins(result) for result in validation.results],
        "passed": validation.passed,
        "failed_tests": list(validation.failed_tests),
        "last_run_at": validation.last_run_at,
    }


def _own(loop: Loop) -> Document:
    """The fields of Loopwright's own key."""
    own: Document = {
        "schema": SCHEMA_VERSION,
        "revision": loop.revision,
        "attempt": loop.attempt,
        "holds": [msgspec.to_builtins(hold) for hold in loop.holds],
        "tags": list(loop.tags),
        "priority": loop.priority,
        "agent": loop.agent,
        "budget": _amounts(loop.budget),
        "spent": _amounts(loop.spent),
    }
    if loop.workflow is not None:
        own["workflow"] = loop.workflow
    if loop.task_budget != Budget():
        own["task_budget"] = _limits(loop.task_budget)
    if tasks := _costs(loop):
        own["tasks"] = tasks
    if loop.decisions:
        own["decisions"] = [msgspec.to_builtins(decision) for decision in loop.decisions]
    if loop.takeovers:
        own["takeovers"] = [msgspec.to_builtins(takeover) for takeover in loop.takeovers]
        own["builders"] = list(loop.builders)
    if loop.validation.proofs:
        own["proofs"] = {
            proof.task_id: {"grade": proof.grade.value, "reason": proof.reason} for proof in loop.validation.proofs
        }
    if loop.validation.proof:
        own["proof"] = loop.validation.proof
    own |= _choices(loop)
    if isinstance(loop.phase, Failed):
        own["failure_code"] = loop.phase.code
    if isinstance(loop.phase, Completed) and loop.phase.forced:
        own["forced"] = loop.phase.forced
    if isinstance(loop.phase, Completed) and loop.phase.accepted_by:
        own["accepted_by"] = loop.phase.accepted_by
    if loop.validation.run_id:
        own["run_id"] = loop.validation.run_id
    return own


def _choices(loop: Loop) -> Document:
    """What a person can do about work that waits; without such work no key."""
    choices = choices_of(loop)
    return {"choices": [msgspec.to_builtins(choice) for choice in choices]} if choices else {}


def _amounts(amounts: Budget | Spent) -> Document:
    """The fields of the first version always, later fields only if set: old files stay the same."""
    return {name: value for name, value in msgspec.to_builtins(amounts).items() if name not in _LATER or value}


_LATER = ("iterations", "retries", "usd_computed")


def _limits(budget: Budget) -> Document:
    return {name: value for name, value in msgspec.to_builtins(budget).items() if value is not None}


def _costs(loop: Loop) -> Document:
    """The cost and the budget of each task, if known."""
    ids = [task.id for task in loop.tasks if task.id in loop.spent_by_task or task.id in loop.task_budgets]
    return {
        task_id: {
            "budget": _limits(loop.budget_of(task_id)),
            "spent": {**_amounts(loop.spent_by_task.get(task_id, Spent())), "iterations": loop.tries.get(task_id, 0)},
        }
        for task_id in ids
    }


def status_of(loop: Loop) -> str:
    """The status in the contract's terms; any hold shows as paused, and so does work that its build did not accept."""
    match loop.phase:
        case Created():
            return "created"
        case Running():
            return "running"
        case Held():
            return "paused"
        case Completed():
            return "paused" if awaits_its_build(loop) else "completed"
        case Failed():
            return "failed"
        case _:
            assert_never(loop.phase)
