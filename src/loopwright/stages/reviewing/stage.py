"""Carries out the review stage: mechanical objections first, then reviewers if the risk requires them."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec.structs import replace

from loopwright.agents.port import Role
from loopwright.errors import WorkflowRefused
from loopwright.kernel.process import Cancellation
from loopwright.reflection.risk import RiskVerdict, score_text
from loopwright.reflection.store import read_reflections
from loopwright.stages.agent_choice import builder_behind
from loopwright.stages.building.built import built, require_verified
from loopwright.stages.context import Context, Tell, ignore_progress, workflows_of
from loopwright.stages.names import slug_of
from loopwright.stages.person import actor, require_person
from loopwright.stages.reviewing.mechanical import TOOL, objections_to, risk_of
from loopwright.stages.reviewing.record import Judgment, record_review
from loopwright.stages.reviewing.reviewers import (
    ReviewerAnswer,
    ReviewRequest,
    ReviewSession,
    ask_reviewers,
    kept_answers,
)
from loopwright.stages.status import WorkflowView, view_of
from loopwright.workflow import commands as c
from loopwright.workflow.build_gate import flaky_tests_sentence, unreached_sentence
from loopwright.workflow.documents.record import NAME as RECORD
from loopwright.workflow.documents.record import Record
from loopwright.workflow.facts import Facts
from loopwright.workflow.model import Building, Key, Reviewing, Transition
from loopwright.workflow.reviewing import CodeReview, Objection, concluded
from loopwright.workflow.stage import Stage
from loopwright.workflow.standing import moved_approvals
from loopwright.workflow.store import Opened, Snapshot
from loopwright.workflow.test_sentences import changed_command_sentence, tests_sentence
from loopwright.workflow.verdict import Review
from loopwright.workflow.verification import Verification


def review_change(
    context: Context,
    name: str,
    request: ReviewRequest,
    tell: Tell = ignore_progress,
    cancellation: Cancellation | None = None,
) -> WorkflowView:
    """Review a built workflow and record the verdict of an agent, of a person (`request.verdict`), or of Loopwright.

    `name` is the name of the workflow, or the path of its execution record.
    """
    if request.verdict is not None:
        require_person(context.environment, "review --verdict")
    slug = _slug(name)
    context.require_agents()  # before the stage is entered
    with workflows_of(context).changing(slug) as opened:
        _enter(opened)
        snapshot, kept = opened.snapshot(), kept_answers(opened)
    if request.verdict is None and (review := verdict_of_person(snapshot)) is not None:
        return _keep_verdict(context, request, snapshot, review, tell)
    verified = require_verified(snapshot.workflow)
    session = ReviewSession(
        context=context, request=_with_reviewer(context, request, snapshot.facts), snapshot=snapshot,
        work=built(context, snapshot.workflow, verified), kept=kept, tell=tell,
        cancellation=cancellation or Cancellation(),
    )  # fmt: skip
    objections = list(objections_to(context, snapshot, session.request))
    risk = risk_of(context, verified, session.work.patch)
    judgment = _judge(session, risk, objections, is_named=bool(request.reviewer))
    rest = tests_sentence(snapshot.workflow, snapshot.facts.gates)
    changed_command = changed_command_sentence(snapshot.workflow, snapshot.facts.gates)
    found = (
        *filter(None, [changed_command, unreached_sentence(verified), flaky_tests_sentence(verified)]),
        *verified.flags,
    )
    notes = (*judgment.notes, rest, *found, *_reflections(context, verified))
    outcome = concluded(objections, judgment.code.given, judgment.smell.given, notes)
    if snapshot.workflow.is_quick and outcome.target is not None:
        outcome = replace(outcome, target=Stage.BUILD)  # its plan follows from the idea and the checks
    with workflows_of(context).changing(slug) as opened:
        # A person may have given a verdict while an agent worked.
        if judgment.is_by_person or verdict_of_person(opened.snapshot()) is None:
            record_review(session, opened, verified, judgment, outcome)
        after = opened.snapshot()
    return view_of(context, after)


def verdict_of_person(snapshot: Snapshot) -> Review | None:
    """The verdict of a person on the current work: only a person can replace it, unless an approval became void."""
    review, verified = snapshot.workflow.review, snapshot.workflow.verification
    if review is None or verified is None or review.tree != verified.tree or not review.is_by_person:
        return None
    is_void = review.verdict == "approve" and moved_approvals(snapshot.workflow, snapshot.standing, Key.PLAN, Key.BUILD)
    return None if is_void else review


def _keep_verdict(
    context: Context, request: ReviewRequest, snapshot: Snapshot, review: Review, tell: Tell
) -> WorkflowView:
    if request.reviewer:
        raise WorkflowRefused(
            "review_by_person",
            f"{review.reviewer} has reviewed this version of the work ({review.verdict}); no agent replaces that",
            next_command=f"loopwright review {snapshot.workflow.slug} --verdict …",
        )
    tell(f"{review.reviewer} has reviewed this version of the work: {review.verdict}")
    return view_of(context, snapshot)


def _with_reviewer(context: Context, request: ReviewRequest, facts: Facts) -> ReviewRequest:
    """Without a named reviewer, use the reviewer of the settings, unless that agent built the work."""
    if request.reviewer or request.verdict is not None:
        return request
    agent = context.settings.values.agents.agent_for_role(Role.REVIEWER, "")
    built_it = isinstance(facts.record, Record) and builder_behind(context, facts.record, agent) is not None
    return request if built_it else replace(request, reviewer=agent)


def _slug(name: str) -> str:
    path = Path(name)
    return slug_of(path.parent.name) if path.name == RECORD and path.parent.name else slug_of(name)


def _enter(opened: Opened) -> None:
    if isinstance(opened.workflow.at, Reviewing):
        return
    if not isinstance(opened.workflow.at, Building):
        raise WorkflowRefused.see_status(
            opened.workflow.slug,
            "invalid_transition",
            f"{opened.workflow.slug} is at {opened.workflow.stage.value}: there is nothing to review",
        )
    opened.apply(c.Enter(transition=Transition.BUILD_REVIEW, standing=opened.standing()), "tool")


def _judge(session: ReviewSession, risk: RiskVerdict, objections: list[Objection], *, is_named: bool) -> Judgment:
    """Reviewers are asked if the risk requires it or a person named one; a reviewer that fails rejects the work."""
    request = session.request
    full = session.context.settings.values.workflow.profile == "full"
    score, least = risk.shown_score(), score_text(risk.threshold, risk.threshold)
    floor = f"risk floor {score} of {least} ({risk.surface}): {risk.reason}"
    above = floor if risk.needs_review else ""
    if request.verdict is not None:
        reviewer = request.reviewer or actor()
        code = ReviewerAnswer(_by_person(request))
        notes = (floor, f"reviewed by {reviewer}")
        return Judgment(by=reviewer, notes=notes, code=code, is_by_person=True, risk=above)
    if not risk.needs_review and not full and not is_named:
        unread = f"risk floor {score} is below {least}"
        return Judgment(by=TOOL, notes=(f"code review was skipped: {floor}",), unread=unread)
    if objections:
        unasked = f"no reviewer was asked because of mechanical objections; {floor}"
        return Judgment(by=TOOL, notes=(unasked,), unread="Loopwright's own checks object to the work")
    if not request.reviewer:
        why = f"{floor}: the change needs a reviewer who did not build it"
        objections.append(Objection(Stage.BUILD, why))
        return Judgment(by=TOOL, notes=("no reviewer is set",), unasked=True, unread="no reviewer is set")
    code, smell = ask_reviewers(session, risk)
    for role, failed in ((Role.REVIEWER, code.failed), (Role.SMELL_REVIEWER, smell.failed)):
        if failed:
            objections.append(Objection(Stage.BUILD, f"the {role.value} gave no verdict: {failed}"))
    # A named reviewer without a verdict has not reviewed the work.
    return Judgment(by=code.by or TOOL, notes=(floor,), code=code, smell=smell, risk=above)


def _by_person(request: ReviewRequest) -> CodeReview:
    if request.verdict == "approve":
        return CodeReview(verdict="approve", summary=request.rationale)
    target = request.target if request.target in ("build", "plan", "clarify") else "build"
    return msgspec.convert(
        {"verdict": "request-changes", "summary": request.rationale, "rollback_target": target}, CodeReview
    )


def _reflections(context: Context, verified: Verification) -> list[str]:
    """What agents reported about these files; it is shown, but decides nothing."""
    if not context.layout.reflections.is_dir():
        return []
    files = set(verified.files)
    notes = []
    for stored in read_reflections(context.layout.reflections).stored:
        reflection = stored.reflection
        if files & set(reflection.files_changed) and reflection.most_likely_wrong is not None:
            notes.append(f"{reflection.agent} reports {reflection.most_likely_wrong.surface} as most likely wrong")
    return notes[-5:]
