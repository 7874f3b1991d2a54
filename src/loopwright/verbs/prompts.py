"""`loopwright prompts`: what agents are told, where each text comes from, and a copy of a text to edit."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from loopwright.agents.prompts.book import (
    Book,
    PromptText,
    UnusablePrompt,
    effective_prompts,
    find_user_prompts,
)
from loopwright.agents.prompts.names import SHAPES, PromptLanguage, Shape
from loopwright.agents.structured import schema_of
from loopwright.errors import PromptInvalid, WrongUsage
from loopwright.kernel.files import create_exclusively, shown
from loopwright.loop.actions.debug import ProposedHypotheses
from loopwright.loop.actions.planning import ProposedTasks
from loopwright.plan.document import PlanForm
from loopwright.reflection.points import SelfRating
from loopwright.stages.clarifying.rounds import Clarification
from loopwright.stages.context import Context
from loopwright.stages.own_prompts import chosen_language, invalid_prompts, prompt_folders
from loopwright.stages.person import require_person
from loopwright.stages.planning.rounds import PlanOpinion
from loopwright.workflow.drafting import PlanReply
from loopwright.workflow.lanes import Opinion
from loopwright.workflow.reviewing import CodeReview, SmellReview
from loopwright.workspace.layout import record_choice, user_prompts


class PromptList(msgspec.Struct, frozen=True):
    """Every text in force in one language, and the files that can't be used."""

    language: PromptLanguage
    texts: tuple[PromptText, ...]
    unusable: tuple[UnusablePrompt, ...]


def list_prompts(context: Context, language: PromptLanguage | None) -> PromptList:
    """All texts as they are in force; what is unusable is listed, and ours stands where it is."""
    own, unusable = find_user_prompts(prompt_folders(context.layout))
    spoken = language or chosen_language(context.settings.values)
    book = Book(spoken, effective_prompts(own, spoken))
    return PromptList(spoken, tuple(book.text(name) for name in SHAPES), unusable)


def show_prompt(context: Context, name: str, language: PromptLanguage | None, *, ours: bool) -> PromptText:
    """One text as it is in force, or ours."""
    _shape_of(name)
    spoken = language or chosen_language(context.settings.values)
    if ours:
        return Book(spoken).text(name)
    own, unusable = find_user_prompts(prompt_folders(context.layout))
    if bad := [one for one in unusable if one.path.stem == name]:
        raise invalid_prompts(bad)
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
    own, unusable = find_user_prompts(prompt_folders(context.layout))
    return [f"{one.name} ({one.origin}{', ' + one.language if one.language else ''})" for one in own], unusable


def _shape_of(name: str) -> Shape:
    if name in SHAPES:
        return SHAPES[name]
    near = difflib.get_close_matches(name, SHAPES, 1)
    meant = f"; did you mean {near[0]}?" if near else ""
    raise WrongUsage(f"there is no prompt '{shown(name)}'{meant}", hint="`loopwright prompts list` shows all")


# The type that an answer is read as; its JSON Schema is made from the type. A building turn answers with any text: what
# changed is what counts, and a model that must end with JSON builds worse. A replanner's YAML is read as a plan; its
# schema is shown, not sent.
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
    """The JSON Schema of the answer to a prompt; None for a part of one, which asks nothing by itself."""
    kind = _ANSWERS.get(name)
    return schema_of(kind) if kind is not None else None
