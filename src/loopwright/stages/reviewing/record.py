"""Records a review: verdict, report, answers of the reviewers, and a page in the developer journal."""

from __future__ import annotations

import json
from collections.abc import Iterator

import msgspec

from loopwright.agents.port import Role
from loopwright.kernel.files import make_folder, write_durably
from loopwright.stages.context import Context, documents_of
from loopwright.stages.person import actor
from loopwright.stages.proof import recorded_digests, runs_behind
from loopwright.stages.reviewing.reviewers import SUPPORT, ReviewerAnswer, ReviewSession
from loopwright.workflow import commands as c
from loopwright.workflow import events as e
from loopwright.workflow.audit import audited
from loopwright.workflow.documents.record import NAME as RECORD
from loopwright.workflow.model import Transition, Workflow
from loopwright.workflow.reviewing import REVIEWED, CodeReview, ReviewOutcome, SmellReview, report, support
from loopwright.workflow.store import Opened
from loopwright.workflow.verdict import OWN_CHECKS, Review
from loopwright.workflow.verification import Verification


class Judgment(msgspec.Struct, frozen=True, kw_only=True):
    """Who judged the work, and their answers; `unasked`: a reviewer is required, but none is set."""

    by: str
    notes: tuple[str, ...]
    code: ReviewerAnswer[CodeReview] = ReviewerAnswer()
    smell: ReviewerAnswer[SmellReview] = ReviewerAnswer()
    unasked: bool = False
    is_by_person: bool = False
    # Why the risk floor requires a reviewer; empty below the threshold.
    risk: str = ""
    # Why no reviewer and no person read the code; empty if one did.
    unread: str = ""


def record_review(
    session: ReviewSession, opened: Opened, verified: Verification, judgment: Judgment, outcome: ReviewOutcome
) -> None:
    """Write the report and the answers, record the verdict, and request the next approval."""
    context = session.context
    evidence, given = recorded_digests(context, runs_behind(opened.workflow, opened.facts())), judgment.code.given
    clean = context.tools().redactor.clean
    review = Review(
        verdict=outcome.verdict,
        reviewer=judgment.by,
        tree=verified.tree,
        target=outcome.target,
        rationale=clean(outcome.rationale).text,
        report="review-report.md",
        unasked=judgment.unasked,
        findings=outcome.findings,
        # With a mechanical objection the verdict is not the one that the person gave.
        is_by_person=judgment.is_by_person and given is not None and given.verdict == outcome.verdict,
        requested_by=tuple(_requesters(judgment, outcome)),
        risk=judgment.risk,
        unread=judgment.unread,
        evidence=evidence,
    )
    pages = _pages(context, opened, verified, judgment, review, outcome)
    cleaned = {name: clean(data).data for name, data in pages.items()}
    opened.write(cleaned | {REVIEWED: session.work.patch}, judgment.by)
    opened.apply(e.WorkReviewed(review=review), judgment.by)
    if outcome.verdict == "approve" and not opened.workflow.is_quick:
        _write_journal_page(context, opened.workflow, review)
    opened.apply(c.RequestApproval(transition=Transition.REVIEW_DONE, standing=opened.standing()), "tool")


def _requesters(judgment: Judgment, outcome: ReviewOutcome) -> Iterator[str]:
    """Who objects to the work: Loopwright's own checks, the reviewers, or a person."""
    code, smell = judgment.code, judgment.smell
    by_code = code.given is not None and code.given.verdict == "request-changes"
    by_smell = smell.given is not None and smell.given.verdict == "block"
    if len(outcome.objections) > by_code + by_smell:
        yield OWN_CHECKS
    if by_code:
        yield judgment.by if judgment.is_by_person else f"the reviewer {judgment.by}"
    if by_smell:
        yield f"the architecture reviewer {smell.by}"


def _pages(
    context: Context, opened: Opened, verified: Verification, judgment: Judgment, review: Review, outcome: ReviewOutcome
) -> dict[str, bytes]:
    skipped = "; ".join(outcome.notes) or "it was not asked for"
    runs = list(verified.run_ids)
    sources = {"input": [RECORD], "evidence": runs}
    changed = json.dumps({"tree": verified.tree, "files": list(verified.files)}, ensure_ascii=False, indent=2) + "\n"
    return {
        "review-report.md": report(
            opened.workflow.slug,
            review,
            outcome,
            sources,
            opened.now,
            documents_of(context),
            audited(opened.workflow, opened.facts()).requirements,
        ),
        SUPPORT[Role.REVIEWER]: support(judgment.code.given, skipped),
        SUPPORT[Role.SMELL_REVIEWER]: support(judgment.smell.given, skipped),
        "review-support/changed-files.json": changed.encode(),
    }


def _write_journal_page(context: Context, workflow: Workflow, review: Review) -> None:
    """Write a page for the developer: the idea, the reviewer, the verdict and the tree."""
    folder = context.layout.developer_journal(actor())
    make_folder(folder)
    # One more than the highest number: a free number in between belonged to a removed page.
    numbers = (path.stem.removeprefix("journal-") for path in folder.glob("journal-*.md"))
    number = max((int(text) for text in numbers if text.isdecimal()), default=0) + 1
    verdict = documents_of(context).translate(f"Reviewed by {review.reviewer}: {review.verdict}, tree {review.tree}.")
    page = f"# {workflow.slug}\n\n{workflow.idea}\n\n{verdict}\n"
    write_durably(folder / f"journal-{number}.md", page.encode())
