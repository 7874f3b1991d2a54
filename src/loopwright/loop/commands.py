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
    """Lift the holds of these holders; where it is not held at all that is an error."""

    lifts: frozenset[Holder]


class Finish(_Command, frozen=True, kw_only=True):
    """Close it as done; without a passed validation only with a reason."""

    forced: str | None = None


class Accept(_Command, frozen=True, kw_only=True):
    """A person takes work that nothing proves, and closes the loop as done."""

    by: str
    reason: str = ""


class Retry(_Command, frozen=True, kw_only=True):
    """Another attempt."""

    max_iterations: int | None = None


class AddTasks(_Command, frozen=True, kw_only=True):
    """Items more at the end, all of them or none."""

    tasks: tuple[Task, ...]


class MarkTaskDone(_Command, frozen=True, kw_only=True):
    """A person did it."""

    task_id: str


class Advance(_Command, frozen=True, kw_only=True):
    """The worker asks what to do next."""

    action_id: str
    no_progress: int


class Choose(_Command, frozen=True, kw_only=True):
    """In interactive mode a person says what to do next."""

    action: Action
    action_id: str


class FinishInit(_Command, frozen=True, kw_only=True):
    """The worker has the tasks."""

    action_id: str
    tasks: tuple[Task, ...]


class FinishDevelop(_Command, frozen=True, kw_only=True):
    """The worker has done a task, failed at it, or wants to try it again (then it is pending)."""

    action_id: str
    outcome: TaskStatus
    files_changed: tuple[str, ...]
    tree: Tree | None
    mark: ProgressMark
    error: str | None = None
    # Whether it was only tried: a validation that fails drops it.
    is_tried: bool = False
    then: tuple[Task, ...] = ()


class ProposeHypotheses(_Command, frozen=True, kw_only=True):
    """The worker has possible causes."""

    action_id: str
    bug: str
    hypotheses: tuple[Hypothesis, ...]


class JudgeHypothesis(_Command, frozen=True, kw_only=True):
    """The worker has tested one."""

    action_id: str
    hypothesis_id: str
    status: HypothesisStatus
    evidence: str
    verdict_reason: str


class FinishDebug(_Command, frozen=True, kw_only=True):
    """The worker is through with them; a confirmed one leads to a task."""

    action_id: str
    fix: Task | None
    mark: ProgressMark
    error: str | None = None


class FinishValidate(_Command, frozen=True, kw_only=True):
    """The worker has run the tests; `then` is what is to be done before the loop is."""

    action_id: str
    validation: Validation
    mark: ProgressMark
    then: tuple[Task, ...] = ()


class FinishComplete(_Command, frozen=True, kw_only=True):
    """The worker has handed over."""

    action_id: str


class AbandonAction(_Command, frozen=True, kw_only=True):
    """What was under way is not, and counts for nothing."""

    why: str
    turn_taken: bool = False


class AskDecisions(_Command, frozen=True, kw_only=True):
    """An agent left questions for a person."""

    requests: tuple[DecisionRequest, ...]
    at: str


class HandOver(_Command, frozen=True, kw_only=True):
    """An agent can't go on with the action that is under way, and another one takes it over, from its start."""

    takeover: Takeover


TaskEdit = e.TaskAdded | AddTasks | e.TaskEdited | e.TaskRemoved | e.TasksOrdered | MarkTaskDone
Proposal = (
    e.LoopCreated | e.LoopStarted | e.HoldPlaced | Resume | e.LoopStopped | e.LoopFailed | Finish | Accept | Retry
    | e.IterationsGiven | e.BudgetSet | e.TaskBudgetSet | e.ModeSet | TaskEdit | Advance | Choose | FinishInit
    | FinishDevelop | ProposeHypotheses | JudgeHypothesis | FinishDebug | FinishValidate | FinishComplete
    | e.ActionPaused | AbandonAction | HandOver | e.AgentChanged | e.ErrorNoted | e.ProgressNoted | AskDecisions
    | e.DecisionAnswered | e.TurnBegun | e.CostCounted | e.WorkerArrived | e.WorkerLeft | e.SkillStateTaken
    | e.OutsideKeysTaken | e.IterationTaken
)  # fmt: skip


class Blocker(msgspec.Struct, frozen=True):
    """A typed reason why not, with the way on."""

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
    """Refused for one reason."""
    return Refused((Blocker(code, message, hint),))
