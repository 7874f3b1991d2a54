"""`loopwright approve` and `reject`: a person's consent to one transition, bound to what it is about."""

from __future__ import annotations

from loopwright.errors import WrongUsage
from loopwright.verbs.context import Context
from loopwright.verbs.loop.control import actor
from loopwright.verbs.person import require_person
from loopwright.verbs.workflow.names import store_of, transition_of
from loopwright.workflow import commands as c
from loopwright.workflow.model import Key, Workflow


def approve(
    context: Context, slug: str, origin: str, target: str, *, rationale: str = "", revision: int | None = None
) -> Workflow:
    """Yes, to what is there now."""
    require_person(context.environment, "approve")
    transition = transition_of(origin, target)
    with store_of(context).changing(slug, revision=revision) as opened:
        seals = opened.facts().judges if transition.key is Key.BUILD else {}
        command = c.Approve(
            transition=transition, standing=opened.standing(), by=actor(), rationale=rationale, seals=seals
        )
        return opened.apply(command, actor()).workflow


def reject(context: Context, slug: str, origin: str, target: str, *, reason: str) -> Workflow:
    """No, and why."""
    require_person(context.environment, "reject")
    if not reason.strip():
        raise WrongUsage("a rejection needs a reason", hint="--reason says what should be different")
    transition = transition_of(origin, target)
    with store_of(context).changing(slug) as opened:
        said = context.tools().redactor.clean(reason).text
        return opened.apply(c.Reject(transition=transition, reason=said, by=actor()), actor()).workflow
