"""The types of a plan. Frozen; every `Plan` object is valid."""

from __future__ import annotations

import msgspec


class Declared(msgspec.Struct, frozen=True):
    """An expectation as text: stored and shown, but never counted as verified."""

    text: str


class CommandPasses(msgspec.Struct, frozen=True):
    """A command that must exit with 0."""

    command: str


class FileExists(msgspec.Struct, frozen=True):
    """A path that must exist."""

    path: str


class FileContains(msgspec.Struct, frozen=True):
    """A text that a file must contain."""

    path: str
    text: str


class StdoutContains(msgspec.Struct, frozen=True):
    """A text that the step's commands must print."""

    text: str


class ExitCodeIs(msgspec.Struct, frozen=True):
    """The exit code that the step's last command must have."""

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
        """The required exit code of the last command; the default is 0."""
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
    """What to run, in which order, and the digest of the plan file."""

    goal: str
    run_id: str | None
    steps: tuple[Step, ...]
    source_hash: str

    def names(self) -> list[str]:
        """The texts that become part of file names."""
        return [self.run_id or "", *(step.id for step in self.steps)]

    def texts(self) -> list[str]:
        """All other texts, as parsed; quoting in the file may differ."""
        texts = [self.goal]
        for step in self.steps:
            texts += [step.action, step.cwd, *step.commands, *step.env]
            texts += [text for item in step.verification for text in texts_of(item)]
        return texts
