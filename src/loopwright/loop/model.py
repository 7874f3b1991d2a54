"""A loop at one moment. Frozen; only `evolve` makes the next state from an event.

Not stored in this form: the event log is the truth, and `projection` makes the contract's JSON.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from loopwright.agents.failover import Takeover
from loopwright.agents.port import Reason
from loopwright.judging.reports.model import TestReport, TestResult
from loopwright.loop.proof import Doubt, LeftOut, TaskProof, WholeWork

Mode = Literal["interactive", "auto"]
TaskMode = Literal["analysis", "write"]
TaskStatus = Literal["pending", "in_progress", "completed", "failed"]
HypothesisStatus = Literal["pending", "confirmed", "rejected", "inconclusive"]


class Action(StrEnum):
    """One durable piece of work."""

    INIT = "init"
    DEVELOP = "develop"
    DEBUG = "debug"
    VALIDATE = "validate"
    COMPLETE = "complete"


# The hold of a loop whose tests pass although a task failed.
TASK_FAILED = "task_failed"
ITERATIONS = frozenset({Action.DEVELOP, Action.DEBUG, Action.VALIDATE})  # the other two actions are bookkeeping


class TaskKind(StrEnum):
    """What a task is for. The value begins the id of a task; the id of planned work is free."""

    WORK = ""
    FIX = "F-"
    # A review of the work: the agent's answer counts, its changes do not.
    LOOK = "LOOK-"
    DESLOP = "DESLOP-"

    @classmethod
    def of(cls, task_id: str | None) -> TaskKind:
        """The kind of the task with this id."""
        made = (cls.FIX, cls.LOOK, cls.DESLOP)
        return next((kind for kind in made if (task_id or "").startswith(kind.value)), cls.WORK)


class Holder(StrEnum):
    """Who holds a loop. Holds of different holders do not undo each other."""

    OPERATOR = "operator"
    BUDGET = "budget"
    BLOCKER = "blocker"
    DECISION = "decision"
    QUOTA = "quota"
    PROOF = "proof"


class _Value(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Strict and immutable."""


def reason_in(code: str) -> Reason | None:
    """The reason that the code of a hold ends with."""
    return next((reason for reason in Reason if code.endswith(reason.value)), None)


class Hold(_Value, frozen=True, kw_only=True):
    """Why a loop is held: `code` distinguishes holds of one holder, `message` is for a person."""

    holder: Holder
    code: str
    message: str
    since: str
    until: str | None = None

    @property
    def reason(self) -> Reason | None:
        """Why the agent gave no answer, if that holds the loop. The code may begin with the name of a lane."""
        return reason_in(self.code)

    @property
    def ends_by_itself(self) -> bool:
        """Whether a worker may lift the hold at its time."""
        return self.holder is Holder.QUOTA and self.until is not None


class Created(_Value, frozen=True, tag="created"):
    """Never started."""


class Running(_Value, frozen=True, tag="running"):
    """A worker may continue."""


class Held(_Value, frozen=True, kw_only=True, tag="held"):
    """Waits until every hold is lifted; has at least one hold."""

    holds: tuple[Hold, ...]


class Completed(_Value, frozen=True, kw_only=True, tag="completed"):
    """Complete: validation passed, or a person forced it with a reason; `accepted_by` accepted unproven work."""

    at: str
    forced: str | None
    accepted_by: str | None = None


class Failed(_Value, frozen=True, kw_only=True, tag="failed"):
    """Ended without being complete; `code` is one of the contract's reasons."""

    at: str
    code: str
    reason: str


Phase = Created | Running | Held | Completed | Failed


class Task(_Value, frozen=True, kw_only=True):
    """A task of the list. `extra` has the keys of other tools."""

    id: str
    description: str
    tool: str
    mode: TaskMode
    status: TaskStatus
    created_at: str
    files_changed: tuple[str, ...] = ()
    completed_at: str | None = None
    extra: dict[str, Any] = {}

    @property
    def kind(self) -> TaskKind:
        """What the task is for."""
        return TaskKind.of(self.id)


class Criteria(_Value, frozen=True, kw_only=True):
    """What confirms and what rejects a hypothesis."""

    confirm: str
    reject: str


class Hypothesis(_Value, frozen=True, kw_only=True):
    """A possible cause, with the test that decides it."""

    id: str
    description: str
    testable_condition: str
    logging_point: str
    evidence_criteria: Criteria
    likelihood: int
    status: HypothesisStatus = "pending"
    evidence: str = ""
    verdict_reason: str = ""


