"""What can happen to a loop. Each is a fact that is appended once and never changed; together they are the loop."""

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
    """Somebody set it going."""


class HoldPlaced(_Event, frozen=True, kw_only=True, tag="hold.placed"):
    """It may not go on."""

    hold: Hold


class HoldLifted(_Event, frozen=True, kw_only=True, tag="hold.lifted"):
    """One holder lets go."""

    holder: Holder


class LoopStopped(_Event, frozen=True, kw_only=True, tag="loop.stopped"):
    """A person ended it."""

    by: str


class LoopFailed(_Event, frozen=True, kw_only=True, tag="loop.failed"):
    """It ended by itself without being done."""

    code: str
    reason: str


class LoopCompleted(_Event, frozen=True, kw_only=True, tag="loop.completed"):
    """Done: shown by the tests, or by a person's word, who forced it or accepted what nothing proves."""

    forced: str | None = None
    accepted_by: str | None = None


class LoopRetried(_Event, frozen=True, kw_only=True, tag="loop.retried"):
    """Another attempt; the history stays."""


class IterationsGiven(_Event, frozen=True, kw_only=True, tag="iterations.given"):
    """The limit is another one now."""

    max_iterations: int


class BudgetSet(_Event, frozen=True, kw_only=True, tag="budget.set"):
    """What it may cost is another sum now."""

    budget: Budget


class ModeSet(_Event, frozen=True, kw_only=True, tag="mode.set"):
    """Who chooses the next action is another one now: the rules, or a person."""

    mode: Mode


class TaskBudgetSet(_Event, frozen=True, kw_only=True, tag="task.budget_set"):
    """What one task may cost is another sum now; without an id: every task that has no limit of its own."""

    budget: Budget
    task_id: str | None = None


class TaskAdded(_Event, frozen=True, kw_only=True, tag="task.added"):
    """An item more; `before` names the one that it stands in front of."""

    task: Task
    before: str | None = None


class TaskEdited(_Event, frozen=True, kw_only=True, tag="task.edited"):
    """An item says something else now."""

    task: Task


class TaskRemoved(_Event, frozen=True, kw_only=True, tag="task.removed"):
    """An item less."""

    task_id: str


class TasksOrdered(_Event, frozen=True, kw_only=True, tag="tasks.ordered"):
    """The list in another order: every id, once."""

    task_ids: tuple[str, ...]


class ActionStarted(_Event, frozen=True, kw_only=True, tag="action.started"):
    """A worker is at it."""

    action: Action
    action_id: str
    task_id: str | None = None


class ActionPaused(_Event, frozen=True, kw_only=True, tag="action.paused"):
    """The agent's turn was ended, or came to nothing, and the action goes on later; its session is kept for that."""

    action_id: str
    session: str | None = None
    turn_taken: bool = False


class ActionAbandoned(_Event, frozen=True, kw_only=True, tag="action.abandoned"):
    """It could not be done: nothing of it counts, but for a turn that an agent took."""

    action_id: str
    why: str
    turn_taken: bool = False


class ActionDone(_Event, frozen=True, kw_only=True, tag="action.done"):
    """It is done, and is never done again."""

    action_id: str
    action: Action
    mark: ProgressMark | None = None


class LoopInitialised(_Event, frozen=True, kw_only=True, tag="loop.initialised"):
    """It has its tasks."""


class TaskFinished(_Event, frozen=True, kw_only=True, tag="task.finished"):
    """A task came to an end."""

    task_id: str
    status: TaskStatus
    files_changed: tuple[str, ...] = ()


class WorkKept(_Event, frozen=True, kw_only=True, tag="work.kept"):
    """What an action changed is durable; what was only tried goes again when the next validation fails."""

    tree: Tree
    is_tried: bool = False


class WorkDropped(_Event, frozen=True, kw_only=True, tag="work.dropped"):
    """What was only tried did not hold: the work is again what it was before."""

    tree: Tree


class HypothesesProposed(_Event, frozen=True, kw_only=True, tag="hypotheses.proposed"):
    """Possible causes of what failed; they take the place of earlier ones."""

    bug: str
    hypotheses: tuple[Hypothesis, ...]


class HypothesisJudged(_Event, frozen=True, kw_only=True, tag="hypothesis.judged"):
    """One was tested against its own criteria."""

    hypothesis_id: str
    status: HypothesisStatus
    evidence: str
    verdict_reason: str


class ValidationRecorded(_Event, frozen=True, kw_only=True, tag="validation.recorded"):
    """The test command was run."""

    validation: Validation


class ErrorNoted(_Event, frozen=True, kw_only=True, tag="error.noted"):
    """Something went wrong."""

    error: ErrorLine


class ProgressNoted(_Event, frozen=True, kw_only=True, tag="progress.noted"):
    """An agent says how far it is: a claim, for people to read. It moves nothing."""

    text: str
    by: str


class AgentChanged(_Event, frozen=True, kw_only=True, tag="agent.changed"):
    """Another agent goes on with the action."""

    takeover: Takeover


class TurnBegun(_Event, frozen=True, kw_only=True, tag="turn.begun"):
    """An agent is asked; what that costs is not known yet."""

    turn: OpenTurn


class CostCounted(_Event, frozen=True, kw_only=True, tag="cost.counted"):
    """A turn, time or a failed try was paid for, for which task, and which turn is settled by it."""

    spent: Spent
    task_id: str | None = None
    turn: str | None = None
    # As what the turn is counted that is over now, where no action ends with it.
    turn_of: str | None = None
    role: str | None = None


class DecisionAsked(_Event, frozen=True, kw_only=True, tag="decision.asked"):
    """An agent needs a person's word."""

    decision: Decision


class DecisionAnswered(_Event, frozen=True, kw_only=True, tag="decision.answered"):
    """A person gave it."""

    decision_id: str
    answer: str
    by: str


class WorkerArrived(_Event, frozen=True, kw_only=True, tag="worker.arrived"):
    """A process drives it now."""

    worker: Worker


class WorkerLeft(_Event, frozen=True, kw_only=True, tag="worker.left"):
    """Nobody drives it any more."""

    why: str


class SkillStateTaken(_Event, frozen=True, kw_only=True, tag="skill.taken"):
    """Another tool wrote the worker's fields of the state file, and they hold."""

    skill_state: dict[str, Any]


class OutsideKeysTaken(_Event, frozen=True, kw_only=True, tag="keys.taken"):
    """Another tool wrote keys of its own into the state file; they are kept for it."""

    extra: dict[str, Any]


class IterationTaken(_Event, frozen=True, kw_only=True, tag="iteration.taken"):
    """Another tool counted an iteration of its own."""


class LoopRestored(_Event, frozen=True, kw_only=True, tag="loop.restored"):
    """The log before this was lost or damaged: this is what could be saved, and from what."""

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
