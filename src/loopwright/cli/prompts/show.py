"""`loopwright prompts show`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from loopwright.agents.prompts.names import SHAPES, PromptLanguage
from loopwright.cli.options import context_of, in_workspace, put, say_json
from loopwright.cli.prompts.output import row, with_language
from loopwright.errors import WrongUsage
from loopwright.verbs.answers import answer_schema
from loopwright.verbs.prompts import show_prompt

_EPILOG = """\b
Examples:
  loopwright prompts show builder_slice
  loopwright prompts show builder_slice --ours | diff - .loopwright/prompts/en/builder_slice.md
  loopwright prompts show reviewer_change --schema
"""


@click.command(epilog=_EPILOG)
@click.argument("name")
@with_language
@click.option("--ours", is_flag=True, help="The text that comes with loopwright, whatever is in force.")
@click.option("--schema", is_flag=True, help="The JSON Schema of the answer instead.")
@in_workspace
def command(
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
