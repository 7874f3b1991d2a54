"""Options that many commands share, and the context of a command."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from loopwright.cli.language import speak
from loopwright.cli.plain import F, command_with_examples, in_workspace, put, say, say_json, say_json_line
from loopwright.stages.context import Context
from loopwright.wiring.build import build_context

__all__ = [
    "command_with_examples", "context_of", "in_context", "in_workspace", "put", "say", "say_json", "say_json_line",
    "with_sandbox_root",
]  # fmt: skip


def with_sandbox_root(command: F) -> F:
    """--sandbox-root, for commands that look at sandboxes."""
    return click.option("--sandbox-root", type=str, help="Folder for sandboxes, outside the project.")(command)


def context_of(project_root: Path, flags: dict[tuple[str, str], Any] | None = None) -> Context:
    """The context for a command: workspace, settings and adapters."""
    context = build_context(project_root, flags or {})
    speak(context.settings.values.workspace.language)
    return context


def in_context(command: Callable[..., Any]) -> Callable[..., Any]:
    """--project-root and --json; the command gets the context of the workspace as its first argument."""

    @wraps(command)
    def call(project_root: Path, **options: Any) -> Any:
        return command(context_of(project_root), **options)

    return in_workspace(call)
