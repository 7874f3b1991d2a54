"""What the runner is told, and what it reports."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from loopwright.redaction.model import Redacted


class Failure(msgspec.Struct, frozen=True):
    """Why a run did not come out right: a stable code, a sentence, the way on, and where it happened."""

    code: str
    message: Redacted
    hint: str
    step: str | None = None
    command: Redacted | None = None
    exit_code: int | None = None
    log_tail: Redacted | None = None
    log_end: Redacted | None = None
    signal: str | None = None


class RunLimits(msgspec.Struct, frozen=True):
    """How long and how much."""

    timeout_s: float
    jobs: int
    log_bytes: int


class Environment(msgspec.Struct, frozen=True):
    """The caller's variables, and which of them steps may see."""

    caller: Mapping[str, str]
    allowed: tuple[str, ...]

    def for_step(self, names: tuple[str, ...]) -> dict[str, str]:
        """What a step's processes get; everything else is dropped."""
        return {name: self.caller[name] for name in (*self.allowed, *names) if name in self.caller}
