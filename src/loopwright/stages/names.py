"""Which workflow is meant, and which move."""

from __future__ import annotations

import re

from loopwright.errors import WorkflowRefused, WrongUsage
from loopwright.workflow.model import Transition

_LONGEST = 64


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