class Debugging(_Value, frozen=True, kw_only=True):
    """The analysis of a failure."""

    active_bug: str | None = None
    hypotheses: tuple[Hypothesis, ...] = ()
    iteration: int = 0
    last_analysis_at: str | None = None

    @property
    def confirmed(self) -> str | None:
        """The id of the confirmed hypothesis."""
        return next((hypothesis.id for hypothesis in self.hypotheses if hypothesis.status == "confirmed"), None)


class Validation(_Value, frozen=True, kw_only=True):
    """The result of the last run of the test command."""

    results: tuple[TestResult, ...] = ()
    coverage: float | None = None
    passed: bool = False
    needs_protected: bool = False  # whether they pass only with the changes to protected files
    last_run_at: str | None = None
    run_id: str | None = None
    doubts: tuple[Doubt, ...] = ()
    proofs: tuple[TaskProof, ...] = ()
    proof: str = ""  # what the tests prove, in a sentence; empty if they do not accept the work
    notes: tuple[str, ...] = ()  # about tests that pass: what they do not reach, and what could not be altered
    unfixed: tuple[str, ...] = ()  # tests that fail as before, if nothing else keeps a person from accepting the work
    without_protected: Tree | None = None  # the work without its protected changes, if the tests ran on it and passed
    with_protected: WholeWork | None = None  # None if no protected file changed
    left_out: LeftOut | None = None  # protected changes without which the tests failed
    checks: int = 0  # how many of the results, the first ones, are those of checks of a plan; the others are tests

    @property
    def failed_tests(self) -> tuple[str, ...]:
        """Names of the tests that failed."""
        return TestReport(self.results).failed_tests

    @property
    def pass_rate(self) -> float:
        """The percentage of tests that passed."""
        return TestReport(self.results).pass_rate

    @property
    def holds(self) -> bool:
        """Whether it passed with at least one result."""
        return self.passed and bool(self.results)


class ErrorLine(_Value, frozen=True, kw_only=True):
    """An error, with its time and action."""

    action: str
    message: str
    timestamp: str


class Budget(_Value, frozen=True, kw_only=True):
    """Limits of cost; None means no limit."""

    usd: float | None = None
    tokens: int | None = None
    wall_s: float | None = None
    turns: int | None = None
    # For a task: how often it may start. The limit of the loop is `max_iterations`.
    iterations: int | None = None
    # How often a failed attempt is repeated.
    retries: int | None = None

    def but(self, other: Budget) -> Budget:
        """These limits, overridden by those of the other budget."""
        return replace(self, **{name: value for name in LIMITS if (value := getattr(other, name)) is not None})


LIMITS = Budget.__struct_fields__


class Spent(_Value, frozen=True, kw_only=True):
    """The cost so far. `usd_known` is False if one turn did not report its cost; `retries` are failed attempts.

    `usd_computed` is the part that was computed from a price list.
    """

    usd: float = 0.0
    tokens: int = 0
    wall_s: float = 0.0
    turns: int = 0
    usd_known: bool = True
    retries: int = 0
    usd_computed: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            usd=self.usd + other.usd,
            tokens=self.tokens + other.tokens,
            wall_s=self.wall_s + other.wall_s,
            turns=self.turns + other.turns,
            usd_known=self.usd_known and other.usd_known,
            retries=self.retries + other.retries,
            usd_computed=self.usd_computed + other.usd_computed,
        )


class OpenTurn(_Value, frozen=True, kw_only=True):
    """A running turn of an agent, not counted yet; if its worker dies, the next worker counts it."""

    name: str
    agent: str
    mailbox: str
    task_id: str | None = None
    role: str | None = None
    # Whether the turn only asks a question next to the work, in a separate session.
    is_question: bool = False
    # Whether a person takes the turn by hand, through its mailbox.
    is_by_hand: bool = False


class Decision(_Value, frozen=True, kw_only=True):
    """A question of an agent and a person's answer; the same question is not asked again."""

    id: str
    question: str
    asked_at: str
    options: tuple[str, ...] = ()
    scope_wanted: tuple[str, ...] = ()
    answer: str | None = None
    answered_by: str | None = None
    answered_at: str | None = None


class UnderWay(_Value, frozen=True, kw_only=True):
    """The current or interrupted action of a worker; `session` continues the agent's turn."""

    action: Action
    id: str
    started_at: str
    task_id: str | None = None
    session: str | None = None

    @property
    def task_kind(self) -> TaskKind:
        """What the task under way is for."""
        return TaskKind.of(self.task_id)

    @property
    def turns_as(self) -> str:
        """The key under which turns are counted: reviews are counted apart from work."""
        return TaskKind.LOOK.value if self.task_kind is TaskKind.LOOK else self.action.value


class Worker(_Value, frozen=True, kw_only=True):
    """The process that drives the loop."""

    pid: int
    host: str
    since: str


