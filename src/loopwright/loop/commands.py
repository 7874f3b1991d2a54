"""What can be asked of a loop, by a person, another tool or its own worker."""

from __future__ import annotations

from typing import Any

import msgspec

from loopwright.agents.failover import Takeover
from loopwright.agents.mailbox import DecisionRequest
from loopwright.loop.events import LoopCreated
from loopwright.loop.model import (
    Action,
    Budget,
    ErrorLine,
    Hold,
    Holder,
    Hypothesis,
    HypothesisStatus,
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


class _Command(msgspec.Struct, frozen=True, kw_only=True):
    """Immutable."""


class Create(_Command, frozen=True, kw_only=True):
    """Make a loop."""

    wanted: LoopCreated


class Start(_Command, frozen=True, kw_only=True):
    """Set it going."""


class Pause(_Command, frozen=True, kw_only=True):
    """Hold it."""

    hold: Hold


class Resume(_Command, frozen=True, kw_only=True):
    """Lift the holds of these holders; where it is not held at all that is an error."""

    lifts: frozenset[Holder]


class Stop(_Command, frozen=True, kw_only=True):
    """End it for good."""

    by: str


class Fail(_Command, frozen=True, kw_only=True):
    """Its worker can't go on."""

    code: str
    reason: str


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


class GiveIterations(_Command, frozen=True, kw_only=True):
    """Change the limit."""

    max_iterations: int


class SetBudget(_Command, frozen=True, kw_only=True):
    """Change what it may cost."""

    budget: Budget


class SetMode(_Command, frozen=True, kw_only=True):
    """Let the rules choose what is next, or a person."""

    mode: Mode


class SetTaskBudget(_Command, frozen=True, kw_only=True):
    """Change what one task may cost, or every one that has no limit of its own."""

    budget: Budget
    task_id: str | None = None


class AddTask(_Command, frozen=True, kw_only=True):
    """An item more."""

    task: Task
    before: str | None = None


class AddTasks(_Command, frozen=True, kw_only=True):
    """Items more at the end, all of them or none."""

    tasks: tuple[Task, ...]


class EditTask(_Command, frozen=True, kw_only=True):
    """Change an item that nobody is at."""

    task: Task


class RemoveTask(_Command, frozen=True, kw_only=True):
    """Take an item out."""

    task_id: str


class OrderTasks(_Command, frozen=True, kw_only=True):
    """Put the list in this order."""

    task_ids: tuple[str, ...]


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


class PauseAction(_Command, frozen=True, kw_only=True):
    """The worker leaves an action for later: a turn was ended by a long pause, or came to nothing."""

    action_id: str
    session: str | None = None
    turn_taken: bool = False


class AbandonAction(_Command, frozen=True, kw_only=True):
    """What was under way is not, and counts for nothing."""

    why: str
    turn_taken: bool = False


class NoteError(_Command, frozen=True, kw_only=True):
    """Something went wrong."""

    error: ErrorLine


class NoteProgress(_Command, frozen=True, kw_only=True):
    """An agent says how far it is."""

    text: str
    by: str


class AskDecisions(_Command, frozen=True, kw_only=True):
    """An agent left questions for a person."""

    requests: tuple[DecisionRequest, ...]
    at: str


class AnswerDecision(_Command, frozen=True, kw_only=True):
    """A person answers one."""

    decision_id: str
    answer: str
    by: str


class HandOver(_Command, frozen=True, kw_only=True):
    """An agent can't go on with the action that is under way, and another one takes it over, from its start."""

    takeover: Takeover


class NoteTakeover(_Command, frozen=True, kw_only=True):
    """The same where no action is under way: a person had tasks planned."""

    takeover: Takeover


class BeginTurn(_Command, frozen=True, kw_only=True):
    """An agent is about to be asked."""

    turn: OpenTurn


class Count(_Command, frozen=True, kw_only=True):
    """Something was paid for. A turn with a role is charged once, whoever counts it."""

    spent: Spent
    task_id: str | None = None
    turn: str | None = None
    # As what the turn is counted that is over now, where no action ends with it.
    turn_of: str | None = None
    role: str | None = None


class Arrive(_Command, frozen=True, kw_only=True):
    """A process drives it from now on; the caller has made sure that no other does."""

    worker: Worker


class Leave(_Command, frozen=True, kw_only=True):
    """It does not any more."""

    why: str


class TakeSkillState(_Command, frozen=True, kw_only=True):
    """Another tool wrote the worker's fields."""

    skill_state: dict[str, Any]


class TakeKeys(_Command, frozen=True, kw_only=True):
    """Another tool wrote keys that we do not know."""

    extra: dict[str, Any]


class TakeIteration(_Command, frozen=True, kw_only=True):
    """Another tool counted an iteration."""


Command = (
    Create | Start | Pause | Resume | Stop | Fail | Finish | Accept | Retry | GiveIterations | SetBudget | SetTaskBudget
    | SetMode | AddTask | AddTasks | EditTask | RemoveTask | OrderTasks | MarkTaskDone | Advance | Choose | FinishInit
    | FinishDevelop | ProposeHypotheses | JudgeHypothesis | FinishDebug | FinishValidate | FinishComplete | PauseAction
    | AbandonAction | HandOver | NoteTakeover | NoteError | NoteProgress | AskDecisions | AnswerDecision | BeginTurn
    | Count | Arrive | Leave | TakeSkillState | TakeKeys | TakeIteration
)  # fmt: skip
