"""The events of a loop. An event is appended once and never changed; all events together are the loop."""

from __future__ import annotations

from typing import Any

import msgspec

from loopwright.agents.failover import Takeover
from loopwright.loop.model import (
    Action,
    Budget,
    Decision,
    ErrorLine,
    Hold,
    Holder,
    Hypothesis,
    HypothesisStatus,
    Loop,
    Mode,
    OpenTurn,
    ProgressMark,
    Spent,
    Task,
    TaskStatus,
    Tree,
    Validation,
    Worker,
)


class _Event(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    """Strict and immutable; the kind is part of the line."""


class LoopCreated(_Event, frozen=True, kw_only=True, tag="loop.created"):
    """The first event of every loop."""

    loop_id: str
    title: str
    description: str
    max_iterations: int
    mode: Mode = "auto"
    agent: str = ""
    tags: tuple[str, ...] = ()
    priority: int = 0
    budget: Budget = Budget()
    task_budget: Budget = Budget()
    workflow: str | None = None


class LoopStarted(_Event, frozen=True, kw_only=True, tag="loop.started"):
    """The loop was started."""


class HoldPlaced(_Event, frozen=True, kw_only=True, tag="hold.placed"):
    """The loop is held."""

    hold: Hold


class HoldLifted(_Event, frozen=True, kw_only=True, tag="hold.lifted"):
    """One holder lifts its hold."""

    holder: Holder


class LoopStopped(_Event, frozen=True, kw_only=True, tag="loop.stopped"):
    """A person stopped the loop."""

    by: str


class LoopFailed(_Event, frozen=True, kw_only=True, tag="loop.failed"):
    """The loop ended without being done."""

    code: str
    reason: str


class LoopCompleted(_Event, frozen=True, kw_only=True, tag="loop.completed"):
    """The loop is done: its tests prove it, or a person forced or accepted it."""

    forced: str | None = None
    accepted_by: str | None = None


class LoopRetried(_Event, frozen=True, kw_only=True, tag="loop.retried"):
    """Another attempt begins; the history stays."""


class IterationsGiven(_Event, frozen=True, kw_only=True, tag="iterations.given"):
    """The iteration limit changed."""

    max_iterations: int


class BudgetSet(_Event, frozen=True, kw_only=True, tag="budget.set"):
    """The budget changed."""

    budget: Budget


class ModeSet(_Event, frozen=True, kw_only=True, tag="mode.set"):
    """The mode changed: the rules or a person choose the next action."""

    mode: Mode


class TaskBudgetSet(_Event, frozen=True, kw_only=True, tag="task.budget_set"):
    """The budget of a task changed; without an id, of every task without limits of its own."""

    budget: Budget
    task_id: str | None = None


class TaskAdded(_Event, frozen=True, kw_only=True, tag="task.added"):
    """A task was added; `before` names the task that follows it."""

    task: Task
    before: str | None = None


class TaskEdited(_Event, frozen=True, kw_only=True, tag="task.edited"):
    """A task changed."""

    task: Task


class TaskRemoved(_Event, frozen=True, kw_only=True, tag="task.removed"):
    """A task was removed."""

    task_id: str


class TasksOrdered(_Event, frozen=True, kw_only=True, tag="tasks.ordered"):
    """The order of the tasks changed: every id, once."""

    task_ids: tuple[str, ...]


class ActionStarted(_Event, frozen=True, kw_only=True, tag="action.started"):
    """A worker began an action."""

    action: Action
    action_id: str
    task_id: str | None = None


class ActionPaused(_Event, frozen=True, kw_only=True, tag="action.paused"):
    """The agent's turn ended without a result. The action continues later, with the agent's session."""

    action_id: str
    session: str | None = None
    turn_taken: bool = False


class ActionAbandoned(_Event, frozen=True, kw_only=True, tag="action.abandoned"):
    """The action ended without a result; only a turn that an agent took counts."""

    action_id: str
    why: str
    turn_taken: bool = False


class ActionDone(_Event, frozen=True, kw_only=True, tag="action.done"):
    """The action is done; it is never repeated."""

    action_id: str
    action: Action
    mark: ProgressMark | None = None


class LoopInitialised(_Event, frozen=True, kw_only=True, tag="loop.initialised"):
    """The loop has its tasks."""


class TaskFinished(_Event, frozen=True, kw_only=True, tag="task.finished"):
    """A task ended."""

    task_id: str
    status: TaskStatus
    files_changed: tuple[str, ...] = ()


class WorkKept(_Event, frozen=True, kw_only=True, tag="work.kept"):
    """The changes of an action are durable. Changes that were only tried are dropped if the next validation fails."""

    tree: Tree
    is_tried: bool = False


class WorkDropped(_Event, frozen=True, kw_only=True, tag="work.dropped"):
    """The tried changes failed the validation: the work is as it was before them."""

    tree: Tree


class HypothesesProposed(_Event, frozen=True, kw_only=True, tag="hypotheses.proposed"):
    """Possible causes of a failure; they replace earlier ones."""

    bug: str
    hypotheses: tuple[Hypothesis, ...]


class HypothesisJudged(_Event, frozen=True, kw_only=True, tag="hypothesis.judged"):
    """A possible cause was tested against its own criteria."""

    hypothesis_id: str
    status: HypothesisStatus
    evidence: str
    verdict_reason: str


class ValidationRecorded(_Event, frozen=True, kw_only=True, tag="validation.recorded"):
    """The tests ran."""

    validation: Validation


class ErrorNoted(_Event, frozen=True, kw_only=True, tag="error.noted"):
    """Something went wrong."""

    error: ErrorLine


class ProgressNoted(_Event, frozen=True, kw_only=True, tag="progress.noted"):
    """An agent reported progress: a claim, for people to read. It has no effect."""

    text: str
    by: str


class AgentChanged(_Event, frozen=True, kw_only=True, tag="agent.changed"):
    """Another agent takes over the action."""

    takeover: Takeover


class TurnBegun(_Event, frozen=True, kw_only=True, tag="turn.begun"):
    """An agent's turn began; its cost is not known yet."""

    turn: OpenTurn


class CostCounted(_Event, frozen=True, kw_only=True, tag="cost.counted"):
    """The cost of a turn, of time or of a failed try was counted: for which task, and for which turn."""

    spent: Spent
    task_id: str | None = None
    turn: str | None = None
    # The action that the turn is counted for, if no action ends with it.
    turn_of: str | None = None
    role: str | None = None


class DecisionAsked(_Event, frozen=True, kw_only=True, tag="decision.asked"):
    """An agent asks a person to decide."""

    decision: Decision


class DecisionAnswered(_Event, frozen=True, kw_only=True, tag="decision.answered"):
    """A person decided."""

    decision_id: str
    answer: str
    by: str


class WorkerArrived(_Event, frozen=True, kw_only=True, tag="worker.arrived"):
    """A worker process drives the loop."""

    worker: Worker


class WorkerLeft(_Event, frozen=True, kw_only=True, tag="worker.left"):
    """The worker process left the loop."""

    why: str


class SkillStateTaken(_Event, frozen=True, kw_only=True, tag="skill.taken"):
    """Another tool wrote the worker's fields of the state file, and they were adopted."""

    skill_state: dict[str, Any]


class OutsideKeysTaken(_Event, frozen=True, kw_only=True, tag="keys.taken"):
    """Another tool wrote keys of its own into the state file; they are kept for it."""

    extra: dict[str, Any]


class IterationTaken(_Event, frozen=True, kw_only=True, tag="iteration.taken"):
    """Another tool counted an iteration of its own."""


class LoopRestored(_Event, frozen=True, kw_only=True, tag="loop.restored"):
    """The log was lost or damaged: this is what could be saved, and from which files."""

    loop: Loop
    source: str


Event = (
    LoopCreated | LoopStarted | HoldPlaced | HoldLifted | LoopStopped | LoopFailed | LoopCompleted | LoopRetried
    | IterationsGiven | BudgetSet | TaskBudgetSet | ModeSet | TaskAdded | TaskEdited | TaskRemoved | TasksOrdered
    | ActionStarted | ActionPaused | ActionAbandoned | ActionDone | LoopInitialised | TaskFinished | WorkKept
    | WorkDropped | HypothesesProposed | HypothesisJudged | ValidationRecorded | ErrorNoted | ProgressNoted | TurnBegun
    | CostCounted | DecisionAsked | DecisionAnswered | WorkerArrived | WorkerLeft | SkillStateTaken | OutsideKeysTaken
    | IterationTaken | LoopRestored | AgentChanged
)  # fmt: skip
