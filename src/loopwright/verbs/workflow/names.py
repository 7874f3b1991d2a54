"""Which workflow is meant, and which move."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from loopwright.errors import WorkflowRefused, WrongUsage
from loopwright.verbs.context import Context
from loopwright.workflow.facts import Gates
from loopwright.workflow.model import Transition
from loopwright.workflow.store import WorkflowStore

_LONGEST = 64


def store_of(context: Context) -> WorkflowStore:
    """The workspace's workflows."""
    values = context.settings.values
    gates = Gates(
        full=values.workflow.profile == "full",
        document_language=values.workspace.document_language,
        seal=(*values.workflow.seal, *_on_path(context)),
        has_test_command=bool(values.loop.test_command),
    )
    return WorkflowStore(context.layout, context.clock, gates)


def _on_path(context: Context) -> Iterator[str]:
    """Folders of the project in which this person's shell looks for programs: what is new there judges, too."""
    for entry in context.environment.get("PATH", "").split(os.pathsep):
        if entry.startswith("/") and context.project in Path(entry).parents:
            yield f"{Path(entry).relative_to(context.project)}/**"


def slug_of(text: str) -> str:
    """A name that can stand in a path: lower case, and `-` for everything but letters and digits."""
    slug = re.sub(r"[^a-z0-9]+", "-", text.strip().lower()).strip("-")
    if not slug:
        raise WrongUsage(f"'{text}' leaves no name: a workflow needs a letter or a digit", hint="name it otherwise")
    if len(slug) > _LONGEST:
        raise WrongUsage(
            f"the name '{slug[:20]}…' has {len(slug)} characters, {_LONGEST} are the most", hint="shorten it"
        )
    return slug


def transition_of(origin: str, target: str) -> Transition:
    """The move between two stages; those that do not exist are named as such."""
    try:
        return Transition(f"{origin}->{target}")
    except ValueError as problem:
        known = ", ".join(Transition)
        raise WorkflowRefused(
            "invalid_transition",
            f"there is no way from '{origin}' to '{target}' (there are: {known})",
            next_command="loopwright status",
        ) from problem