class Tree(_Value, frozen=True, kw_only=True):
    """The work so far: a patch on a base, and the resulting tree."""

    commit: str | None
    base_tree: str
    tree: str
    patch_sha256: str

    @property
    def has_changes(self) -> bool:
        """Whether the work changed anything."""
        return self.tree != self.base_tree


class ProgressMark(_Value, frozen=True, kw_only=True):
    """The result of an iteration, for the circuit breaker: an equal mark means no progress."""

    tree: str
    failing: tuple[str, ...]
    evidence: str


class Loop(_Value, frozen=True, kw_only=True):
    """The whole state of one loop."""

    loop_id: str
    title: str
    description: str
    max_iterations: int
    created_at: str
    updated_at: str
    phase: Phase
    revision: int
    mode: Mode = "auto"
    agent: str = ""
    tags: tuple[str, ...] = ()
    priority: int = 0
    iteration: int = 0
    attempt: int = 1
    is_initialised: bool = False
    tasks: tuple[Task, ...] = ()
    debug: Debugging = Debugging()
    validation: Validation = Validation()
    # Whether the last validation is about the current work; a later task makes it stale.
    is_validated: bool = False
    errors: tuple[ErrorLine, ...] = ()
    last_action: Action | None = None
    completed_actions: tuple[Action, ...] = ()
    last_progress_at: str | None = None
    under_way: UnderWay | None = None
    worker: Worker | None = None
    budget: Budget = Budget()
    # Budgets of tasks: for every task, and for tasks with their own limits.
    task_budget: Budget = Budget()
    task_budgets: dict[str, Budget] = {}
    spent: Spent = Spent()
    spent_on_task: Spent = Spent()  # of the action under way only
    spent_by_task: dict[str, Spent] = {}
    spent_by_role: dict[str, Spent] = {}  # by the role of the agent
    marks: tuple[ProgressMark, ...] = ()
    tries: dict[str, int] = {}
    turns: dict[str, int] = {}
    open_turn: OpenTurn | None = None
    decisions: tuple[Decision, ...] = ()
    takeovers: tuple[Takeover, ...] = ()
    # The number of takeovers when a person last resumed the loop with all agents.
    takeovers_before_resume: int = 0
    # Quota holds in a row, without a completed action in between.
    quota_holds: int = 0
    # Every agent that built, in order: none of them can review the work.
    builders: tuple[str, ...] = ()
    tree: Tree | None = None
    # The work after each finished task, in the order of the work.
    work_after: tuple[tuple[str, Tree], ...] = ()
    done_by_people: tuple[str, ...] = ()  # tasks that a person marked as done
    known_failures: tuple[str, ...] = ()  # failing tests that a person approved by accepting the work
    fallback: Tree | None = None  # the work before an attempt: a failed validation goes back to it
    workflow: str | None = None  # that this loop builds
    extra: dict[str, Any] = {}
    skill_extra: dict[str, Any] = {}
    # Unknown keys of the sections develop, debug and validate.
    section_extra: dict[str, dict[str, Any]] = {}

    def new_task_id(self, kind: TaskKind) -> str:
        """The id of the next task of a kind."""
        return f"{kind.value}{sum(task.kind is kind for task in self.tasks) + 1}"

    def task(self, task_id: str) -> Task | None:
        """The task with this id."""
        return next((task for task in self.tasks if task.id == task_id), None)

    @property
    def task_id_under_way(self) -> str | None:
        """The id of the task that the action under way is for."""
        return self.under_way.task_id if self.under_way is not None else None

    def budget_of(self, task_id: str) -> Budget:
        """The budget of a task: its own limits, else those of every task."""
        return self.task_budget.but(self.task_budgets.get(task_id, Budget()))

    @property
    def holds(self) -> tuple[Hold, ...]:
        """Why the loop is held; empty if it is not."""
        return self.phase.holds if isinstance(self.phase, Held) else ()

    @property
    def is_for_a_worker(self) -> bool:
        """Whether a worker can continue, now or at a known time."""
        return isinstance(self.phase, Running | Held) and all(hold.ends_by_itself for hold in self.holds)

    @property
    def open_decisions(self) -> tuple[Decision, ...]:
        """Questions without an answer."""
        return tuple(decision for decision in self.decisions if decision.answer is None)

    @property
    def pending(self) -> tuple[Task, ...]:
        """Tasks that are not done, in order; an interrupted task comes first."""
        return tuple(task for task in self.tasks if task.status in ("pending", "in_progress"))

    @property
    def is_over(self) -> bool:
        """Whether the loop has ended; only a retry continues it."""
        return isinstance(self.phase, Completed | Failed)
