"""The events of a run: typed, redacted, in order. Faces turn these into lines.

A tag is the `type` of the event in `run --json`. Programs read these tags, so a tag outlives the name of its class.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import msgspec

from loopwright.redaction.model import Redacted


class RunStarted(msgspec.Struct, frozen=True, tag="run.started"):
    """A run has its folder."""

    run_id: str
    path: str


class PlanRead(msgspec.Struct, frozen=True, tag="plan.read"):
    """The plan is valid."""

    goal: Redacted
    steps: tuple[tuple[str, Redacted], ...]


class SandboxOpened(msgspec.Struct, frozen=True, tag="sandbox.opened"):
    """The sandbox is open."""

    mode: str
    base: str
    isolation: str
    network: str
    notes: tuple[Redacted, ...]


class StepStarted(msgspec.Struct, frozen=True, tag="step.started"):
    """A step begins."""

    step: str
    action: Redacted


class CommandStarted(msgspec.Struct, frozen=True, tag="command.started"):
    """A command begins."""

    step: str
    number: int
    command: Redacted
    log: str


class OutputSeen(msgspec.Struct, frozen=True, tag="output.seen"):
    """The last line that a running command printed."""

    step: str
    line: Redacted


class CommandEnded(msgspec.Struct, frozen=True, tag="command.ended"):
    """A command is over."""

    step: str
    number: int
    exit_code: int
    ending: str
    duration_s: float


class CheckJudged(msgspec.Struct, frozen=True, tag="check.judged"):
    """A verification item was judged."""

    step: str
    kind: str
    outcome: str
    detail: Redacted


class StepEnded(msgspec.Struct, frozen=True, tag="step.ended"):
    """A step is over."""

    step: str
    outcome: str
    duration_s: float
    reason: Redacted


class SecretSeen(msgspec.Struct, frozen=True, tag="secret.seen"):
    """A secret was found and removed."""

    finding: Redacted


class Replanning(msgspec.Struct, frozen=True, tag="replanning"):
    """An agent is asked for a new plan."""

    agent: str
    attempt: int
    attempts: int
    needs: str


class Replanned(msgspec.Struct, frozen=True, tag="replanned"):
    """A turn for a new plan is over, with or without a plan. None means that its cost was not reported."""

    agent: str
    attempt: int
    failure: str | None
    usd: float | None
    tokens: int | None
    worked_s: float
    path: str


class ReplannerChanged(msgspec.Struct, frozen=True, tag="agent.changed"):
    """The agent that was asked for a new plan could not continue, and another agent took over."""

    agent: str
    by: str
    code: str
    until: str | None
    message: Redacted


class RunEnded(msgspec.Struct, frozen=True, tag="run.ended"):
    """A run is over and its evidence is published."""

    run_id: str
    status: str
    error_code: str | None
    message: Redacted
    next: str | None
    path: str
    duration_s: float


class GaveUp(msgspec.Struct, frozen=True, tag="gave.up"):
    """The reflection loop used all its attempts; a person decides."""

    run_id: str
    attempts: int
    error_code: str
    message: Redacted
    next: str


Event = (
    RunStarted | PlanRead | SandboxOpened | StepStarted | CommandStarted | OutputSeen | CommandEnded
    | CheckJudged | StepEnded | SecretSeen | Replanning | Replanned | ReplannerChanged | RunEnded | GaveUp
)  # fmt: skip
Listener = Callable[[Event], None]


def ignore(event: Event) -> None:
    """A listener that ignores all events."""
    del event


class Emitter:
    """Passes events to a listener one at a time, from any thread."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._lock = threading.Lock()

    def emit(self, event: Event) -> None:
        """Pass an event on."""
        with self._lock:
            try:
                self._listener(event)
            except BrokenPipeError:
                # The listener is gone, for example a closed pipe; the run and its record continue.
                self._listener = ignore
