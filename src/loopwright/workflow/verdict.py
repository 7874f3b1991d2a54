"""The result of a review, its findings, and why a review sent a change back. Frozen."""

from __future__ import annotations

from typing import Literal

import msgspec

from loopwright.wording.catalogue import ENGLISH, Catalogue
from loopwright.workflow.stage import Stage

Verdict = Literal["approve", "request-changes"]
# Stands for Loopwright among those who request changes: no reviewer was asked, or none objected.
OWN_CHECKS = "Loopwright's own checks"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One finding of a reviewer."""

    message: str
    severity: str = "minor"
    file: str = ""
    line: int = 0

    def sentence(self) -> str:
        """The finding in one line, with its file and line number."""
        place = f"{self.file}:{self.line}" if self.file and self.line > 0 else self.file
        sentence = ": ".join(part for part in (self.severity, place, self.message) if part)
        return " ".join(sentence.split())


class Review(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The result of a review; `tree` is the reviewed tree."""

    verdict: Verdict
    reviewer: str
    tree: str
    target: Stage | None = None
    rationale: str = ""
    report: str = ""
    # An independent reviewer was required, and none is set.
    unasked: bool = False
    findings: tuple[Finding, ...] = ()
    # Whether a person gave the verdict. No agent and no rule replaces it for this tree.
    is_by_person: bool = False
    # Who requests changes: Loopwright's own checks, reviewers or a person. Empty in reviews of an earlier version.
    requested_by: tuple[str, ...] = ()
    # Why the risk floor required a reviewer; empty below the threshold.
    risk: str = ""
    # Why no reviewer and no person read the code; empty if one did, and in reviews of an earlier version.
    unread: str = ""
    # The digest of each run's evidence at the time of the review.
    evidence: dict[str, str] = {}

    def sentences(self) -> tuple[str, ...]:
        """The rationale and all findings, for the agent or person who has to act on them."""
        return tuple(text for text in (self.rationale, *(finding.sentence() for finding in self.findings)) if text)


def unread_sentence(review: Review | None) -> str:
    """That no reviewer and no person read the code, and why; empty if one did."""
    return f"no reviewer read the code: {review.unread}" if review is not None and review.unread else ""


def request_sentence(review: Review, catalogue: Catalogue = ENGLISH) -> str:
    """Who requests changes, and why."""
    who = ", ".join(map(catalogue.translate, review.requested_by or ("the review",)))
    why = catalogue.translate(review.rationale) if review.rationale else catalogue.message("no reason given")
    return catalogue.message("changes requested by {who}: {why}", who=who, why=why)


class SentBack(msgspec.Struct, frozen=True, kw_only=True):
    """A review that sent the change back, and the digests of the content that was approved until then, by part."""

    review: Review
    parts: dict[str, str] = {}
