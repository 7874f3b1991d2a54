"""The options and the output functions of every command. Imports little, so that `status` and `next` stay quick."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from loopwright.cli.language import set_language, translate
from loopwright.kernel.cells import neutralised
from loopwright.wiring.workspace import Workspace, find_workspace

F = TypeVar("F", bound=Callable[..., Any])


def command_with_examples(examples: str) -> Callable[[Callable[..., Any]], click.Command]:
    """A command whose help page ends with these examples."""
    return click.command(epilog=f"\b\nExamples:{examples}")


class GroupWithExamples(click.Group):
    """A group whose subcommands show their own lines of the group's examples."""

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a subcommand with its examples."""
        super().add_command(cmd, name)
        called = re.compile(rf"loopwright [a-z ]*\b{cmd.name}\b")
        lines = [line for line in (self.epilog or "").splitlines() if called.search(line)]
        cmd.epilog = "\n".join(("\b", "Examples:", *lines))


def in_workspace(command: F) -> F:
    """--project-root and --json."""
    command = click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")(command)
    return click.option(
        "--project-root",
        type=click.Path(path_type=Path),
        default=Path(),
        show_default=".",
        help="Project folder. Parent folders are searched for a workspace, up to the top of the git repository.",
    )(command)


def place_of(project_root: Path) -> Workspace:
    """The workspace and its settings, for commands that need no adapters."""
    place = find_workspace(project_root, {}, os.environ)
    set_language(place.settings.values.workspace.language)
    return place


def put(text: str = "", *, nl: bool = True, err: bool = False, **style: Any) -> None:
    """Print a line as it is; control characters are made visible."""
    shown = neutralised(text)
    click.echo(click.style(shown, **style) if style else shown, nl=nl, err=err)


def echo(text: str = "", *, nl: bool = True, err: bool = False, **style: Any) -> None:
    """Print a message in the language of the user."""
    put(translate(text), nl=nl, err=err, **style)


def echo_json_line(record: object) -> None:
    """Print a record as one line of JSON."""
    _write(json.dumps(record, ensure_ascii=False))


def echo_json(record: object) -> None:
    """Print a record as indented JSON."""
    _write(json.dumps(record, ensure_ascii=False, indent=2))


def _write(text: str) -> None:
    # JSON is UTF-8 in every locale; bytes of a path that are not UTF-8 are escaped.
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")
