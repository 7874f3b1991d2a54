"""The prompts for agents: the built-in ones, and the files of the workspace and the user that replace them.

The language is `agents.language`, else the language of documents, else English. It does not depend on the language of
the user: if two people work on one workflow, their agents get the same prompts.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopwright.agents.prompts.book import (
    Book,
    PromptFolder,
    UnusablePrompt,
    effective_prompts,
    find_user_prompts,
    problem_list,
)
from loopwright.agents.prompts.names import PromptLanguage
from loopwright.errors import PromptInvalid
from loopwright.workspace.layout import Layout, user_prompts
from loopwright.workspace.settings_model import Values

REMEDY = "fix or remove the file; `loopwright prompts show NAME --ours` prints the built-in prompt"


def open_book(layout: Layout, values: Values) -> Book:
    """The prompts for agents of this workspace; `PromptInvalid` lists every file that cannot be used."""
    book, unusable = read_book(layout, chosen_language(values))
    if unusable:
        raise invalid_prompts(unusable)
    return book


def read_book(layout: Layout, language: PromptLanguage) -> tuple[Book, tuple[UnusablePrompt, ...]]:
    """The prompts in one language, with built-in prompts in place of unusable files; and those files."""
    own, unusable = find_user_prompts(prompt_folders(layout))
    return Book(language, effective_prompts(own, language)), unusable


def chosen_language(values: Values) -> PromptLanguage:
    """The language of prompts."""
    if values.agents.language != "auto":
        return values.agents.language
    return "zh" if values.workspace.document_language == "zh" else "en"


def prompt_folders(layout: Layout) -> tuple[PromptFolder, ...]:
    """The folders of prompts that replace built-in ones; the folder of the workspace comes first."""
    return PromptFolder(layout.prompts, "workspace"), PromptFolder(user_prompts(), "user")


def invalid_prompts(unusable: Sequence[UnusablePrompt]) -> PromptInvalid:
    """The error that lists these files."""
    return PromptInvalid(f"invalid prompts: {problem_list(unusable)}", hint=REMEDY)
