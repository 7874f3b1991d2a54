"""Names of workflows and of transitions, as users type them."""

from __future__ import annotations

import re
from pathlib import Path

from loopwright.errors import WorkflowRefused, WrongUsage
from loopwright.workflow.model import Transition

_LONGEST = 64


def slug_of(text: str) -> str:
    """A name that is safe in a path: lower case, with `-` for everything but letters and digits."""
    slug = re.sub(r"[^a-z0-9]+", "-", text.strip().lower()).strip("-")
    if not slug:
        raise WrongUsage(f"'{text}' contains no letter and no digit", hint="choose another name for the workflow")
    if len(slug) > _LONGEST:
        raise WrongUsage(
            f"the name '{slug[:20]}…' has {len(slug)} characters; the limit is {_LONGEST}", hint="choose a shorter name"
        )
    return slug


def slug_from(name: str) -> str:
    """The slug in a workflow name or in the path of a PRD."""
    stem = Path(name).name
    return slug_of(stem.removeprefix("prd-").removesuffix(".md")) if stem.endswith(".md") else slug_of(name)


def transition_of(origin: str, target: str) -> Transition:
    """The transition between two stages; `WorkflowRefused` if there is no such transition."""
    try:
        return Transition(f"{origin}->{target}")
    except ValueError as problem:
        known = ", ".join(Transition)
        raise WorkflowRefused(
            "invalid_transition",
            f"there is no transition from '{origin}' to '{target}' (transitions: {known})",
            next_command="loopwright status",
        ) from problem
