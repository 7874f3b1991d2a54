"""Commands that are imported when they are called: `--help` is quick, and what is not installed is missed late."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import click

from loopwright.errors import ToolMissing

_EXTRA = ("matplotlib", "numpy", "scipy")


class LazyCommands(click.Group):
    """Knows commands by name, and imports one when it is used.

    The table gives for each name its module and what --help says. `module:function` names a command beside others
    in one module; without a function it is `command`.
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
        """The command, loaded now; a name that does not exist gets a suggestion from `resolve_command`."""
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
            # The shell asks for names to complete: one that can't be loaded still has its name.
            return click.Command(cmd_name, help=text)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list for --help, without loading any of them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self.table.items()])


def load(module: str) -> ModuleType:
    """Import a module of ours; a library of the extra that is not there is an error with the way on."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as problem:
        missing = (problem.name or "").partition(".")[0]
        if missing not in _EXTRA:
            raise
        raise ToolMissing(
            f"this needs {missing}, which is not installed", hint="pip install 'loopwright[analysis]'"
        ) from problem
