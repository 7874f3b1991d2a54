"""What an agent adapter must do: take one turn. Extra abilities are protocols of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, Protocol, assert_never, runtime_checkable

import msgspec

from loopwright.agents.harness import Harness

# In the environment of every process that is started for an agent.
AGENT_MARK = "LOOPWRIGHT_AGENT_TURN"
# Seconds that a turn of a program may take where the settings do not say.
USUAL_TURN_S = 1800.0


class Role(StrEnum):
    """In which capacity an agent is asked."""

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
    """What moves work on after a turn without an answer."""

    # The agent worked at the task and failed. A new try may do better.
    RETRY = "retry"
    # The agent is at a limit that ends by itself.
    WAIT = "wait"
    # The agent cannot start: a person installs it, updates it or logs in.
    SET_UP = "set_up"
    # The agent broke down: a person reads its log.
    INSPECT = "inspect"
    # A budget is used up: only a larger one helps.
    BUDGET = "budget"

    @property
    def allows_takeover(self) -> bool:
        """Whether another agent may do better: the failure says nothing about the task or its budget."""
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
        """What moves the work on."""
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
    """The reasons that one of these remedies helps against."""
    return frozenset(reason for reason in Reason if reason.remedy in remedies)


# What a person is shown of one line that an agent's program printed; None is nothing.
LineReader = Callable[[bytes], str | None]
CostSource = Literal["reported", "computed", "unknown"]


class Allowance(msgspec.Struct, frozen=True):
    """What is left for one turn; None is no limit."""

    usd: float | None = None
    tokens: float | None = None
    wall_s: float | None = None


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One request.

    `mailbox` is the folder beside its sandbox that the agent may write to, and that is gone after the turn. `home` is
    a private one for its settings and sessions, which stays as long as the work does; None where there is none.
    """

    role: Role
    prompt: str
    mailbox: Path
    timeout_s: float
    may_use_web: bool
    # Where it works.
    folder: Path
    # The limits of the turn. A program that exceeds them is stopped; one with limits of its own is told.
    budget: Allowance = Allowance()
    # The manifest in the mailbox, which lists what it should read; None where nothing is listed.
    context: Path | None = None
    home: Path | None = None
    # Its program, found and new enough, for an agent that says what it needs.
    program: Path | None = None
    # The JSON Schema of the answer; None where text is wanted.
    schema: Mapping[str, Any] | None = None
    # The same in words and in the prompt's language, for an agent whose program can't be handed a schema.
    schema_in_words: str = ""
    session: str | None = None
    # How many turns in this role the same work had before; None where they are not counted.
    number: int | None = None
    # Whether the turn is taken behind an isolation of ours; where it is not, the agent's own is all there is.
    is_confined: bool = True
    # Whether only an answer is wanted, also of a builder.
    is_question: bool = False

    @property
    def may_write(self) -> bool:
        """Whether it is there to change files; everybody else reads."""
        return self.role is Role.BUILDER and not self.is_question


class Answer(msgspec.Struct, frozen=True):
    """What the agent answered, and what that took; None is what it did not say. `text` is JSON where a schema was."""

    text: str
    duration_s: float
    tokens: int | None = None
    cost_usd: float | None = None
    session: str | None = None
    # Who says what it cost; None: the agent, where it says anything.
    cost_source: CostSource | None = None
    # What it wanted to do and was not allowed to, by its own program.
    denials: tuple[str, ...] = ()
    stop_reason: str = ""
    # Files that it says it changed; what changed is read from the sandbox.
    files: tuple[str, ...] = ()

    @property
    def priced_by(self) -> CostSource:
        """Who says what it cost."""
        return self.cost_source or ("unknown" if self.cost_usd is None else "reported")


class Usage(msgspec.Struct, frozen=True):
    """What a turn has used so far; None is not reported. `problems` name reports that can't be counted."""

    usd: float | None = None
    tokens: int | None = None
    problems: tuple[str, ...] = ()
    # The agent's session, known while it works: after a crash the next turn can resume it.
    session: str | None = None


class NoAnswer(msgspec.Struct, frozen=True):
    """A typed failure of the turn; a rate limit may say when it ends."""

    reason: Reason
    detail: str
    reset_at: datetime | None = None
    # The session that the next turn could resume.
    session: str | None = None
    # As of an answer: what it was not allowed to do, and why its model ended.
    denials: tuple[str, ...] = ()
    stop_reason: str = ""


class Ran(msgspec.Struct, frozen=True):
    """A program that an adapter had started for it."""

    exit_code: int
    timed_out: bool
    duration_s: float
    # The last line that it printed, redacted: mostly why it failed.
    last_words: str = ""


class Starter(Protocol):
    """Starts an adapter's program inside the sandbox; what it prints goes to a redacted log."""

    def __call__(
        self, argv: tuple[str, ...], *, env: Mapping[str, str], timeout_s: float, on_line: LineReader | None = None
    ) -> Ran:
        """Run it to its end.

        `on_line` gets each raw line of its standard output, which is shown nowhere else; the log gets what it returns.
        """
        ...


class Agent(Protocol):
    """One agent."""

    @property
    def name(self) -> str:
        """Its name in settings and records."""
        ...

    def take(self, turn: Turn, start: Starter) -> Answer | NoAnswer:
        """Take one turn."""
        ...


@runtime_checkable
class ReportsCost(Protocol):
    """An agent that says what a turn uses while it is taken: it can be ended before it has used too much."""

    def used(self, mailbox: Path, *, is_over: bool) -> Usage:
        """What the turn with this mailbox has used so far, or in all; asked from another thread, also after a crash."""
        ...


@runtime_checkable
class HasModel(Protocol):
    """An agent that knows which model it asks."""

    @property
    def model(self) -> str:
        """By its settings, else by its program's own; empty where the program chooses."""
        ...


@runtime_checkable
class CanResume(Protocol):
    """An agent that can resume the session of an earlier turn, also of a killed one."""

    def knows(self, home: Path, folder: Path, session: str) -> bool:
        """Whether it would find that session, when it works in this folder."""
        ...


@runtime_checkable
class HasHooks(Protocol):
    """An agent whose program calls hooks."""

    @property
    def harness(self) -> Harness:
        """Where its hooks are registered."""
        ...


@runtime_checkable
class StreamsEvents(Protocol):
    """An agent whose program says what it does while it does it, a line per event."""

    def shown(self, line: bytes) -> str | None:
        """One line of it as a person reads it; None for a line that is not shown."""
        ...


@runtime_checkable
class WorksOutside(Protocol):
    """An agent whose work is done by hands that we did not start, and can't confine: a person's, or their session's."""

    @property
    def patience_s(self) -> float:
        """Seconds that a turn may take where the settings do not say."""
        ...


def name_in_records(agent: str) -> str:
    """The name of an agent in records. An agent that is spelled out (`command:…`) goes by its kind."""
    return agent.partition(":")[0]


def seconds_for_a_turn(agent: Agent, chosen_s: float | None) -> float:
    """How long a turn may take; `chosen_s` is what the settings say."""
    if chosen_s is not None:
        return chosen_s
    return agent.patience_s if isinstance(agent, WorksOutside) else USUAL_TURN_S
