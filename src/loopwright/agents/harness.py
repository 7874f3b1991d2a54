"""Where each agent's harness keeps its hooks, and what it calls the moments that we want to hear of. Data."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

import msgspec

REFLECT = "reflect"
SESSION_START = "session-start"
GATE = "gate"


class Scope(StrEnum):
    """For whom a hook is registered."""

    PROJECT = "project"
    USER = "user"


class Harness(msgspec.Struct, frozen=True):
    """One agent's hook file. All three write it in the same shape; only names differ."""

    agent: str
    folder: str
    file: str
    home_variable: str
    stop_event: str
    start_event: str
    caveat: str = ""
    # A setting that turns all hooks off, and the project's file beside the usual one that may hold it, too.
    off_switch: str = ""
    local_file: str = ""
    # Where its folder is below the one that the variable names.
    below_variable: str = ""

    def path(self, scope: Scope, project: Path, environment: Mapping[str, str], home: Path) -> Path:
        """The settings file that holds this agent's hooks."""
        if scope is Scope.PROJECT:
            return project / self.folder / self.file
        chosen = environment.get(self.home_variable) if self.home_variable else None
        return (Path(chosen) / self.below_variable if chosen else home / self.folder) / self.file

    def layers(self, project: Path, environment: Mapping[str, str], home: Path) -> tuple[Path, ...]:
        """Every file that this agent takes settings from; the one with the last word first."""
        local = (project / self.folder / self.local_file,) if self.local_file else ()
        return (*local, *(self.path(scope, project, environment, home) for scope in (Scope.PROJECT, Scope.USER)))

    def events(self) -> tuple[tuple[str, str], ...]:
        """Event and our verb for it."""
        return ((self.stop_event, REFLECT), (self.stop_event, GATE), (self.start_event, SESSION_START))


HARNESSES = {
    harness.agent: harness
    for harness in (
        Harness(
            "claude", ".claude", "settings.json", "CLAUDE_CONFIG_DIR", "Stop", "SessionStart",
            off_switch="disableAllHooks", local_file="settings.local.json",
        ),
        Harness(
            "codex", ".codex", "hooks.json", "CODEX_HOME", "Stop", "SessionStart",
            "codex runs hooks only when you trust them: accept them once in its terminal, or start `codex exec` with "
            "--dangerously-bypass-hook-trust",
        ),
        Harness(
            "gemini", ".gemini", "settings.json", "GEMINI_CLI_HOME", "AfterAgent", "SessionStart",
            below_variable=".gemini",
        ),
    )
}  # fmt: skip
