"""`loopwright prompts`: the texts that agents get, and copies of them to edit."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from loopwright.agents.port import Role
from loopwright.agents.prompts.book import OURS, PromptText
from loopwright.agents.prompts.names import LANGUAGES, SHAPES, PromptLanguage
from loopwright.cli.language import words
from loopwright.cli.lazy import LazyCommands
from loopwright.cli.options import context_of, in_workspace, put, say, say_json
from loopwright.errors import WrongUsage
from loopwright.kernel.files import shown
from loopwright.verbs.prompts import answer_schema, copy_prompt, list_prompts, show_prompt

COMMANDS = {
    "list": ("prompts:listing_command", "Every text, and where it came from."),
    "show": ("prompts:show_command", "One text as it is in force, or the schema of its answer."),
    "copy": ("prompts:copy_command", "Write a copy that takes the place of ours, to edit."),
}
_EXAMPLES = """\b
Examples:
  loopwright prompts list                    every text, and where it came from
  loopwright prompts show builder_slice      the text that is in force
  loopwright prompts show reviewer_change --schema
  loopwright prompts copy builder_slice      a copy in .loopwright/prompts, to edit
  loopwright prompts copy planner --user --language zh
"""


@click.group(cls=LazyCommands, table=COMMANDS, package="loopwright.cli", epilog=_EXAMPLES)
def command() -> None:
    """What agents are told: short texts, in English and Chinese, that you can put your own in the place of.

    Yours are .loopwright/prompts/NAME.md for every language, or en/NAME.md and zh/NAME.md for one; then the same in
    ~/.config/loopwright/prompts; then ours.
    """


def with_language(command: Callable[..., Any]) -> Callable[..., Any]:
    """--language."""
    return click.option(
        "--language", type=click.Choice(LANGUAGES), help="Which language; default: the one that agents are asked in."
    )(command)


def row(text: PromptText) -> dict[str, object]:
    """A text without its words."""
    role = SHAPES[text.name].role
    return {
        "name": text.name,
        "role": role.value if role is not None else None,
        "language": text.language,
        "origin": text.origin,
        "path": shown(text.path) if text.path else None,
        "sha256": text.sha256,
    }


_LISTING_EXAMPLES = """\b
Examples:
  loopwright prompts list
  loopwright prompts list --language zh --json
"""
_ROLE = max(len(role) for role in Role)


@click.command(epilog=_LISTING_EXAMPLES)
@with_language
@in_workspace
def listing_command(language: PromptLanguage | None, project_root: Path, as_json: bool) -> int:
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


_SHOW_EXAMPLES = """\b
Examples:
  loopwright prompts show builder_slice
  loopwright prompts show builder_slice --ours | diff - .loopwright/prompts/en/builder_slice.md
  loopwright prompts show reviewer_change --schema
"""


@click.command(epilog=_SHOW_EXAMPLES)
@click.argument("name")
@with_language
@click.option("--ours", is_flag=True, help="The text that comes with loopwright, whatever is in force.")
@click.option("--schema", is_flag=True, help="The JSON Schema of the answer instead.")
@in_workspace
def show_command(
    name: str, language: PromptLanguage | None, ours: bool, schema: bool, project_root: Path, as_json: bool
) -> int:
    """One text as it is in force, to standard output and nothing else."""
    text = show_prompt(context_of(project_root), name, language, ours=ours)
    if as_json:
        shape = SHAPES[name]
        more = {"text": text.text, "needs": shape.needs, "may": shape.may, "answer_schema": answer_schema(name)}
        say_json({**row(text), **more})
    elif schema:
        if SHAPES[name].role is None:
            raise WrongUsage(f"{name} is a part of prompts, and asks nothing by itself", hint="leave out --schema")
        put(json.dumps(answer_schema(name), indent=2, ensure_ascii=False))
    else:
        put(text.text.rstrip("\n"))
    return 0


_COPY_EXAMPLES = """\b
Examples:
  loopwright prompts copy builder_slice              into .loopwright/prompts, which goes with the project
  loopwright prompts copy planner --user             for all of your workspaces
  loopwright prompts copy part_decisions --language zh
"""


@click.command(epilog=_COPY_EXAMPLES)
@click.argument("name")
@with_language
@click.option("--user", is_flag=True, help="For all of your workspaces, not for this one.")
@in_workspace
def copy_command(name: str, language: PromptLanguage | None, user: bool, project_root: Path, as_json: bool) -> int:
    """Write our text where it takes the place of ours, for you to edit. A file that is there stays."""
    path = copy_prompt(context_of(project_root), name, language, to="user" if user else "workspace")
    if as_json:
        say_json({"path": shown(path), "name": name})
        return 0
    say(f"edit {shown(path)}; it is what agents are told from the next command on")
    return 0
