"""Options that many commands share, and the context of a command."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from loopwright.cli.language import set_language
from loopwright.cli.plain import (
    F,
    GroupWithExamples,
    command_with_examples,
    echo,
    echo_json,
    echo_json_line,
    in_workspace,
    put,
)
from loopwright.stages.context import Context
from loopwright.wiring.build import build_context

__all__ = [
    "GroupWithExamples", "command_with_examples", "context_of", "echo", "echo_json", "echo_json_line", "in_context",
    "in_workspace", "put", "setting_option", "with_sandbox_root",
]  # fmt: skip


_SETTING = "setting_"


def setting_option(flag: str, setting: str, **attributes: Any) -> Callable[[F], F]:
    """An option that overrides a setting; `in_context` takes its value."""
    return click.option(flag, f"{_SETTING}{setting.replace('.', '_')}", **attributes)


with_sandbox_root = setting_option("--sandbox-root", "sandbox.root", help="Folder for sandboxes, outside the project.")


def context_of(project_root: Path, flags: dict[tuple[str, str], Any] | None = None) -> Context:
    """The context for a command: workspace, settings and adapters."""
    context = build_context(project_root, flags or {})
    set_language(context.settings.values.workspace.language)
    return context


def in_context(command: Callable[..., Any]) -> Callable[..., Any]:
    """--project-root and --json; the command gets the context of the workspace as its first argument."""

    @wraps(command)
    def call(project_root: Path, **options: Any) -> Any:
        names = [name.split("_", 2) for name in options if name.startswith(_SETTING)]
        flags = {(section, key): options.pop(f"{_SETTING}{section}_{key}") for _, section, key in names}
        return command(context_of(project_root, flags), **options)

    return in_workspace(call)
