"""`loopwright specs`: the subcommands by name."""

from __future__ import annotations

import click

from loopwright.cli.lazy import LazyCommands

COMMANDS = {
    "list": ("listing", "Every domain, and how much of it checks show."),
    "show": ("show", "One domain: its requirements, and what shows each."),
    "verify": ("verify", "Run the specs' checks on today's tree."),
}
_EPILOG = """\b
Examples:
  loopwright specs list
  loopwright specs show greeting
  loopwright specs verify
"""


@click.group(cls=LazyCommands, table=COMMANDS, package="loopwright.cli.specs", epilog=_EPILOG)
def command() -> None:
    """The living specs: what archived changes promise, and whether it still holds."""
