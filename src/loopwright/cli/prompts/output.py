"""What the subcommands share: the option for the language, and a text as programs read it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from loopwright.agents.prompts.book import PromptText
from loopwright.agents.prompts.names import LANGUAGES, SHAPES
from loopwright.kernel.files import shown


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
