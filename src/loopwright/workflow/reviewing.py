"""The outcome of a review: verdict, objections and the stage to go back to. Pure: the caller brings the answers."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Literal, TypeVar

import msgspec

from loopwright.kernel import codec
from loopwright.wording.catalogue import ENGLISH, Catalogue
from loopwright.workflow.audit import AuditLine, proof_line
from loopwright.workflow.documents.page import new_page
from loopwright.workflow.stage import Stage
from loopwright.workflow.verdict import Finding, Review, Verdict

# The patch that was reviewed.
REVIEWED = "review-support/reviewed.patch"
_BACK = {Stage.BUILD: 1, Stage.PLAN: 2, Stage.CLARIFY: 3}


_T = TypeVar("_T")
_HEARD = "heard"


class CodeReview(msgspec.Struct, frozen=True, kw_only=True):
    """A reviewer's answer about the code."""

    verdict: Verdict
    findings: list[Finding] = []
    rollback_target: Literal["build", "plan", "clarify"] | None = None
    summary: str = ""


class SmellReview(msgspec.Struct, frozen=True, kw_only=True):
    """A reviewer's answer about the architecture."""

    verdict: Literal["pass", "warn", "block"]
    findings: list[Finding] = []
    rollback_target: Literal["build", "plan", "clarify"] | None = None
    summary: str = ""


class Objection(msgspec.Struct, frozen=True):
    """An objection, and the stage that must resolve it."""

    target: Stage
    message: str
    # Whether the message names a reason that the rollback can use.
    gives_reason: bool = True


class ReviewOutcome(msgspec.Struct, frozen=True):
    """The verdict, the stage to go back to, and all objections and notes."""

    verdict: Verdict
    target: Stage | None
    rationale: str
    objections: tuple[Objection, ...]
    notes: tuple[str, ...]
    # All findings of all reviewers.
    findings: tuple[Finding, ...] = ()


def concluded(
    objections: Iterable[Objection], code: CodeReview | None, smell: SmellReview | None, notes: Iterable[str]
) -> ReviewOutcome:
    """Mechanical objections first; an agent's judgment can only add to them."""
    all_objections = list(objections)
    if code is not None and code.verdict == "request-changes":
        reason = _reason(code)
        target = Stage(code.rollback_target or "build")
        without_reason = Objection(target, "code review: changes requested without a reason", gives_reason=False)
        all_objections.append(Objection(target, f"code review: {reason}") if reason else without_reason)
    if smell is not None and smell.verdict == "block":
        reason = _reason(smell) or "the architecture is not sound"
        all_objections.append(Objection(Stage(smell.rollback_target or "plan"), f"architecture: {reason}"))
    all_notes = list(notes)
    if smell is not None and smell.verdict == "warn":
        all_notes.append(
            f"architecture: {smell.summary or '; '.join(finding.message for finding in smell.findings[:5])}"
        )
    findings = (*(code.findings if code is not None else ()), *(smell.findings if smell is not None else ()))
    if not all_objections:
        return ReviewOutcome("approve", None, "", (), tuple(all_notes), findings)
    # The earliest stage comes first: later stages depend on it.
    target = max((objection.target for objection in all_objections), key=_BACK.__getitem__)
    # Without a reason from the reviewer, the person who approves the rollback must give one.
    rationale = "; ".join(objection.message for objection in all_objections if objection.gives_reason)
    return ReviewOutcome("request-changes", target, rationale, tuple(all_objections), tuple(all_notes), findings)


def _reason(review: CodeReview | SmellReview) -> str:
    return review.summary or "; ".join(finding.message for finding in review.findings[:5])


def report(
    slug: str,
    review: Review,
    outcome: ReviewOutcome,
    manifests: dict[str, list[str]],
    at: str,
    catalogue: Catalogue = ENGLISH,
    requirements: tuple[AuditLine, ...] = (),
) -> bytes:
    """`review-report.md`."""
    page = new_page(
        catalogue.message("Review: {slug}", slug=slug),
        schema_version="1",
        workflow_id=slug,
        verdict=outcome.verdict,
        reviewer=review.reviewer,
        rollback_target=outcome.target.value if outcome.target is not None else "",
        rollback_rationale=outcome.rationale,
        tree=review.tree,
        reviewed_at=at,
        input_manifest=manifests.get("input", []),
        evidence_manifest=manifests.get("evidence", []),
    )
    objections = "\n".join(
        f"- ({objection.target.value}) {catalogue.translate(objection.message)}" for objection in outcome.objections
    )
    findings = "\n".join(f"- {finding.sentence()}" for finding in outcome.findings)
    notes = "\n".join(f"- {catalogue.translate(note)}" for note in outcome.notes)
    proofs = "\n".join(f"- {proof_line(line, catalogue)}" for line in requirements)
    return (
        page.with_section("Verdict", outcome.verdict)
        .with_section("Requirements", proofs or catalogue.message("none"))
        .with_section("Objections", objections or catalogue.message("none"))
        .with_section("Findings", findings or catalogue.message("none"))
        .with_section("Notes", notes or catalogue.message("none"))
        .render()
    )


def support(document: msgspec.Struct | None, why_not: str) -> bytes:
    """A reviewer's answer as given, or why no reviewer was asked."""
    return codec.to_json(document if document is not None else {"verdict": "skipped", "why": why_not})


def stored_answer(document: msgspec.Struct, by: str, shown: str) -> bytes:
    """An answer while another review is pending, with its reviewer and the digest of what the reviewer saw."""
    return codec.to_json({**msgspec.to_builtins(document), _HEARD: {"by": by, "shown": shown}})


def read_stored_answer(data: bytes, kind: type[_T], shown: str) -> tuple[_T, str] | None:
    """An answer from an interrupted review, and its reviewer; None if it is about other content."""
    try:
        record = json.loads(data)
        mark = record[_HEARD]
        return (msgspec.convert(record, kind), str(mark["by"])) if mark["shown"] == shown else None
    except (ValueError, KeyError, TypeError, RecursionError, msgspec.ValidationError):
        return None


_LINK = b"120000"
_SUBMODULE = b"160000"


class PatchFacts(msgspec.Struct, frozen=True):
    """Added and removed lines of a patch, and files of a special kind."""

    insertions: int
    deletions: int
    kinds: dict[str, str]
    # Added and removed lines of each file.
    counts: dict[str, tuple[int, int]] = {}
    deleted: frozenset[str] = frozenset()


def patch_facts(data: bytes) -> PatchFacts:
    """Read a patch in git's format."""
    counts: dict[str, tuple[int, int]] = {}
    kinds: dict[str, str] = {}
    deleted: set[str] = set()
    path, in_hunk = "", False
    for line in data.split(b"\n"):
        if line.startswith(b"diff --git "):
            path, in_hunk = line.rpartition(b" b/")[2].decode("utf-8", "surrogateescape").strip('"'), False
        elif line.startswith(b"@@"):
            in_hunk = True
        elif in_hunk:
            added, removed = counts.get(path, (0, 0))
            counts[path] = added + line.startswith(b"+"), removed + line.startswith(b"-")
        elif line.startswith(b"deleted file mode 100"):
            deleted.add(path)
        elif line.endswith(_LINK) and b"mode " in line:
            kinds[path] = "symlink"
        elif line.endswith(_SUBMODULE) and b"mode " in line:
            kinds[path] = "submodule"
        elif line.startswith(b"new mode "):
            kinds[path] = "mode"
    insertions, deletions = (sum(lines[side] for lines in counts.values()) for side in (0, 1))
    return PatchFacts(insertions, deletions, kinds, counts, frozenset(deleted))
