"""`loopwright prompts`, with `list`, `show` and `copy`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from loopwright.agents.port import Role
from loopwright.agents.prompts.book import OURS, Text
from loopwright.agents.prompts.names import LANGUAGES, SHAPES, PromptLanguage
from loopwright.cli.language import words
from loopwright.cli.options import context_of, in_workspace, put, say, say_json
from loopwright.kernel.files import shown
from loopwright.verbs.answers import answer_schema
from loopwright.verbs.prompts import copy_prompt, list_prompts, show_prompt

_EPILOG = """\b
Examples:
  loopwright prompts list                    every text, and where it came from
  loopwright prompts show builder_slice      the text that is in force
  loopwright prompts show reviewer_change --schema
  loopwright prompts copy builder_slice      a copy in .loopwright/prompts, to edit
  loopwright prompts copy planner --user --language zh
"""
_ROLE = max(len(role) for role in Role)


def _with_language(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--language", type=click.Choice(LANGUAGES), help="Which language; default: the one that agents are asked in."
    )(command)


@click.group(epilog=_EPILOG)
def command() -> None:
    """What agents are told: short texts, in English and Chinese, that you can put your own in the place of.

    Yours are .loopwright/prompts/NAME.md for every language, or en/NAME.md and zh/NAME.md for one; then the same in
    ~/.config/loopwright/prompts; then ours.
    """


@command.command("list")
@_with_language
@in_workspace
def list_command(language: PromptLanguage | None, project_root: Path, as_json: bool) -> int:
    """Every text with its role, its language and where it came from; exit 1 when one of yours can't be used."""
    found = list_prompts(context_of(project_root), language)
    if as_json:
        say_json(
            {
                "language": found.language,
                "prompts": [_row(text) for text in found.texts],
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


@command.command("show")
@click.argument("name")
@_with_language
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
        say_json({**_row(text), **more})
    elif schema:
        put(json.dumps(answer_schema(name), indent=2, ensure_ascii=False))
    else:
        put(text.text.rstrip("\n"))
    return 0


@command.command("copy")
@click.argument("name")
@_with_language
@click.option("--user", is_flag=True, help="For all of your workspaces, not for this one.")
@in_workspace
def copy_command(name: str, language: PromptLanguage | None, user: bool, project_root: Path, as_json: bool) -> int:
    """Write our text where it takes the place of ours, for you to edit. A file that is there stays."""
    path = copy_prompt(context_of(project_root), name, language, to="user" if user else "workspace")
    if as_json:
        say_json({"path": shown(path), "name": name})
        return 0
    say(f"edit {shown(path)}; it is what agents are told from the next turn on")
    return 0


def _row(text: Text) -> dict[str, object]:
    role = SHAPES[text.name].role
    return {
        "name": text.name,
        "role": role.value if role is not None else None,
        "language": text.language,
        "origin": text.origin,
        "path": shown(text.path) if text.path else None,
        "sha256": text.sha256,
    }
