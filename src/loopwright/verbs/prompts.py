"""`loopwright prompts`: the prompts for agents, their origin, and copies to edit."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from loopwright.agents.prompts.book import Book, PromptText, UnusablePrompt, find_user_prompts
from loopwright.agents.prompts.names import SHAPES, PromptLanguage
from loopwright.agents.structured import schema_of
from loopwright.errors import PromptInvalid, WrongUsage
from loopwright.kernel.files import create_exclusively, shown
from loopwright.loop.actions.debug import ProposedHypotheses
from loopwright.loop.actions.planning import ProposedTasks
from loopwright.plan.document import PlanForm
from loopwright.reflection.points import SelfRating
from loopwright.stages.clarifying.rounds import Clarification
from loopwright.stages.context import Context
from loopwright.stages.own_prompts import chosen_language, invalid_prompts, prompt_folders, read_book
from loopwright.stages.person import require_person
from loopwright.stages.planning.rounds import PlanOpinion
from loopwright.workflow.drafting import PlanReply
from loopwright.workflow.lanes import Opinion
from loopwright.workflow.reviewing import CodeReview, SmellReview
from loopwright.workspace.layout import record_choice, user_prompts


class PromptList(msgspec.Struct, frozen=True):
    """Every prompt in one language, and the files that cannot be used."""

    language: PromptLanguage
    texts: tuple[PromptText, ...]
    unusable: tuple[UnusablePrompt, ...]


def list_prompts(context: Context, language: PromptLanguage | None) -> PromptList:
    """All prompts that agents get; in place of an unusable file, the built-in prompt is listed."""
    language = language or chosen_language(context.settings.values)
    book, unusable = read_book(context.layout, language)
    return PromptList(language, tuple(book.text(name) for name in SHAPES), unusable)


def show_prompt(context: Context, name: str, language: PromptLanguage | None, *, ours: bool) -> PromptText:
    """The prompt that agents get, or the built-in one."""
    if name not in SHAPES:
        near = difflib.get_close_matches(name, SHAPES, 1)
        suggestion = f"; did you mean {near[0]}?" if near else ""
        raise WrongUsage(
            f"there is no prompt '{shown(name)}'{suggestion}", hint="`loopwright prompts list` lists all prompts"
        )
    language = language or chosen_language(context.settings.values)
    if ours:
        return Book(language).text(name)
    book, unusable = read_book(context.layout, language)
    if invalid := [prompt for prompt in unusable if prompt.path.stem == name]:
        raise invalid_prompts(invalid)
    return book.text(name)


def copy_prompt(
    context: Context, name: str, language: PromptLanguage | None, *, to: Literal["workspace", "user"]
) -> Path:
    """Copy a built-in prompt to a file that replaces it; an existing file stays unchanged."""
    require_person(context.environment, "prompts copy")
    text = show_prompt(context, name, language, ours=True)
    folder = context.layout.prompts if to == "workspace" else user_prompts()
    path = folder / text.language / f"{name}.md"
    if to == "workspace":
        record_choice(context.layout)
        if links := [parent for parent in (folder, path.parent) if parent.is_symlink()]:
            raise PromptInvalid(f"{shown(links[0])} is a symbolic link and is not read", hint="remove the link")
    if not create_exclusively(path, text.text.strip("\n").encode() + b"\n"):
        raise WrongUsage(f"{shown(path)} already exists", hint="edit the file, or move it away first")
    return path


def own_prompts(context: Context) -> tuple[list[str], tuple[UnusablePrompt, ...]]:
    """For `doctor`: the prompts that replace built-in ones, and the files that cannot be used."""
    own, unusable = find_user_prompts(prompt_folders(context.layout))
    names = [f"{prompt.name} ({prompt.origin}{', ' + prompt.language if prompt.language else ''})" for prompt in own]
    return names, unusable


# The type of each answer; its JSON Schema is made from the type. A builder answers with any text: only its changes
# count, and a model that must end with JSON builds worse. The YAML of a replanner is read as a plan; its schema is
# shown, but not sent.
_ANSWERS: Mapping[str, type[Any]] = {
    "clarifier": Clarification,
    "planner": ProposedTasks,
    "planner_change": PlanReply,
    "architect_plan": PlanOpinion,
    "architect_build": Opinion,
    "critic_plan": PlanOpinion,
    "builder": str,
    "builder_slice": str,
    "builder_deslop": str,
    "builder_before": SelfRating,
    "builder_after": SelfRating,
    "builder_adversarial": SelfRating,
    "debugger": ProposedHypotheses,
    "reviewer_change": CodeReview,
    "smell_reviewer_change": SmellReview,
    "replanner": PlanForm,
}


def answer_schema(name: str) -> Mapping[str, Any] | None:
    """The JSON Schema of the answer to a prompt; None for a part of other prompts, which has no answer."""
    kind = _ANSWERS.get(name)
    return schema_of(kind) if kind is not None else None
