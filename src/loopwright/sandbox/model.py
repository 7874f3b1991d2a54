"""The types of a sandbox."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import msgspec

from loopwright.evidence.model import BaseRecord
from loopwright.kernel.git import Repositories


class Mode(StrEnum):
    """How a sandbox was created."""

    WORKTREE = "worktree"
    COPY = "copy"


class SandboxFolders(msgspec.Struct, frozen=True):
    """The folders of one sandbox. Steps work in `repo`."""

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
        """The home folder of isolated steps."""
        return self.folder / "home"

    @property
    def judge(self) -> Path:
        """Loopwright's own git folder, out of the steps' reach. It records what changed."""
        return self.folder / "judge"

    @property
    def objects(self) -> Path:
        """Links through which the steps' own git finds the user's objects."""
        return self.folder / "objects"


class BaseTree(msgspec.Struct, frozen=True):
    """The base of the sandbox. `tree` identifies the exact content; `commit` is HEAD if there is a commit."""

    commit: str | None
    tree: str
    is_commit: bool


class FreshRequest(msgspec.Struct, frozen=True):
    """A request for a sandbox of the project as it is now."""

    project: Path
    sandbox_root: Path
    mode: str
    exclude: tuple[str, ...] = ()
    provide: tuple[str, ...] = ()
    state_folders: tuple[str, ...] = ()
    # What is known of the project's repository already.
    repositories: Repositories = msgspec.field(default_factory=Repositories)

    def recorded(self, commit: str | None, tree: str, patch: Path) -> RecordedRequest:
        """The same for a tree that was kept as a commit and a patch. Without a patch the tree is the commit's own."""
        mode = Mode.COPY if self.mode == Mode.COPY else Mode.WORKTREE
        base = BaseRecord(commit=commit, tree=tree, is_commit=not patch.is_file())
        return RecordedRequest(now=self, mode=mode, base=base, base_patch=patch)


class RecordedRequest(msgspec.Struct, frozen=True):
    """A request for a sandbox of the project as it was at the start of an earlier run."""

    now: FreshRequest
    mode: Mode
    base: BaseRecord
    base_patch: Path
    # Whether git lists the files of the base, as after a commit: tests ask for them. Else the base is uncommitted work.
    is_listed: bool = True


class SandboxView(msgspec.Struct, frozen=True):
    """What an isolated process may see in addition to the machine's programs: the input of an isolation adapter."""

    place: SandboxFolders
    project: Path
    sandbox_root: Path
    provided: tuple[str, ...] = ()
    object_stores: tuple[Path, ...] = ()
    mailbox: Path | None = None
    # An agent's session folder, and the files of its programs, which are read-only.
    agent_home: Path | None = None
    programs: tuple[Path, ...] = ()


# The network of a sandbox's commands, as the evidence tells it.
OPEN, CLOSED = "open", "closed unless a step says so"


class Confinement(msgspec.Struct, frozen=True):
    """The isolation as measured by escape attempts; stored in the evidence."""

    requested: str
    used: str
    writes_confined: bool
    home_hidden: bool
    network: str
    processes: str
    why: str = ""
    # What of the person's session a command can reach. It could then act as the person.
    reachable: tuple[str, ...] = ()
    # Whether the person accepted that, and watches.
    is_accepted: bool = False


class Notes(msgspec.Struct, frozen=True):
    """What a user should know about how the sandbox was created."""

    lines: list[str] = msgspec.field(default_factory=list)

    def add(self, line: str) -> None:
        """Add a note."""
        self.lines.append(line)
