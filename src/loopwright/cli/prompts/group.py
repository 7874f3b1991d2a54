"""`loopwright prompts`: the subcommands by name."""

from __future__ import annotations

import click

from loopwright.cli.lazy import LazyCommands

COMMANDS = {
    "list": ("listing", "Every text, and where it came from."),
    "show": ("show", "One text as it is in force, or the schema of its answer."),
    "copy": ("copy", "Write a copy that takes the place of ours, to edit."),
}
_EPILOG = """\b
Examples:
  loopwright prompts list                    every text, and where it came from
  loopwright prompts show builder_slice      the text that is in force
  loopwright prompts show reviewer_change --schema
  loopwright prompts copy builder_slice      a copy in .loopwright/prompts, to edit
  loopwright prompts copy planner --user --language zh
"""


@click.group(cls=LazyCommands, table=COMMANDS, package="loopwright.cli.prompts", epilog=_EPILOG)
def command() -> None:
    """What agents are told: short texts, in English and Chinese, that you can put your own in the place of.

    Yours are .loopwright/prompts/NAME.md for every language, or en/NAME.md and zh/NAME.md for one; then the same in
    ~/.config/loopwright/prompts; then ours.
    """
