"""What an agent adapter must do: take one turn. Extra abilities are protocols of their own."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Protocol, runtime_checkable

import msgspec

# In the environment of every process that is started for an agent.
AGENT_MARK = "LOOPWRIGHT_AGENT_TURN"


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


class Turn(msgspec.Struct, frozen=True):
    """One request. `mailbox` is the folder that the agent may write to beside its sandbox."""

    role: Role
    prompt: str
    mailbox: Path
    timeout_s: float
    may_use_web: bool
    session: str | None = None
    # How many turns in this role were taken before for the same work; None where nobody counts.
    number: int | None = None


class Answer(msgspec.Struct, frozen=True):
    """What the agent answered, and what that took; None is what it did not say."""

    text: str
    duration_s: float
    tokens: int | None = None
    cost_usd: float | None = None
    session: str | None = None


class Used(msgspec.Struct, frozen=True):
    """What a turn has used so far; None is what nobody said. `problems` name what was said and can't be counted."""

    usd: float | None = None
    tokens: int | None = None
    problems: tuple[str, ...] = ()


class NoAnswer(msgspec.Struct, frozen=True):
    """A typed failure of the turn; a rate limit may say when it ends."""

    reason: Reason
    detail: str
    reset_at: datetime | None = None
    # Where the next turn could go on with what this one had begun.
    session: str | None = None


class Ran(msgspec.Struct, frozen=True):
    """A program that an adapter had started for it."""

    exit_code: int
    timed_out: bool
    duration_s: float
    # The last line that it printed, redacted: mostly why it failed.
    last_words: str = ""


class Starter(Protocol):
    """Starts an adapter's program inside the sandbox; its output goes to a redacted log."""

    def __call__(self, argv: tuple[str, ...], *, env: Mapping[str, str], timeout_s: float) -> Ran:
        """Run it to its end."""
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

    def used(self, mailbox: Path, *, is_over: bool) -> Used:
        """What the turn with this mailbox has used so far, or in all; asked from another thread, also after a crash."""
        ...
