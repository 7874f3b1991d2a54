"""What an agent adapter must do: take one turn. Extra abilities will be protocols of their own."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Protocol

import msgspec


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


class NoAnswer(msgspec.Struct, frozen=True):
    """A typed failure of the turn."""

    reason: Reason
    detail: str


class Ran(msgspec.Struct, frozen=True):
    """A program that an adapter had started for it."""

    exit_code: int
    timed_out: bool
    duration_s: float


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
