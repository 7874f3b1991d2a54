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


def texts_of(item: Verification) -> tuple[str, ...]:
    """Every text in a verification item."""
    match item:
        case Declared(text) | StdoutContains(text):
            return (text,)
        case CommandPasses(command):
            return (command,)
        case FileExists(path):
            return (path,)
        case FileContains(path, text):
            return (path, text)
        case ExitCodeIs():
            return ()


class Plan(msgspec.Struct, frozen=True):
    """What to run, in which order, and the digest of the file that said so."""

    goal: str
    run_id: str | None
    steps: tuple[Step, ...]
    source_hash: str

    def names(self) -> list[str]:
        """What becomes part of file names."""
        return [self.run_id or "", *(step.id for step in self.steps)]

    def texts(self) -> list[str]:
        """Every other text as the program reads it, which is not always as the file spells it."""
        found = [self.goal]
        for step in self.steps:
            found += [step.action, step.cwd, *step.commands, *step.env]
            found += [text for item in step.verification for text in texts_of(item)]
        return found
