"""What a review says, and where it sends a change back to. Pure: whoever asked agents brings what they answered."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Literal, TypeVar

import msgspec

from loopwright.wording.catalogue import ENGLISH, Catalogue
from loopwright.workflow.documents.page import new_page
from loopwright.workflow.model import Review, Stage, Verdict

Severity = Literal["info", "minor", "major", "critical"]
# The patch that the verdict is about.
REVIEWED = "review-support/reviewed.patch"
_WORDLESS = "code review: changes are asked for, without a word why"
_BACK = {Stage.BUILD: 1, Stage.PLAN: 2, Stage.CLARIFY: 3}


_T = TypeVar("_T")
_HEARD = "heard"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One remark of a reviewer."""

    message: str
    severity: str = "minor"
    file: str = ""
    line: int = 0


class CodeReview(msgspec.Struct, frozen=True, kw_only=True):
    """A reviewer's answer on the code."""

    verdict: Literal["approve", "request-changes"]
    findings: list[Finding] = []
    rollback_target: Literal["build", "plan", "clarify"] | None = None
    summary: str = ""


class SmellReview(msgspec.Struct, frozen=True, kw_only=True):
    """A reviewer's answer on the architecture."""

    verdict: Literal["pass", "warn", "block"]
    findings: list[Finding] = []
    rollback_target: Literal["build", "plan", "clarify"] | None = None
    summary: str = ""


class Objection(msgspec.Struct, frozen=True):
    """A reason against, and the stage that has to answer it."""

    target: Stage
    message: str


class ReviewOutcome(msgspec.Struct, frozen=True):
    """The verdict, where it goes back to, and everything that was said."""

    verdict: Verdict
    target: Stage | None
    rationale: str
    objections: tuple[Objection, ...]
    notes: tuple[str, ...]


def concluded(
    objections: Iterable[Objection], code: CodeReview | None, smell: SmellReview | None, notes: Iterable[str]
) -> ReviewOutcome:
    """Mechanical objections first; an agent's judgment can only add to them."""
    found = list(objections)
    if code is not None and code.verdict == "request-changes":
        said = code.summary or "; ".join(one.message for one in code.findings[:5])
        target = Stage(code.rollback_target or "build")
        found.append(Objection(target, f"code review: {said}" if said else _WORDLESS))
    if smell is not None and smell.verdict == "block":
        said = smell.summary or "; ".join(one.message for one in smell.findings[:5]) or "the architecture does not hold"
        found.append(Objection(Stage(smell.rollback_target or "plan"), f"architecture: {said}"))
    told = list(notes)
    if smell is not None and smell.verdict == "warn":
        told.append(f"architecture: {smell.summary or '; '.join(one.message for one in smell.findings[:5])}")
    if not found:
        return ReviewOutcome("approve", None, "", (), tuple(told))
    # What has to be answered furthest back comes first: the rest rests on it.
    target = max((one.target for one in found), key=_BACK.__getitem__)
    # Without words there is no reason yet: whoever consents to going back gives one.
    rationale = "; ".join(one.message for one in found if one.message != _WORDLESS)
    return ReviewOutcome("request-changes", target, rationale, tuple(found), tuple(told))


def report(
    slug: str,
    review: Review,
    outcome: ReviewOutcome,
    manifests: dict[str, list[str]],
    at: str,
    say: Catalogue = ENGLISH,
) -> bytes:
    """`review-report.md`."""
    page = new_page(
        say.words("Review: {slug}", slug=slug),
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
    objections = "\n".join(f"- ({one.target.value}) {say.translate(one.message)}" for one in outcome.objections)
    notes = "\n".join(f"- {say.translate(note)}" for note in outcome.notes)
    return (
        page.with_section("Verdict", outcome.verdict)
        .with_section("Objections", objections or say.words("none"))
        .with_section("Notes", notes or say.words("none"))
        .render()
    )


def support(document: msgspec.Struct | None, why_not: str) -> bytes:
    """A reviewer's answer as it was given; or why nobody was asked."""
    record = msgspec.to_builtins(document) if document is not None else {"verdict": "skipped", "why": why_not}
    return (json.dumps(record, ensure_ascii=False, indent=2) + "\n").encode()


def heard(document: msgspec.Struct, by: str, shown: str) -> bytes:
    """The same while another reviewer is still to be heard, with who gave it and the digest of what they were shown."""
    record = {**msgspec.to_builtins(document), _HEARD: {"by": by, "shown": shown}}
    return (json.dumps(record, ensure_ascii=False, indent=2) + "\n").encode()


def heard_before(data: bytes, kind: type[_T], shown: str) -> tuple[_T, str] | None:
    """An answer of a review that was not held to its end, and who gave it; None where it is about anything else."""
    try:
        record = json.loads(data)
        told = record[_HEARD]
        return (msgspec.convert(record, kind), str(told["by"])) if told["shown"] == shown else None
    except (ValueError, KeyError, TypeError, RecursionError, msgspec.ValidationError):
        return None


_LINK = b"120000"
_SUBMODULE = b"160000"


class PatchFacts(msgspec.Struct, frozen=True):
    """Lines that come and go, and files of a special kind."""

    insertions: int
    deletions: int
    kinds: dict[str, str]


def patch_facts(data: bytes) -> PatchFacts:
    """Read off a patch in git's own form."""
    insertions = deletions = 0
    kinds: dict[str, str] = {}
    path, in_hunk = "", False
    for line in data.split(b"\n"):
        if line.startswith(b"diff --git "):
            path, in_hunk = line.rpartition(b" b/")[2].decode("utf-8", "surrogateescape").strip('"'), False
        elif line.startswith(b"@@"):
            in_hunk = True
        elif in_hunk:
            insertions += line.startswith(b"+")
            deletions += line.startswith(b"-")
        elif line.endswith(_LINK) and b"mode " in line:
            kinds[path] = "symlink"
        elif line.endswith(_SUBMODULE) and b"mode " in line:
            kinds[path] = "submodule"
        elif line.startswith(b"new mode "):
            kinds[path] = "mode"
    return PatchFacts(insertions, deletions, kinds)
