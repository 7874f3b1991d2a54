"""`loopwright prompts`: the prompts that agents get, and copies to edit."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import click

from loopwright.agents.port import Role
from loopwright.agents.prompts.book import OURS, PromptText
from loopwright.agents.prompts.names import LANGUAGES, SHAPES, PromptLanguage
from loopwright.cli.language import message
from loopwright.cli.lazy import LazyCommands
from loopwright.cli.options import command_with_examples, echo, echo_json, in_context, put
from loopwright.errors import WrongUsage
from loopwright.kernel.files import shown
from loopwright.stages.context import Context
from loopwright.verbs.prompts import answer_schema, copy_prompt, list_prompts, show_prompt

COMMANDS = {
    "list": ("prompts:listing_command", "List all prompts and their origin."),
    "show": ("prompts:show_command", "Show a prompt, or the schema of its answer."),
    "copy": ("prompts:copy_command", "Copy a built-in prompt into your workspace, to edit it."),
}
_EXAMPLES = """\b
Examples:
  loopwright prompts list                    all prompts and their origin
  loopwright prompts show builder_slice      the prompt that agents get
  loopwright prompts show reviewer_change --schema
  loopwright prompts copy builder_slice      writes a copy into .loopwright/prompts, to edit
  loopwright prompts copy planner --user --language zh
"""


@click.group(cls=LazyCommands, table=COMMANDS, package="loopwright.cli", epilog=_EXAMPLES)
def command() -> None:
    """List, show and customise the prompts for agents. Each prompt is built in, in English and in Chinese.

    Loopwright uses the first file that exists: LANGUAGE/NAME.md or NAME.md in .loopwright/prompts, then the same in
    ~/.config/loopwright/prompts, then the built-in prompt.
    """


def with_language(command: Callable[..., Any]) -> Callable[..., Any]:
    """--language."""
    return click.option(
        "--language", type=click.Choice(LANGUAGES), help="Language; default: the language of prompts for agents."
    )(command)


def row(text: PromptText) -> dict[str, object]:
    """The metadata of a prompt."""
    role = SHAPES[text.name].role
    return {
        "name": text.name,
        "role": role.value if role is not None else None,
        "language": text.language,
        "origin": text.origin,
        "path": shown(text.path) if text.path else None,
        "sha256": text.sha256,
    }


_ROLE = max(len(role) for role in Role)


@command_with_examples("""
  loopwright prompts list
  loopwright prompts list --language zh --json
""")
@with_language
@in_context
def listing_command(context: Context, language: PromptLanguage | None, as_json: bool) -> int:
    """List all prompts with role, language and origin; exit 1 if one of your files cannot be used."""
    listed = list_prompts(context, language)
    if as_json:
        echo_json(
            {
                "language": listed.language,
                "prompts": [row(text) for text in listed.texts],
                "unusable": [{"path": shown(unusable.path), "why": unusable.why} for unusable in listed.unusable],
            }
        )
        return 1 if listed.unusable else 0
    width = max(len(text.name) for text in listed.texts)
    for text in listed.texts:
        role = SHAPES[text.name].role
        role_name = (role.value if role is not None else message("part")).ljust(_ROLE)
        put(f"{text.name.ljust(width)}  {role_name}  {text.language}  {shown(text.path) or OURS}")
    for unusable in listed.unusable:
        echo(f"{shown(unusable.path)}: {unusable.why}", fg="red")
    return 1 if listed.unusable else 0


@command_with_examples("""
  loopwright prompts show builder_slice
  loopwright prompts show builder_slice --ours | diff - .loopwright/prompts/en/builder_slice.md
  loopwright prompts show reviewer_change --schema
""")
@click.argument("name")
@with_language
@click.option("--ours", is_flag=True, help="Show the built-in prompt, even if you replaced it.")
@click.option("--schema", is_flag=True, help="Show the JSON Schema of the answer instead.")
@in_context
def show_command(
    context: Context, name: str, language: PromptLanguage | None, ours: bool, schema: bool, as_json: bool
) -> None:
    """Print the prompt that agents get, and nothing else."""
    text = show_prompt(context, name, language, ours=ours)
    if as_json:
        shape = SHAPES[name]
        more = {"text": text.text, "needs": shape.needs, "may": shape.may, "answer_schema": answer_schema(name)}
        echo_json({**row(text), **more})
    elif schema:
        if SHAPES[name].role is None:
            raise WrongUsage(f"{name} is a part of other prompts and has no answer", hint="leave out --schema")
        put(json.dumps(answer_schema(name), indent=2, ensure_ascii=False))
    else:
        put(text.text.rstrip("\n"))


@command_with_examples("""
  loopwright prompts copy builder_slice              into .loopwright/prompts, for this workspace
  loopwright prompts copy planner --user             for all your workspaces
  loopwright prompts copy part_decisions --language zh
""")
@click.argument("name")
@with_language
@click.option("--user", is_flag=True, help="Copy it for all your workspaces, not only for this one.")
@in_context
def copy_command(context: Context, name: str, language: PromptLanguage | None, user: bool, as_json: bool) -> None:
    """Copy a built-in prompt to a file that replaces it, for you to edit. An existing file stays unchanged."""
    path = copy_prompt(context, name, language, to="user" if user else "workspace")
    if as_json:
        echo_json({"path": shown(path), "name": name})
        return
    echo(f"edit {shown(path)}; agents get this prompt from the next command on")
