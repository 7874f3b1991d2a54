"""The prompts in force: ours, and the texts of the workspace and the user that replace them.

The language is `agents.language`, else the language that documents must be in, else English. The language of the person
who types has no influence: the agents of two people who work on one workflow are told the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopwright.agents.prompts.book import (
    Book,
    PromptFolder,
    UnusablePrompt,
    effective_prompts,
    find_user_prompts,
    problems_in_words,
)
from loopwright.agents.prompts.names import PromptLanguage
from loopwright.errors import PromptInvalid
from loopwright.workspace.layout import Layout, user_prompts
from loopwright.workspace.settings_model import Values

REMEDY = "correct or remove it; `loopwright prompts show NAME --ours` prints ours"


def open_book(layout: Layout, values: Values) -> Book:
    """What agents of this workspace are told; `PromptInvalid` names every text that can't be used."""
    own, unusable = find_user_prompts(prompt_folders(layout))
    if unusable:
        raise invalid_prompts(unusable)
    language = chosen_language(values)
    return Book(language, effective_prompts(own, language))


def chosen_language(values: Values) -> PromptLanguage:
    """The language in which agents are asked."""
    if values.agents.language != "auto":
        return values.agents.language
    return "zh" if values.workspace.document_language == "zh" else "en"


def prompt_folders(layout: Layout) -> tuple[PromptFolder, ...]:
    """The folders of texts that replace ours; the workspace's comes first."""
    return PromptFolder(layout.prompts, "workspace"), PromptFolder(user_prompts(), "user")


def invalid_prompts(unusable: Sequence[UnusablePrompt]) -> PromptInvalid:
    """The error that names these texts."""
    return PromptInvalid(f"not usable as a prompt: {problems_in_words(unusable)}", hint=REMEDY)
