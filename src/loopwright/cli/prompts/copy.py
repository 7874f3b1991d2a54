"""`loopwright prompts copy`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.agents.prompts.names import PromptLanguage
from loopwright.cli.options import context_of, in_workspace, say, say_json
from loopwright.cli.prompts.output import with_language
from loopwright.kernel.files import shown
from loopwright.verbs.prompts import copy_prompt

_EPILOG = """\b
Examples:
  loopwright prompts copy builder_slice              into .loopwright/prompts, which goes with the project
  loopwright prompts copy planner --user             for all of your workspaces
  loopwright prompts copy part_decisions --language zh
"""


@click.command(epilog=_EPILOG)
@click.argument("name")
@with_language
@click.option("--user", is_flag=True, help="For all of your workspaces, not for this one.")
@in_workspace
def command(name: str, language: PromptLanguage | None, user: bool, project_root: Path, as_json: bool) -> int:
    """Write our text where it takes the place of ours, for you to edit. A file that is there stays."""
    path = copy_prompt(context_of(project_root), name, language, to="user" if user else "workspace")
    if as_json:
        say_json({"path": shown(path), "name": name})
        return 0
    say(f"edit {shown(path)}; it is what agents are told from the next command on")
    return 0
