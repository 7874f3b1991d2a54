"""The types of a plan. Frozen; a `Plan` that exists is valid."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Declared:
    """An expectation in words: kept and shown, never counted as verified."""

    text: str


@dataclass(frozen=True, slots=True)
class CommandPasses:
    """A command that must exit with 0."""

    command: str


@dataclass(frozen=True, slots=True)
class FileExists:
    """A path that must be there."""

    path: str


@dataclass(frozen=True, slots=True)
class FileContains:
    """A text that a file must hold."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class StdoutContains:
    """A text that the step's commands must have printed."""

    text: str


@dataclass(frozen=True, slots=True)
class ExitCodeIs:
    """The code with which the step's last command must exit."""

    code: int


Check = CommandPasses | FileExists | FileContains | StdoutContains | ExitCodeIs
Verification = Declared | Check


@dataclass(frozen=True, slots=True)
class Step:
    """One node of the plan."""

    id: str
    action: str
    commands: tuple[str, ...]
    cwd: str = "."
    verification: tuple[Verification, ...] = ()
    depends_on: tuple[str, ...] = ()
    timeout_s: float | None = None
    env: tuple[str, ...] = ()
    network: bool = False

    @property
    def expected_exit(self) -> int:
        """What the last command must exit with: 0, unless the step says otherwise."""
        codes = [item.code for item in self.verification if isinstance(item, ExitCodeIs)]
        return codes[-1] if codes else 0


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run, in which order, and the digest of the file that said so."""

    goal: str
    run_id: str | None
    steps: tuple[Step, ...]
    source_hash: str
