"""What an agent adapter must do: take one turn. Each extra ability is a protocol of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, Protocol, assert_never, runtime_checkable

import msgspec

from loopwright.agents.harness import Harness

# An environment variable of every process that is started for an agent.
AGENT_MARK = "LOOPWRIGHT_AGENT_TURN"
# The default time limit of a program's turn, in seconds.
USUAL_TURN_S = 1800.0


class Role(StrEnum):
    """The role in which an agent is asked."""

    CLARIFIER = "clarifier"
    PLANNER = "planner"
    ARCHITECT = "architect"
    CRITIC = "critic"
    BUILDER = "builder"
    DEBUGGER = "debugger"
    REVIEWER = "reviewer"
    SMELL_REVIEWER = "smell reviewer"
    REPLANNER = "replanner"


class Remedy(StrEnum):
    """What to do after a turn without an answer."""

    # The agent worked on the task and failed. A retry may succeed.
    RETRY = "retry"
    # The agent reached a limit that ends by itself.
    WAIT = "wait"
    # The agent cannot start: a person installs it, updates it or logs in.
    SET_UP = "set_up"
    # The agent crashed or hung: a person reads its log.
    INSPECT = "inspect"
    # A budget is used up: only a larger one helps.
    BUDGET = "budget"

    @property
    def allows_takeover(self) -> bool:
        """Whether another agent may take over: the failure was not caused by the task or its budget."""
        match self:
            case Remedy.WAIT | Remedy.SET_UP | Remedy.INSPECT:
                return True
            case Remedy.RETRY | Remedy.BUDGET:
                return False
            case _:
                assert_never(self)


class Reason(StrEnum):
    """Why a turn gave no answer."""

    AGENT_MISSING = "agent_missing"
    AGENT_TOO_OLD = "agent_too_old"
    NOT_LOGGED_IN = "not_logged_in"
    RATE_LIMITED = "rate_limited"
    BUDGET_USED = "budget_used"
    PERMISSION_DENIED = "permission_denied"
    REFUSED = "refused"
    CRASHED = "crashed"
    HUNG = "hung"
    INVALID_ANSWER = "invalid_answer"

    @property
    def remedy(self) -> Remedy:
        """What to do about it."""
        match self:
            case Reason.REFUSED | Reason.PERMISSION_DENIED:
                return Remedy.RETRY
            case Reason.RATE_LIMITED:
                return Remedy.WAIT
            case Reason.AGENT_MISSING | Reason.AGENT_TOO_OLD | Reason.NOT_LOGGED_IN:
                return Remedy.SET_UP
            case Reason.CRASHED | Reason.HUNG | Reason.INVALID_ANSWER:
                return Remedy.INSPECT
            case Reason.BUDGET_USED:
                return Remedy.BUDGET
            case _:
                assert_never(self)


def reasons_for(*remedies: Remedy) -> frozenset[Reason]:
    """The reasons that have one of these remedies."""
    return frozenset(reason for reason in Reason if reason.remedy in remedies)


# Turns a line that an agent's program printed into text for a person; None shows nothing.
LineReader = Callable[[bytes], str | None]
CostSource = Literal["reported", "computed", "unknown"]


class Allowance(msgspec.Struct, frozen=True):
    """The remaining budget of one turn; None means no limit."""

    usd: float | None = None
    tokens: float | None = None
    wall_s: float | None = None


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One request to an agent.

    `mailbox` is a folder next to the sandbox. The agent may write to it, and it is deleted after the turn. `home` is a
    private folder for the program's settings and sessions. It stays as long as the work does.
    """

    role: Role
    prompt: str
    mailbox: Path
    timeout_s: float
    may_use_web: bool
    # The working folder.
    folder: Path
    # The same folder as the agent's programs see it, if that is another path.
    folder_inside: Path | None = None
    # A program that exceeds the budget is stopped. A program with its own limits is started with this budget.
    budget: Allowance = Allowance()
    # The manifest in the mailbox, which lists the files to read; None without a list.
    context: Path | None = None
    home: Path | None = None
    # The agent's program, found and new enough, for an agent that has `Needs`.
    program: Path | None = None
    # The JSON Schema of the answer; None for a text answer.
    schema: Mapping[str, Any] | None = None
    # The schema as text in the prompt's language, for an agent whose program has no option for a schema; it asks for
    # the nonce as well.
    schema_text: str = ""
    # The secret of this turn, if its answer decides something: proof that the answer was written for this question.
    nonce: str = ""
    session: str | None = None
    # The number of earlier turns of the same work in this role; None if they are not counted.
    number: int | None = None
    # Whether our isolation confines the turn. If not, only the agent's own confinement remains.
    is_confined: bool = True
    # Whether the agent must only answer and not change files, even as a builder.
    is_question: bool = False

    @property
    def may_write(self) -> bool:
        """Whether the agent may change files. Only builders may; all other roles read."""
        return self.role is Role.BUILDER and not self.is_question


