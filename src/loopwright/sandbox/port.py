"""What an isolation adapter and a recorder of changes must do, and the open sandbox that holds both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from loopwright.sandbox.model import (
    BaseTree,
    Confinement,
    FreshRequest,
    Mode,
    RecordedRequest,
    SandboxFolders,
    SandboxView,
)

# The project as it is now, or as it was when an earlier run began.
SandboxRequest = FreshRequest | RecordedRequest


class Launch(msgspec.Struct, frozen=True):
    """How to start one command under confinement."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    wrapped: bool


class Isolation(Protocol):
    """One way to confine commands."""

    @property
    def name(self) -> str:
        """Its name in the evidence."""
        ...

    @property
    def mounts(self) -> bool:
        """Whether it can show a folder at another path, read-only."""
        ...

    def missing(self) -> str | None:
        """Why it can't be used on this machine, or None."""
        ...

    def launch(
        self, view: SandboxView, argv: tuple[str, ...], *, cwd: Path, env: Mapping[str, str], network: bool
    ) -> Launch:
        """The command line and environment that run `argv` confined."""
        ...


class Changes(msgspec.Struct, frozen=True):
    """What differs from the base: the tree that came out, and things that a patch can't carry."""

    tree: str
    left_out: tuple[str, ...]


class Recorder(Protocol):
    """Knows the base, and can say what changed since."""

    def base(self) -> BaseTree:
        """What the sandbox started from."""
        ...

    def record(self, write: Callable[[bytes], None]) -> Changes:
        """Write the patch piece by piece; call it when no process of the sandbox is left."""
        ...

    def changed_files(self) -> tuple[str, ...]:
        """The paths in the patch, after `record`."""
        ...

    def binary_files(self) -> tuple[bytes, ...]:
        """Paths whose new content the patch holds in a coded form, where no rule could read it."""
        ...

    def content(self, path: bytes) -> bytes:
        """A changed file's new bytes."""
        ...

    def lines_with(self, text: str) -> bytes:
        """The lines of the base's files that hold this text."""
        ...

    def write_base_patch(self, write: Callable[[bytes], None], limit: int) -> bool:
        """What the base has that its commit has not; False when that is more than the limit."""
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
