"""Everything that can happen to a loop. An event is appended once and never changes."""

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
from loopwright.loop.proof import TaskProof


class _Event(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    """Strict and immutable; the stored line contains the kind."""


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
    """The hold of one holder was lifted."""

    holder: Holder


class LoopStopped(_Event, frozen=True, kw_only=True, tag="loop.stopped"):
    """A person stopped the loop."""

    by: str


class LoopFailed(_Event, frozen=True, kw_only=True, tag="loop.failed"):
    """The loop ended without being complete."""

    code: str
    reason: str


class LoopCompleted(_Event, frozen=True, kw_only=True, tag="loop.completed"):
    """The loop is complete: by its tests, or because a person forced it or accepted unproven work."""

    forced: str | None = None
    accepted_by: str | None = None
    # The workflow whose gate decides about the work.
    workflow: str | None = None


class LoopRetried(_Event, frozen=True, kw_only=True, tag="loop.retried"):
    """Another attempt started; the history stays."""


class IterationsGiven(_Event, frozen=True, kw_only=True, tag="iterations.given"):
    """The iteration limit changed."""

    max_iterations: int


class BudgetSet(_Event, frozen=True, kw_only=True, tag="budget.set"):
    """The budget of the loop changed."""

    budget: Budget


class ModeSet(_Event, frozen=True, kw_only=True, tag="mode.set"):
    """The mode changed: the rules or a person choose the next action."""

    mode: Mode


class AgentSet(_Event, frozen=True, kw_only=True, tag="agent.set"):
    """A person named another agent: it takes over the open tasks, and gets all tasks that follow."""

    agent: str


class TaskBudgetSet(_Event, frozen=True, kw_only=True, tag="task.budget_set"):
    """The budget of a task changed; without an id, the budget of every task without its own limit."""

    budget: Budget
    task_id: str | None = None


class TaskAdded(_Event, frozen=True, kw_only=True, tag="task.added"):
    """A task was added, at the end or before the task `before`."""

    task: Task
    before: str | None = None


class TaskEdited(_Event, frozen=True, kw_only=True, tag="task.edited"):
    """A task was edited."""

    task: Task


class TaskRemoved(_Event, frozen=True, kw_only=True, tag="task.removed"):
    """A task was removed."""

    task_id: str


class TasksOrdered(_Event, frozen=True, kw_only=True, tag="tasks.ordered"):
    """The tasks were reordered; names every id once."""

    task_ids: tuple[str, ...]


class ActionStarted(_Event, frozen=True, kw_only=True, tag="action.started"):
    """A worker started an action."""

    action: Action
    action_id: str
    task_id: str | None = None


class ActionPaused(_Event, frozen=True, kw_only=True, tag="action.paused"):
    """The agent's turn ended early or without a result; the action continues later, in the same session."""

    action_id: str
    session: str | None = None
    turn_taken: bool = False


class ActionAbandoned(_Event, frozen=True, kw_only=True, tag="action.abandoned"):
    """The action failed and does not count, except for a turn that an agent took."""

    action_id: str
    why: str
    turn_taken: bool = False


class ActionDone(_Event, frozen=True, kw_only=True, tag="action.done"):
    """The action is done, and is never repeated."""

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
    by_person: bool = False
    # The whole work after the task; None if the task did not finish, or an older version recorded it.
    work: Tree | None = None


class WorkKept(_Event, frozen=True, kw_only=True, tag="work.kept"):
    """The changes of an action are stored; a failed validation drops them if they were only an attempt."""

    tree: Tree
    is_tried: bool = False


class WorkDropped(_Event, frozen=True, kw_only=True, tag="work.dropped"):
    """An attempt failed its validation: the work is back at the tree before it."""

    tree: Tree


class HypothesesProposed(_Event, frozen=True, kw_only=True, tag="hypotheses.proposed"):
    """Possible causes of a failure; they replace earlier ones."""

    bug: str
    hypotheses: tuple[Hypothesis, ...]


class HypothesisJudged(_Event, frozen=True, kw_only=True, tag="hypothesis.judged"):
    """A hypothesis was tested against its criteria."""

    hypothesis_id: str
    status: HypothesisStatus
    evidence: str
    verdict_reason: str


class ValidationRecorded(_Event, frozen=True, kw_only=True, tag="validation.recorded"):
    """The test command ran."""

    validation: Validation


class BuildJudged(_Event, frozen=True, kw_only=True, tag="build.judged"):
    """The gate of the build said what proves each task."""

    proofs: tuple[TaskProof, ...]


class ErrorNoted(_Event, frozen=True, kw_only=True, tag="error.noted"):
    """Something went wrong, or the work is held: then the next builder must know why."""

    error: ErrorLine
    is_hold: bool = False


class ProgressNoted(_Event, frozen=True, kw_only=True, tag="progress.noted"):
    """An agent reported progress: a claim for people to read. It changes nothing."""

    text: str
    by: str


class AgentChanged(_Event, frozen=True, kw_only=True, tag="agent.changed"):
    """Another agent took over the action."""

    takeover: Takeover


class TurnBegun(_Event, frozen=True, kw_only=True, tag="turn.begun"):
    """A turn of an agent started; its cost is not known yet."""

    turn: OpenTurn


class CostCounted(_Event, frozen=True, kw_only=True, tag="cost.counted"):
    """A cost was counted: of a turn, of time or of a failed attempt, for a task and a turn."""

    spent: Spent
    task_id: str | None = None
    turn: str | None = None
    # The key under which the turn is counted, if no action ends with it.
    turn_of: str | None = None
    role: str | None = None


class DecisionAsked(_Event, frozen=True, kw_only=True, tag="decision.asked"):
    """An agent asked a person to decide."""

    decision: Decision


class DecisionAnswered(_Event, frozen=True, kw_only=True, tag="decision.answered"):
    """A person decided."""

    decision_id: str
    answer: str
    by: str


class WorkerArrived(_Event, frozen=True, kw_only=True, tag="worker.arrived"):
    """A process started to drive the loop."""

    worker: Worker


class WorkerLeft(_Event, frozen=True, kw_only=True, tag="worker.left"):
    """The process stopped driving the loop."""

    why: str


class SkillStateTaken(_Event, frozen=True, kw_only=True, tag="skill.taken"):
    """Another tool edited the worker's fields in the state file, and the edit was adopted."""

    skill_state: dict[str, Any]


class OutsideKeysTaken(_Event, frozen=True, kw_only=True, tag="keys.taken"):
    """Another tool wrote its own keys into the state file; they are kept."""

    extra: dict[str, Any]


class IterationTaken(_Event, frozen=True, kw_only=True, tag="iteration.taken"):
    """Another tool counted an iteration."""


class LoopRestored(_Event, frozen=True, kw_only=True, tag="loop.restored"):
    """The earlier log was lost or damaged: the loop was restored from `source`."""

    loop: Loop
    source: str


Event = (
    LoopCreated | LoopStarted | HoldPlaced | HoldLifted | LoopStopped | LoopFailed | LoopCompleted | LoopRetried
    | IterationsGiven | BudgetSet | TaskBudgetSet | ModeSet | TaskAdded | TaskEdited | TaskRemoved | TasksOrdered
    | ActionStarted | ActionPaused | ActionAbandoned | ActionDone | LoopInitialised | TaskFinished | WorkKept
    | WorkDropped | HypothesesProposed | HypothesisJudged | ValidationRecorded | ErrorNoted | ProgressNoted | TurnBegun
    | CostCounted | DecisionAsked | DecisionAnswered | WorkerArrived | WorkerLeft | SkillStateTaken | OutsideKeysTaken
    | IterationTaken | LoopRestored | AgentChanged | BuildJudged | AgentSet
)  # fmt: skip
