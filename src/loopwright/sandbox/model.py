"""The types of a sandbox."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import msgspec

from loopwright.evidence.model import BaseRecord


class Mode(StrEnum):
    """How a sandbox was made."""

    WORKTREE = "worktree"
    COPY = "copy"


class SandboxFolders(msgspec.Struct, frozen=True):
    """The folders of one sandbox. `repo` is what steps work in; nothing else of it is theirs to write."""

    folder: Path

    @property
    def repo(self) -> Path:
        """The copy of the project."""
        return self.folder / "repo"

    @property
    def tmp(self) -> Path:
        """The steps' private temporary folder."""
        return self.folder / "tmp"

    @property
    def home(self) -> Path:
        """What confined steps find as their home."""
        return self.folder / "home"

    @property
    def judge(self) -> Path:
        """Our own git folder, out of the steps' reach: it says what changed."""
        return self.folder / "judge"

    @property
    def objects(self) -> Path:
        """Names under which the steps' own git finds the user's objects."""
        return self.folder / "objects"


class BaseTree(msgspec.Struct, frozen=True):
    """What the sandbox started from. `tree` names the exact content; `commit` is HEAD where there is one."""

    commit: str | None
    tree: str
    is_commit: bool


class FreshRequest(msgspec.Struct, frozen=True):
    """A sandbox of the project as it is now."""

    project: Path
    sandbox_root: Path
    mode: str
    exclude: tuple[str, ...] = ()
    provide: tuple[str, ...] = ()
    state_folders: tuple[str, ...] = ()


class RecordedRequest(msgspec.Struct, frozen=True):
    """A sandbox of the project as it was when an earlier run began."""

    now: FreshRequest
    mode: Mode
    base: BaseRecord
    base_patch: Path


class SandboxView(msgspec.Struct, frozen=True):
    """What a confined process may see beyond the machine's programs: the inputs of an isolation adapter."""

    place: SandboxFolders
    project: Path
    sandbox_root: Path
    provided: tuple[str, ...] = ()
    object_stores: tuple[Path, ...] = ()
    mailbox: Path | None = None
    # An agent's own: the folder that keeps its sessions, and what its programs are made of, which it may only read.
    agent_home: Path | None = None
    programs: tuple[Path, ...] = ()


class Confinement(msgspec.Struct, frozen=True):
    """What the machine gave, found by trying to get out; this is stamped into the evidence."""

    requested: str
    used: str
    writes_confined: bool
    home_hidden: bool
    network: str
    processes: str
    why: str = ""


class Notes(msgspec.Struct, frozen=True):
    """Things that a person should know about how the sandbox was made."""

    lines: list[str] = msgspec.field(default_factory=list)

    def add(self, line: str) -> None:
        """Say one more thing."""
        self.lines.append(line)
