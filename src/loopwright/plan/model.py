"""The types of a plan. Frozen; a `Plan` that exists is valid."""

from __future__ import annotations

import msgspec


class Declared(msgspec.Struct, frozen=True):
    """An expectation in words: kept and shown, never counted as verified."""

    text: str


class CommandPasses(msgspec.Struct, frozen=True):
    """A command that must exit with 0."""

    command: str


class FileExists(msgspec.Struct, frozen=True):
    """A path that must be there."""

    path: str


class FileContains(msgspec.Struct, frozen=True):
    """A text that a file must hold."""

    path: str
    text: str


class StdoutContains(msgspec.Struct, frozen=True):
    """A text that the step's commands must have printed."""

    text: str


class ExitCodeIs(msgspec.Struct, frozen=True):
    """The code with which the step's last command must exit."""

    code: int


Check = CommandPasses | FileExists | FileContains | StdoutContains | ExitCodeIs
Verification = Declared | Check


class Step(msgspec.Struct, frozen=True):
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


class Plan(msgspec.Struct, frozen=True):
    """What to run, in which order, and the digest of the file that said so."""

    goal: str
    run_id: str | None
    steps: tuple[Step, ...]
    source_hash: str