class Answer(msgspec.Struct, frozen=True):
    """The agent's answer and what it used. None means not reported. `text` is JSON if the turn has a schema."""

    text: str
    duration_s: float
    tokens: int | None = None
    cost_usd: float | None = None
    session: str | None = None
    # The source of the cost. None means reported by the agent, or unknown without a cost.
    cost_source: CostSource | None = None
    # Actions that the agent's own program denied.
    denials: tuple[str, ...] = ()
    stop_reason: str = ""
    # Files that the agent claims to have changed. The real changes are read from the sandbox.
    files: tuple[str, ...] = ()
    # Whether the text is the structured answer of the program's own protocol. A model can't claim that in a text.
    is_structured: bool = False

    @property
    def priced_by(self) -> CostSource:
        """The source of the cost."""
        return self.cost_source or ("unknown" if self.cost_usd is None else "reported")


class Usage(msgspec.Struct, frozen=True):
    """What a turn has used so far; None is not reported. `problems` name reports that can't be counted."""

    usd: float | None = None
    tokens: int | None = None
    problems: tuple[str, ...] = ()
    # The agent's session, known while it works: after a crash the next turn can resume it.
    session: str | None = None


class NoAnswer(msgspec.Struct, frozen=True):
    """A typed failure of the turn. `reset_at` is when a rate limit ends, if known."""

    reason: Reason
    detail: str
    reset_at: datetime | None = None
    # The session that the next turn could resume.
    session: str | None = None
    # As in an answer: denied actions, and why the model stopped.
    denials: tuple[str, ...] = ()
    stop_reason: str = ""


class Ran(msgspec.Struct, frozen=True):
    """How a program ended that an adapter started."""

    exit_code: int
    timed_out: bool
    duration_s: float
    # The last printed line, redacted: usually the reason of a failure.
    last_line: str = ""


class Starter(Protocol):
    """Starts an adapter's program inside the sandbox. Its output goes to a redacted log."""

    def __call__(
        self, argv: tuple[str, ...], *, env: Mapping[str, str], timeout_s: float, on_line: LineReader | None = None
    ) -> Ran:
        """Run the program to its end.

        `on_line` gets each raw line of standard output, which is shown nowhere else. The log gets its return values.
        """
        ...


class Agent(Protocol):
    """An agent."""

    @property
    def name(self) -> str:
        """The agent's name in settings and records."""
        ...

    def take(self, turn: Turn, start: Starter) -> Answer | NoAnswer:
        """Take one turn."""
        ...


@runtime_checkable
class ReportsCost(Protocol):
    """An agent that reports what a turn uses while it runs, so that the turn can be ended in time."""

    def used(self, mailbox: Path, *, is_over: bool) -> Usage:
        """What the turn with this mailbox has used so far, or in total. Called from another thread or after a crash."""
        ...


@runtime_checkable
class HasModel(Protocol):
    """An agent that knows its model."""

    @property
    def model(self) -> str:
        """The model in Loopwright's settings, else in the program's own settings; empty if the program chooses."""
        ...


@runtime_checkable
class CanResume(Protocol):
    """An agent that can resume the session of an earlier turn, even of a killed one."""

    def knows(self, home: Path, folder: Path, session: str) -> bool:
        """Whether the program would find that session when it works in this folder."""
        ...


@runtime_checkable
class HasHooks(Protocol):
    """An agent whose program calls hooks."""

    @property
    def harness(self) -> Harness:
        """Where the hooks are registered."""
        ...


@runtime_checkable
class StreamsEvents(Protocol):
    """An agent whose program prints its events while it works, one per line."""

    def shown(self, line: bytes) -> str | None:
        """One line as a person reads it; None for a line that is not shown."""
        ...


@runtime_checkable
class WorksOutside(Protocol):
    """An agent that we did not start and can't confine: a person, or an agent in the person's own session."""

    @property
    def patience_s(self) -> float:
        """The default time limit of a turn, in seconds."""
        ...


@runtime_checkable
class RepeatsScript(Protocol):
    """An agent without a model: it does what a person wrote, and decides nothing."""

    @property
    def is_scripted(self) -> bool:
        """Always true."""
        ...


def name_in_records(agent: str) -> str:
    """The name of an agent in records. An agent without a name of its own (`command:…`) has its kind as name."""
    return agent.partition(":")[0]


def seconds_for_a_turn(agent: Agent, chosen_s: float | None) -> float:
    """The time limit of a turn; `chosen_s` comes from the settings."""
    if chosen_s is not None:
        return chosen_s
    return agent.patience_s if isinstance(agent, WorksOutside) else USUAL_TURN_S
