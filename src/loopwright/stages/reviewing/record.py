"""Who reviews a build."""

from __future__ import annotations

import json

import msgspec

from loopwright.agents.port import Role
from loopwright.kernel.files import make_folder, write_durably
from loopwright.stages.context import Context, documents_of
from loopwright.stages.person import actor
from loopwright.stages.reviewing.reviewers import SUPPORT, ReviewerAnswer, ReviewSession
from loopwright.workflow import commands as c
from loopwright.workflow import events as e
from loopwright.workflow.documents.record import NAME as RECORD
from loopwright.workflow.model import Review, Transition, Workflow
from loopwright.workflow.reviewing import REVIEWED, CodeReview, ReviewOutcome, SmellReview, report, support
from loopwright.workflow.store import Opened
from loopwright.workflow.verification import Verification


class Judgment(msgspec.Struct, frozen=True, kw_only=True):
    """Who judged the work, and what they said; `unasked`: a reviewer is needed, and none could be asked."""

    by: str
    notes: tuple[str, ...]
    code: ReviewerAnswer[CodeReview] = ReviewerAnswer()
    smell: ReviewerAnswer[SmellReview] = ReviewerAnswer()
    unasked: bool = False


def record_review(
    session: ReviewSession, opened: Opened, verified: Verification, judgment: Judgment, outcome: ReviewOutcome
) -> None:
    """Write the report and its support, record the verdict, and ask for the consent that is next."""
    context = session.context
    clean = context.tools().redactor.clean
    found = Review(
        verdict=outcome.verdict,
        reviewer=judgment.by,
        tree=verified.tree,
        target=outcome.target,
        rationale=clean(outcome.rationale).text,
        report="review-report.md",
        unasked=judgment.unasked,
    )
    pages = _pages(context, opened, verified, judgment, found, outcome)
    cleaned = {name: clean(data).data for name, data in pages.items()}
    opened.write(cleaned | {REVIEWED: session.work.patch}, judgment.by)
    opened.apply(e.WorkReviewed(review=found), judgment.by)
    if outcome.verdict == "approve":
        _write_journal_page(context, opened.workflow, found)
    opened.apply(c.RequestApproval(transition=Transition.REVIEW_DONE, standing=opened.standing()), "tool")


def _pages(
    context: Context, opened: Opened, verified: Verification, judgment: Judgment, found: Review, outcome: ReviewOutcome
) -> dict[str, bytes]:
    skipped = "; ".join(outcome.notes) or "it was not asked for"
    runs = list(verified.run_ids)
    sources = {"input": [RECORD], "evidence": runs}
    changed = json.dumps({"tree": verified.tree, "files": list(verified.files)}, ensure_ascii=False, indent=2) + "\n"
    return {
        "review-report.md": report(opened.workflow.slug, found, outcome, sources, opened.now, documents_of(context)),
        SUPPORT[Role.REVIEWER]: support(judgment.code.given, skipped),
        SUPPORT[Role.SMELL_REVIEWER]: support(judgment.smell.given, skipped),
        "review-support/changed-files.json": changed.encode(),
    }


def _write_journal_page(context: Context, workflow: Workflow, found: Review) -> None:
    """A page for the developer: what was reviewed, by whom, on which tree."""
    folder = context.layout.developer_journal(actor())
    make_folder(folder)
    # After the highest number that exists: a page that was removed leaves its number free, not another page's.
    taken = (path.stem.removeprefix("journal-") for path in folder.glob("journal-*.md"))
    number = max((int(one) for one in taken if one.isdecimal()), default=0) + 1
    lines = [
        f"# {workflow.slug}",
        "",
        workflow.idea,
        "",
        documents_of(context).translate(f"Reviewed by {found.reviewer}: {found.verdict}, tree {found.tree}."),
    ]
    write_durably(folder / f"journal-{number}.md", ("\n".join(lines) + "\n").encode())
