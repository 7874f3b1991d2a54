"""`loopwright prompts list`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.agents.port import Role
from loopwright.agents.prompts.book import OURS
from loopwright.agents.prompts.names import SHAPES, PromptLanguage
from loopwright.cli.language import words
from loopwright.cli.options import context_of, in_workspace, put, say, say_json
from loopwright.cli.prompts.output import row, with_language
from loopwright.kernel.files import shown
from loopwright.verbs.prompts import list_prompts

_EPILOG = """\b
Examples:
  loopwright prompts list
  loopwright prompts list --language zh --json
"""
_ROLE = max(len(role) for role in Role)


@click.command(epilog=_EPILOG)
@with_language
@in_workspace
def command(language: PromptLanguage | None, project_root: Path, as_json: bool) -> int:
    """Every text with its role, its language and where it came from; exit 1 when one of yours can't be used."""
    found = list_prompts(context_of(project_root), language)
    if as_json:
        say_json(
            {
                "language": found.language,
                "prompts": [row(text) for text in found.texts],
                "unusable": [{"path": shown(one.path), "why": one.why} for one in found.unusable],
            }
        )
        return 1 if found.unusable else 0
    width = max(len(text.name) for text in found.texts)
    for text in found.texts:
        role = SHAPES[text.name].role
        whose = (role.value if role is not None else words("part")).ljust(_ROLE)
        put(f"{text.name.ljust(width)}  {whose}  {text.language}  {shown(text.path) or OURS}")
    for one in found.unusable:
        say(f"{shown(one.path)}: {one.why}", fg="red")
    return 1 if found.unusable else 0
