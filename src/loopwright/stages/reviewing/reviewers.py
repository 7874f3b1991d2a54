"""Agents that review a build: their prompts, the files in their mailbox, and where their answers are stored."""

from __future__ import annotations

import shlex
from typing import Generic, TypeVar

import msgspec

from loopwright.agents.port import Remedy, Role, reasons_for
from loopwright.agents.shown_file import ShownFile
from loopwright.agents.structured import AgentRequest, verdict_form
from loopwright.errors import AgentFailed
from loopwright.kernel.digest import digest_of, sha256
from loopwright.kernel.process import Cancellation
from loopwright.reflection.risk import RiskVerdict
from loopwright.runner.ask_agent import AgentReply
from loopwright.stages.agent_choice import barred_from_review, require_a_program
from loopwright.stages.agent_view import agent_view
from loopwright.stages.asking import StageCall, ask_for_stage
from loopwright.stages.building.built import Built
from loopwright.stages.context import Context, Tell
from loopwright.stages.spending import Spending
from loopwright.workflow.documents.record import NAME as RECORD
from loopwright.workflow.documents.record import Record
from loopwright.workflow.manifest import ManifestRow, merged
from loopwright.workflow.manifest import render as render_manifest
from loopwright.workflow.model import Workflow
from loopwright.workflow.reviewing import CodeReview, SmellReview, read_stored_answer, stored_answer
from loopwright.workflow.stage import Stage
from loopwright.workflow.store import Opened, Snapshot

_T = TypeVar("_T", bound=msgspec.Struct)
# Failures before the review started: they say nothing about the work. A reviewer that started without giving a
# verdict counts as a rejection.
_CANT_LOOK = reasons_for(Remedy.SET_UP, Remedy.WAIT, Remedy.BUDGET)
# Where each answer is stored; after an interrupted review, a stored answer is not requested again.
SUPPORT = {
    Role.REVIEWER: "review-support/code-review.json",
    Role.SMELL_REVIEWER: "review-support/architecture-smell.json",
}


class ReviewRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The reviewer: a named agent, or a person with a verdict; else the reviewer of the settings."""

    reviewer: str = ""
    verdict: str | None = None
    # The stage to go back to, for a verdict that requests changes.
    target: str | None = None
    rationale: str = ""
    spending: Spending | None = None


class ReviewSession(msgspec.Struct, frozen=True, kw_only=True):
    """What all turns of one review share; `kept` are the answers of an interrupted review, by document."""

    context: Context
    request: ReviewRequest
    snapshot: Snapshot
    work: Built
    kept: dict[str, bytes]
    tell: Tell
    cancellation: Cancellation


class ReviewerAnswer(msgspec.Struct, Generic[_T], frozen=True):
    """The answer of a reviewer and the agent that gave it; or why there is no verdict."""

    given: _T | None = None
    by: str = ""
    failed: str = ""


def kept_answers(opened: Opened) -> dict[str, bytes]:
    """Stored answers; an answer whose file was edited does not count."""
    return {name: _kept(opened, name) for name in SUPPORT.values()}


def _kept(opened: Opened, name: str) -> bytes:
    try:
        return (opened.read(name) or b"") if opened.is_as_written(name) else b""
    except OSError:
        return b""


def ask_reviewers(
    session: ReviewSession, risk: RiskVerdict
) -> tuple[ReviewerAnswer[CodeReview], ReviewerAnswer[SmellReview]]:
    """Ask the reviewer, then the smell reviewer; a stored answer is not requested again."""
    code = _ask(session, Role.REVIEWER, CodeReview, risk)
    return code, _ask(session, Role.SMELL_REVIEWER, SmellReview, risk)


def _ask(session: ReviewSession, role: Role, kind: type[_T], risk: RiskVerdict) -> ReviewerAnswer[_T]:
    context, workflow = session.context, session.snapshot.workflow
    record = session.snapshot.facts.record
    builders = barred_from_review(context, record) if isinstance(record, Record) else frozenset()
    agent, prompt = _agent_for(session, role, builders), _prompt(context, workflow, role, risk)
    mailbox_files = _mailbox_files(context, workflow, session.work)
    inputs = {"prompt": prompt, "patch": sha256(session.work.since_commit), "reviewer": agent}
    shown = digest_of(inputs | {name: sha256(file.data) for name, file in mailbox_files.items()})
    before = read_stored_answer(session.kept[SUPPORT[role]], kind, shown)
    if before is not None:
        session.tell(f"the {role.value} {before[1]} has already reviewed this version of the work")
        return ReviewerAnswer(*before)
    require_a_program(context, agent, role)
    session.tell(f"the {role.value} reviews the work")
    taken = workflow.turns_of(role.value)
    request = AgentRequest(agent=agent, role=role, prompt=prompt, form=verdict_form(kind), number=taken)
    call = StageCall(
        workflow=workflow, stage=Stage.REVIEW, name=f"{workflow.slug}-{role.value.replace(' ', '-')}-{taken + 1}",
        sandbox=session.work.sandbox(context), mailbox_files=mailbox_files, spending=session.request.spending,
        barred=builders, tell=session.tell,
    )  # fmt: skip

    def keep(opened: Opened, answer: AgentReply[_T]) -> ReviewerAnswer[_T]:
        opened.write({SUPPORT[role]: stored_answer(answer.reply, answer.by, shown)}, answer.by)
        return ReviewerAnswer(answer.reply, answer.by)

    try:
        return ask_for_stage(context, call, request, session.cancellation, keep)
    except AgentFailed as problem:
        if problem.reason not in _CANT_LOOK:
            return ReviewerAnswer(failed=problem.message)
        raise _not_reviewed(workflow.slug, session.request.reviewer, agent, problem) from problem


def _agent_for(session: ReviewSession, role: Role, builders: frozenset[str]) -> str:
    """The agent for this role; the smell reviewer may be another agent, unless that agent built the work."""
    reviewer = session.request.reviewer
    if role is not Role.SMELL_REVIEWER:
        return reviewer
    named = session.context.settings.values.agents.agent_for_role(role, reviewer)
    return reviewer if named in builders else named


def _not_reviewed(slug: str, reviewer: str, asked: str, problem: AgentFailed) -> AgentFailed:
    if problem.reason in reasons_for(Remedy.WAIT, Remedy.BUDGET):
        return problem  # its message names the end of the limit, or the limit to raise
    again = f"loopwright review {slug} --reviewer {shlex.quote(reviewer)}"
    hint = (
        f"the work is unchanged and not approved: fix the problem (see `loopwright doctor`), "
        f"then `{again}`, or name another reviewer"
    )
    if asked != reviewer:
        hint = (
            f"the work is unchanged and not approved: fix the problem (see `loopwright doctor`), "
            f"or name another agent in agents.roles.smell_reviewer, then `{again}`"
        )
    return AgentFailed(problem.reason, problem.message, hint=hint)


def _prompt(context: Context, workflow: Workflow, role: Role, risk: RiskVerdict) -> str:
    book, patch = context.prompts(), "$LOOPWRIGHT_MAILBOX/reviewed.patch"
    if role is Role.SMELL_REVIEWER:
        return book.prompt("smell_reviewer_change", patch=patch)
    spec = context.layout.workflow(workflow.slug).document("spec.md")
    return book.prompt(
        "reviewer_change",
        patch=patch,
        manifest="$LOOPWRIGHT_MAILBOX/context/review-context.jsonl",
        spec=spec.read_text(encoding="utf-8") if spec.is_file() else workflow.idea,
        risk=book.part("riskiest", surface=risk.surface),
    )


def _mailbox_files(context: Context, workflow: Workflow, work: Built) -> dict[str, ShownFile]:
    """The files in the mailbox of a reviewer: the patch, and the documents that the manifest lists."""
    paths = context.layout.workflow(workflow.slug, workflow.change)
    mailbox_files, view = {"reviewed.patch": ShownFile(work.patch)}, agent_view(context)
    rows = []
    for name, kind, reason in (
        ("spec.md", "spec", "what was requested"),
        (RECORD, "record", "what was done"),
        ("build-support/completion-audit.json", "audit", "what proves each requirement"),
    ):
        path = paths.document(name)
        if path.is_file():
            mailbox_files[f"context/{name}"] = view.document(name, path.read_bytes())
            rows.append(
                ManifestRow(stage="review", kind=kind, path=f"context/{name}", reason=reason, priority=1, required=True)
            )
    manifest = render_manifest(merged(rows, lambda path: path in mailbox_files))
    return mailbox_files | {"context/review-context.jsonl": ShownFile(manifest)}
