"""`loopwright prompts`: what agents are told, where each text came from, and a copy of one to edit.

Which language: `agents.language`, else the one that documents must be in, else English. Never the language of whoever
types: two people who work on one workflow have its agents told the same.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from loopwright.agents.prompts.book import (
    Book,
    PromptFolder,
    PromptText,
    UnusablePrompt,
    effective_prompts,
    find_user_prompts,
    problems_in_words,
)
from loopwright.agents.prompts.names import SHAPES, PromptLanguage, Shape
from loopwright.errors import PromptInvalid, WrongUsage
from loopwright.kernel.files import create_exclusively, shown
from loopwright.stages.context import Context
from loopwright.stages.person import require_person
from loopwright.workspace.layout import Layout, record_choice, user_prompts
from loopwright.workspace.settings_model import Values

REMEDY = "correct or remove it; `loopwright prompts show NAME --ours` prints ours"


class PromptList(msgspec.Struct, frozen=True):
    """Every text in force in one language, and the files that can't be used."""

    language: PromptLanguage
    texts: tuple[PromptText, ...]
    unusable: tuple[UnusablePrompt, ...]


def open_book(layout: Layout, values: Values) -> Book:
    """What agents of this workspace are told; `PromptInvalid` names all that is wrong with somebody's own texts."""
    own, unusable = find_user_prompts(_places(layout))
    if unusable:
        raise _invalid(unusable)
    language = chosen_language(values)
    return Book(language, effective_prompts(own, language))


def chosen_language(values: Values) -> PromptLanguage:
    """In which language agents are asked."""
    if values.agents.language != "auto":
        return values.agents.language
    return "zh" if values.workspace.document_language == "zh" else "en"


def list_prompts(context: Context, language: PromptLanguage | None) -> PromptList:
    """All texts as they are in force; what is unusable is listed, and ours stands where it is."""
    own, unusable = find_user_prompts(_places(context.layout))
    spoken = language or chosen_language(context.settings.values)
    book = Book(spoken, effective_prompts(own, spoken))
    return PromptList(spoken, tuple(book.text(name) for name in SHAPES), unusable)


def show_prompt(context: Context, name: str, language: PromptLanguage | None, *, ours: bool) -> PromptText:
    """One text as it is in force, or ours."""
    _shape_of(name)
    spoken = language or chosen_language(context.settings.values)
    if ours:
        return Book(spoken).text(name)
    own, unusable = find_user_prompts(_places(context.layout))
    if bad := [one for one in unusable if one.path.stem == name]:
        raise _invalid(bad)
    return Book(spoken, effective_prompts(own, spoken)).text(name)


def copy_prompt(
    context: Context, name: str, language: PromptLanguage | None, *, to: Literal["workspace", "user"]
) -> Path:
    """Write our text where it takes the place of ours, for somebody to edit; what is there stays."""
    require_person(context.environment, "prompts copy")
    text = show_prompt(context, name, language, ours=True)
    folder = context.layout.prompts if to == "workspace" else user_prompts()
    path = folder / text.language / f"{name}.md"
    if to == "workspace":
        record_choice(context.layout)
        if links := [one for one in (folder, path.parent) if one.is_symlink()]:
            raise PromptInvalid(f"{shown(links[0])} is a link, and would not be read", hint="remove it")
    if not create_exclusively(path, text.text.strip("\n").encode() + b"\n"):
        raise WrongUsage(f"{shown(path)} is there already", hint="edit it, or move it away first")
    return path


def own_prompts(context: Context) -> tuple[list[str], tuple[UnusablePrompt, ...]]:
    """For `doctor`: whose texts stand in the place of ours, and what can't be used."""
    own, unusable = find_user_prompts(_places(context.layout))
    return [f"{one.name} ({one.origin}{', ' + one.language if one.language else ''})" for one in own], unusable


def _invalid(unusable: Sequence[UnusablePrompt]) -> PromptInvalid:
    return PromptInvalid(f"not usable as a prompt: {problems_in_words(unusable)}", hint=REMEDY)


def _shape_of(name: str) -> Shape:
    if name in SHAPES:
        return SHAPES[name]
    near = difflib.get_close_matches(name, SHAPES, 1)
    meant = f"; did you mean {near[0]}?" if near else ""
    raise WrongUsage(f"there is no prompt '{shown(name)}'{meant}", hint="`loopwright prompts list` shows all")


def _places(layout: Layout) -> tuple[PromptFolder, ...]:
    return PromptFolder(layout.prompts, "workspace"), PromptFolder(user_prompts(), "user")
