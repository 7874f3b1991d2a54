"""The protocols of isolation adapters and change recorders, and the open sandbox with both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from loopwright.kernel import process
from loopwright.kernel.process import Captured, Command, Lockdown
from loopwright.sandbox.model import (
    BaseTree,
    Confinement,
    FreshRequest,
    Mode,
    RecordedRequest,
    SandboxFolders,
    SandboxView,
)

# The project as it is now, or as it was at the start of an earlier run.
SandboxRequest = FreshRequest | RecordedRequest


# Git searches for a repository up to this folder, so it never finds another repository above the sandbox.
CEILING = "GIT_CEILING_DIRECTORIES"


class Launch(msgspec.Struct, frozen=True):
    """How to start one isolated command."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    wrapped: bool
    lockdown: Lockdown
    report: tuple[str, bytes] | None = None

    def command(self, family: str) -> Command:
        """The command of this family."""
        return Command(self.argv, self.cwd, self.env, family, self.wrapped, self.lockdown, self.report)

    def capture(self, timeout_s: float) -> Captured:
        """Run the command to its end, and return all its output."""
        return process.capture(self.argv, cwd=self.cwd, env=self.env, timeout_s=timeout_s, lockdown=self.lockdown)


class Isolation(Protocol):
    """One way to isolate commands."""

    @property
    def name(self) -> str:
        """The name in the evidence."""
        ...

    @property
    def mounts(self) -> bool:
        """Whether the adapter can mount a folder read-only at another path."""
        ...

    def missing(self) -> str | None:
        """Why the adapter can't be used on this machine, or None."""
        ...

    def launch(
        self, view: SandboxView, argv: tuple[str, ...], *, cwd: Path, env: Mapping[str, str], network: bool
    ) -> Launch:
        """The command line and environment that run `argv` isolated."""
        ...


# Chooses the isolation of a sandbox, and measures it.
Confine = Callable[[SandboxView], tuple[Isolation, Confinement]]


class Changes(msgspec.Struct, frozen=True):
    """The changes since the base: the resulting tree, and files that a patch can't contain."""

    tree: str
    left_out: tuple[str, ...]


class Recorder(Protocol):
    """Knows the base of a sandbox, and records the changes since."""

    def base(self) -> BaseTree:
        """The base of the sandbox."""
        ...

    def record(self, write: Callable[[bytes], None], *, staged: Changes | None = None) -> Changes:
        """Write the patch in pieces. Call this when no process of the sandbox is left.

        `staged` are the changes, if they were found already and nothing ran since.
        """
        ...

    def changed_files(self) -> tuple[str, ...]:
        """The paths in the patch, after `record`."""
        ...

    def binary_files(self) -> tuple[bytes, ...]:
        """Changed paths whose content the patch encodes, so that no rule can read it."""
        ...

    def content(self, path: bytes) -> bytes:
        """A changed file's new bytes."""
        ...

    def lines_containing(self, text: str) -> bytes:
        """The lines of the base's files that contain this text."""
        ...

    def write_base_patch(self, write: Callable[[bytes], None], limit: int) -> bool:
        """Write the difference between the base's commit and the base; False if it exceeds the limit."""
        ...


class Sandbox(msgspec.Struct, frozen=True):
    """A sandbox that is ready for steps."""

    place: SandboxFolders
    mode: Mode
    recorder: Recorder
    view: SandboxView
    isolation: Isolation
    confinement: Confinement
    notes: tuple[str, ...]

    @property
    def inside(self) -> Path:
        """The copy of the project as the sandbox's processes see it."""
        return self.view.project if self.isolation.mounts else self.place.repo
