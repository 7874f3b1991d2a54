"""`loopwright approve` and `reject`: a person's consent to one transition, bound to what it is about."""

from __future__ import annotations

import msgspec

from loopwright.errors import WorkflowRefused, WrongUsage
from loopwright.stages.building.built import built
from loopwright.stages.building.outside_build import require_outside_build
from loopwright.stages.context import Context
from loopwright.stages.deliver import deliver
from loopwright.stages.names import transition_of
from loopwright.stages.person import actor, require_person
from loopwright.stages.stores import workflows_of
from loopwright.workflow import commands as c
from loopwright.workflow.model import Key, Stage, Transition, Workflow
from loopwright.workflow.rules import SCOPE_BLOCKED, Deliver
from loopwright.workflow.store import Opened


class Consented(msgspec.Struct, frozen=True):
    """How it stands after a consent; `sentence` says what that led to at once."""

    workflow: Workflow
    sentence: str = ""


def approve(
    context: Context,
    slug: str,
    origin: str,
    target: str,
    *,
    rationale: str = "",
    revision: int | None = None,
    as_branch: bool = False,
) -> Consented:
    """Yes, to what is there now. The last one takes effect at once: the result is handed over."""
    require_person(context.environment, "approve")
    return consent(
        context, slug, transition_of(origin, target), by=actor(), rationale=rationale, revision=revision,
        as_branch=as_branch,
    )  # fmt: skip


def consent(
    context: Context,
    slug: str,
    transition: Transition,
    *,
    by: str,
    rationale: str = "",
    revision: int | None = None,
    as_branch: bool = False,
) -> Consented:
    """The same for whoever may: a person, or what their policy allows."""
    with workflows_of(context).changing(slug, revision=revision) as opened:
        require_outside_build(context, opened.workflow, "approve")
        seals = opened.facts().judges if transition.key is Key.BUILD else {}
        command = c.Approve(transition=transition, standing=opened.standing(), by=by, rationale=rationale, seals=seals)
        try:
            applied = opened.apply(command, by)
        except WorkflowRefused as refusal:
            raise _sent_back(opened, refusal) if refusal.error == SCOPE_BLOCKED else refusal from None
        if Deliver() in applied.effects:
            return _hand_over(context, opened, transition, by, as_branch=as_branch)
        return Consented(applied.workflow)


def _sent_back(opened: Opened, refusal: WorkflowRefused) -> WorkflowRefused:
    """What is left of the scope was not known to the review: its verdict is that it goes back to the build."""
    workflow = opened.workflow
    why = "; ".join(said for _, said, _ in refusal.blockers)
    if workflow.review is not None:
        again = msgspec.structs.replace(
            workflow.review,
            verdict="request-changes",
            target=Stage.BUILD,
            rationale=f"part of the scope is left: {why}",
        )
        opened.apply(c.RecordReview(review=again), "tool")
    return WorkflowRefused(
        refusal.error,
        f"{refusal.message}: the review asks for changes now",
        next_command=f"loopwright approve {workflow.slug} --from review --to build",
        blockers=refusal.blockers,
    )


def _hand_over(context: Context, opened: Opened, transition: Transition, by: str, *, as_branch: bool) -> Consented:
    workflow = opened.workflow
    verified = workflow.verification
    if verified is None:
        raise WorkflowRefused(
            "review_gate_blocked", "nothing was verified", next_command=f"loopwright build {workflow.slug}"
        )
    # As it stands before: the files that judge may be among those that are delivered, and were consented to.
    standing = opened.standing()
    done = deliver(context, workflow, built(context, workflow, verified), as_branch=as_branch)
    entered = c.Enter(transition=transition, standing=standing, delivery=done.delivery)
    return Consented(opened.apply(entered, by).workflow, done.sentence)


def reject(context: Context, slug: str, origin: str, target: str, *, reason: str) -> Workflow:
    """No, and why."""
    require_person(context.environment, "reject")
    if not reason.strip():
        raise WrongUsage("a rejection needs a reason", hint="--reason says what should be different")
    transition = transition_of(origin, target)
    with workflows_of(context).changing(slug) as opened:
        require_outside_build(context, opened.workflow, "reject")
        said = context.tools().redactor.clean(reason).text
        return opened.apply(c.Reject(transition=transition, reason=said, by=actor()), actor()).workflow
