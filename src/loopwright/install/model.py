"""What can be installed, in which of an agent's files, and what an editor of such a file must do."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Protocol

import msgspec

from loopwright.agents.harness import Harness


class Scope(StrEnum):
    """Whether parts are installed for one project or for all projects of the user."""

    PROJECT = "project"
    USER = "user"


class Part(StrEnum):
    """What can be installed."""

    HOOKS = "hooks"
    SKILLS = "skills"
    INSTRUCTIONS = "instructions"
    MCP = "mcp"


class InstallState(StrEnum):
    """How our content in a file compares with what this version writes."""

    ABSENT = "absent"
    CURRENT = "current"
    # Written by another version, or for another interpreter.
    OUTDATED = "outdated"
    # Written by us, then changed by the user.
    CHANGED = "changed"
    # Not ours, but in the place of our content.
    FOREIGN = "foreign"

    @property
    def is_the_users(self) -> bool:
        """Whether the content belongs to the user, so that we leave it unchanged."""
        return self in (InstallState.CHANGED, InstallState.FOREIGN)


class NotEditable(ValueError):
    """A text without the documented shape, or one that would not survive a rewrite."""


class Editor(Protocol):
    """Our content in the text of one file. Pure: texts in, texts out; None is a missing file.

    A text that can't be edited safely raises `NotEditable`.
    """

    # Whether the whole file is ours.
    owns_file: bool

    def state(self, text: str | None) -> InstallState:
        """The state of our content."""
        ...

    def add(self, text: str | None) -> str | None:
        """The text with our current content."""
        ...

    def remove(self, text: str | None) -> str | None:
        """The text without our content for this agent; None to remove the file."""
        ...

    def strip(self, text: str) -> str:
        """The text without our content for any agent. Content that a user changed stays."""
        ...

    def is_blank(self, text: str) -> bool:
        """Whether a stripped text is empty."""
        ...

    def shown(self, text: str | None) -> str:
        """Our content alone: the rest of the text may contain secrets and is never shown."""
        ...


class InstallTarget(msgspec.Struct, frozen=True):
    """One agent's files in one scope."""

    harness: Harness
    scope: Scope
    project: Path
    environment: Mapping[str, str]
    home: Path

    @property
    def agent(self) -> str:
        """The agent's name."""
        return self.harness.agent

    @property
    def folder(self) -> Path:
        """The agent's own folder."""
        if self.scope is Scope.PROJECT:
            return self.project / self.harness.folder
        if chosen := self.environment.get(self.harness.home_variable):
            return Path(chosen) / self.harness.below_variable
        return self.home / self.harness.home_folder

    @property
    def top(self) -> Path:
        """The folder below which an install creates folders."""
        return self.project if self.scope is Scope.PROJECT else self.folder

    @property
    def locked(self) -> Path:
        """The folder to lock while files change: two agents may share a file."""
        return self.project if self.scope is Scope.PROJECT else self.home

    @property
    def skills(self) -> Path:
        """The folder of skills."""
        return self.folder / "skills"

    @property
    def instructions(self) -> Path:
        """The file that every session reads."""
        return self.top / self.harness.instructions

    @property
    def mcp(self) -> Path:
        """The file that lists MCP servers."""
        if self.scope is Scope.PROJECT:
            return self.project / self.harness.mcp_file
        in_home = self.harness.user_mcp_in_home and not self.environment.get(self.harness.home_variable)
        return (self.home if in_home else self.folder) / self.harness.user_mcp_file
