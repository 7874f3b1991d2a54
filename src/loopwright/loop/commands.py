"""What a person, another tool or the worker can propose to a loop, and what the rules answer.

Most proposals are events: the caller proposes a fact, and the rules check it against the state. A command exists only
where the proposal carries other fields than its event, leads to more than one event, or names an aim.
"""

from __future__ import annotations

import msgspec

from loopwright.agents.failover import Takeover
from loopwright.agents.mailbox import DecisionRequest
from loopwright.loop import events as e
from loopwright.loop.model import (
    Action,
    Holder,
    Hypothesis,
    HypothesisStatus,
    ProgressMark,
    Task,
    TaskStatus,
    Tree,
    Validation,
)


class _Command(msgspec.Struct, frozen=True, kw_only=True):
    """Immutable."""


class Resume(_Command, frozen=True, kw_only=True):
    """Lift the holds of these holders; an error if the loop is not held."""

    lifts: frozenset[Holder]


class Finish(_Command, frozen=True, kw_only=True):
    """Complete the loop; without a passed validation this needs a reason."""

    forced: str | None = None


class Accept(_Command, frozen=True, kw_only=True):
    """A person accepts unproven work and completes the loop."""

    by: str
    reason: str = ""
    # Whether the work is accepted without its protected changes.
    without_protected: bool = False


class Retry(_Command, frozen=True, kw_only=True):
    """Another attempt."""

    max_iterations: int | None = None


class AddTasks(_Command, frozen=True, kw_only=True):
    """Add tasks at the end, all or none."""

    tasks: tuple[Task, ...]


class MarkTaskDone(_Command, frozen=True, kw_only=True):
    """A person did the task."""

    task_id: str


class Advance(_Command, frozen=True, kw_only=True):
    """The worker asks what to do next."""

    action_id: str
    no_progress: int


class Choose(_Command, frozen=True, kw_only=True):
    """In interactive mode a person chooses the next action."""

    action: Action
    action_id: str


class FinishInit(_Command, frozen=True, kw_only=True):
    """The worker has a list of tasks."""

    action_id: str
    tasks: tuple[Task, ...]


class FinishDevelop(_Command, frozen=True, kw_only=True):
    """The worker has done a task, failed, or wants to try again (then the task is pending)."""

    action_id: str
    outcome: TaskStatus
    files_changed: tuple[str, ...]
    tree: Tree | None
    mark: ProgressMark
    error: str | None = None
    # Whether the work is only an attempt: a failed validation drops it.
    is_tried: bool = False
    then: tuple[Task, ...] = ()


class ProposeHypotheses(_Command, frozen=True, kw_only=True):
    """The worker proposes possible causes."""

    action_id: str
    bug: str
    hypotheses: tuple[Hypothesis, ...]


class JudgeHypothesis(_Command, frozen=True, kw_only=True):
    """The worker has tested a hypothesis."""

    action_id: str
    hypothesis_id: str
    status: HypothesisStatus
    evidence: str
    verdict_reason: str


class FinishDebug(_Command, frozen=True, kw_only=True):
    """The worker has tested the hypotheses; a confirmed one leads to a task."""

    action_id: str
    fix: Task | None
    mark: ProgressMark
    error: str | None = None


class FinishValidate(_Command, frozen=True, kw_only=True):
    """The worker has run the tests; the tasks in `then` must be done before the loop is complete."""

    action_id: str
    validation: Validation
    mark: ProgressMark
    then: tuple[Task, ...] = ()


class FinishComplete(_Command, frozen=True, kw_only=True):
    """The worker has finished the last action."""

    action_id: str


class AbandonAction(_Command, frozen=True, kw_only=True):
    """The action under way ends and does not count."""

    why: str
    turn_taken: bool = False


class AskDecisions(_Command, frozen=True, kw_only=True):
    """An agent asks a person questions."""

    requests: tuple[DecisionRequest, ...]
    at: str


class HandOver(_Command, frozen=True, kw_only=True):
    """An agent can't continue the action under way; another agent takes over from its start."""

    takeover: Takeover


TaskEdit = e.TaskAdded | AddTasks | e.TaskEdited | e.TaskRemoved | e.TasksOrdered | MarkTaskDone
Proposal = (
    e.LoopCreated | e.LoopStarted | e.HoldPlaced | Resume | e.LoopStopped | e.LoopFailed | Finish | Accept | Retry
    | e.IterationsGiven | e.BudgetSet | e.TaskBudgetSet | e.ModeSet | e.AgentSet | TaskEdit | Advance | Choose
    | FinishInit | FinishDevelop | ProposeHypotheses | JudgeHypothesis | FinishDebug | FinishValidate
    | FinishComplete | e.ActionPaused | AbandonAction | HandOver | e.AgentChanged | e.ErrorNoted | e.ProgressNoted
    | AskDecisions | e.DecisionAnswered | e.TurnBegun | e.CostCounted | e.WorkerArrived | e.WorkerLeft
    | e.SkillStateTaken | e.OutsideKeysTaken | e.IterationTaken | e.BuildJudged
)  # fmt: skip


class Blocker(msgspec.Struct, frozen=True):
    """A reason for a refusal, with the next step."""

    code: str
    message: str
    hint: str


class Accepted(msgspec.Struct, frozen=True):
    """The events to append."""

    events: tuple[e.Event, ...]


class Refused(msgspec.Struct, frozen=True):
    """Nothing happens."""

    blockers: tuple[Blocker, ...]


Verdict = Accepted | Refused


def refused(code: str, message: str, hint: str) -> Refused:
    """A refusal for one reason."""
    return Refused((Blocker(code, message, hint),))
