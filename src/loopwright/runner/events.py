"""What happens during a run, as it happens: typed, redacted, in order. Faces turn these into lines."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from loopwright.redaction.model import Redacted


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run has its folder."""

    run_id: str
    path: str


@dataclass(frozen=True, slots=True)
class PlanRead:
    """The plan is valid."""

    goal: Redacted
    steps: tuple[tuple[str, Redacted], ...]


@dataclass(frozen=True, slots=True)
class SandboxOpened:
    """There is a sandbox."""

    mode: str
    base: str
    isolation: str
    network: str
    notes: tuple[Redacted, ...]


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A step begins."""

    step: str
    action: Redacted


@dataclass(frozen=True, slots=True)
class CommandStarted:
    """A command begins."""

    step: str
    number: int
    command: Redacted
    log: str


@dataclass(frozen=True, slots=True)
class OutputSeen:
    """The last line that a running command printed."""

    step: str
    line: Redacted


@dataclass(frozen=True, slots=True)
class CommandEnded:
    """A command is over."""

    step: str
    number: int
    exit_code: int
    ending: str
    duration_s: float


@dataclass(frozen=True, slots=True)
class CheckJudged:
    """A verification item was looked at."""

    step: str
    kind: str
    outcome: str
    detail: Redacted


@dataclass(frozen=True, slots=True)
class StepEnded:
    """A step is over."""

    step: str
    outcome: str
    duration_s: float
    reason: Redacted


@dataclass(frozen=True, slots=True)
class SecretSeen:
    """A secret was found and kept out."""

    finding: str


@dataclass(frozen=True, slots=True)
class Replanning:
    """An agent is asked for a new plan."""

    agent: str
    attempt: int
    attempts: int
    needs: str


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A run is over and its evidence is published."""

    run_id: str
    status: str
    error_code: str | None
    message: Redacted
    next: str | None
    path: str
    duration_s: float


Event = (
    RunStarted | PlanRead | SandboxOpened | StepStarted | CommandStarted | OutputSeen | CommandEnded
    | CheckJudged | StepEnded | SecretSeen | Replanning | RunEnded
)  # fmt: skip
Listener = Callable[[Event], None]


class Emitter:
    """Hands events to a listener one at a time, from any thread."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._lock = threading.Lock()

    def emit(self, event: Event) -> None:
        """Tell it."""
        with self._lock:
            self._listener(event)


def ignore(event: Event) -> None:
    """A listener that wants to know nothing."""
    del event
