"""Imports a command when it is called: `--help` is quick, and a missing library only stops commands that use it."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import click

from loopwright.errors import ToolMissing

_EXTRA = ("matplotlib", "numpy", "scipy")


class LazyCommands(click.Group):
    """A group that knows its commands by name and imports a command when it is used.

    The table maps each name to `module:function` and a help text. Without a function it is `command`.
    """

    def __init__(self, *arguments: Any, table: Mapping[str, tuple[str, str]], package: str, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.table = table
        self._package = package

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in order."""
        del ctx
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command; for an unknown name, `resolve_command` makes a suggestion."""
        if cmd_name not in self.table:
            return None
        place, text = self.table[cmd_name]
        module, _, function = place.partition(":")
        try:
            whole = module if module.startswith("loopwright.") else f"{self._package}.{module}"
            command: click.Command = getattr(load(whole), function or "command")
        except ToolMissing:
            if not ctx.resilient_parsing:
                raise
            # The shell completes names: a command that cannot be imported still has a name.
            return click.Command(cmd_name, help=text)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands for --help, without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self.table.items()])


def load(module: str) -> ModuleType:
    """Import a module of Loopwright; a missing library of the extra `analysis` is an error that names the extra."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as problem:
        missing = (problem.name or "").partition(".")[0]
        if missing not in _EXTRA:
            raise
        raise ToolMissing(
            f"this needs {missing}, which is not installed", hint="pip install 'loopwright[analysis]'"
        ) from problem
