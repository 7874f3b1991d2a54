"""A consent to one transition, bound to what it is about; the last one hands the result over."""

from __future__ import annotations

import msgspec

from loopwright.errors import WorkflowRefused, WrongUsage
from loopwright.stages.building.built import built
from loopwright.stages.building.outside_build import require_outside_build
from loopwright.stages.context import Context
from loopwright.stages.deliver import deliver
from loopwright.stages.person import actor
from loopwright.stages.status import WorkflowView, view_of
from loopwright.stages.stores import workflows_of
from loopwright.workflow import commands as c
from loopwright.workflow import events as e
from loopwright.workflow.model import Key, Stage, Transition
from loopwright.workflow.rules import SCOPE_BLOCKED, Deliver
from loopwright.workflow.store import Opened


class ConsentReport(msgspec.Struct, frozen=True):
    """How the workflow stands after the decision; `sentence` says what was delivered, or taken back."""

    view: WorkflowView
    sentence: str = ""


def give_consent(
    context: Context,
    slug: str,
    transition: Transition,
    *,
    by: str,
    rationale: str = "",
    revision: int | None = None,
    as_branch: bool = False,
) -> ConsentReport:
    """Consent to what exists now, given by a person or by their policy; `review -> done` hands the result over."""
    sentence = ""
    with workflows_of(context).changing(slug, revision=revision) as opened:
        require_outside_build(context, opened.workflow, "approve")
        seals = opened.facts().judges if transition.key is Key.BUILD else {}
        command = c.Approve(transition=transition, standing=opened.standing(), by=by, rationale=rationale, seals=seals)
        try:
            applied = opened.apply(command, by)
        except WorkflowRefused as refusal:
            raise _sent_back(opened, refusal) if refusal.error == SCOPE_BLOCKED else refusal from None
        if Deliver() in applied.effects:
            sentence = _hand_over(context, opened, transition, by, as_branch=as_branch)
        snapshot = opened.snapshot()
    return ConsentReport(view_of(context, snapshot), sentence)


def _sent_back(opened: Opened, refusal: WorkflowRefused) -> WorkflowRefused:
    """The review did not know of the scope that is left: its verdict becomes a request for changes in the build."""
    workflow = opened.workflow
    why = "; ".join(said for _, said, _ in refusal.blockers)
    if workflow.review is not None:
        again = msgspec.structs.replace(
            workflow.review,
            verdict="request-changes",
            target=Stage.BUILD,
            rationale=f"part of the scope is left: {why}",
        )
        opened.apply(e.WorkReviewed(review=again), "tool")
    return WorkflowRefused(
        refusal.error,
        f"{refusal.message}: the review asks for changes now",
        next_command=f"loopwright approve {workflow.slug} --from review --to build",
        blockers=refusal.blockers,
    )


def _hand_over(context: Context, opened: Opened, transition: Transition, by: str, *, as_branch: bool) -> str:
    workflow = opened.workflow
    verified = workflow.verification
    if verified is None:
        raise WorkflowRefused(
            "review_gate_blocked", "nothing was verified", next_command=f"loopwright build {workflow.slug}"
        )
    # As it stands before: protected files may be among those that are delivered, and were consented to.
    standing = opened.standing()
    done = deliver(context, workflow, built(context, workflow, verified), as_branch=as_branch)
    opened.apply(c.Enter(transition=transition, standing=standing, delivery=done.delivery), by)
    return done.sentence


def refuse_consent(context: Context, slug: str, transition: Transition, *, reason: str) -> WorkflowView:
    """Record that a person refuses a transition, and why."""
    if not reason.strip():
        raise WrongUsage("a rejection needs a reason", hint="--reason says what should be different")
    with workflows_of(context).changing(slug) as opened:
        require_outside_build(context, opened.workflow, "reject")
        said = context.tools().redactor.clean(reason).text
        opened.apply(e.ApprovalRefused(transition=transition, reason=said, by=actor()), actor())
        snapshot = opened.snapshot()
    return view_of(context, snapshot)
