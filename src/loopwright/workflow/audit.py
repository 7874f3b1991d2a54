"""The completion audit: links each requirement and slice to a check, a run, an exit code and a tree. Pure.

A requirement is covered if a run of Loopwright passed on the final tree. The audit names all others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec
from msgspec.structs import replace

from loopwright.judging.kept_tests import still_pass
from loopwright.kernel import codec
from loopwright.wording.catalogue import ENGLISH, Catalogue
from loopwright.workflow.facts import Facts
from loopwright.workflow.model import Archived, Signature, Workflow
from loopwright.workflow.requirement_slices import shown_by, slices_to_prove
from loopwright.workflow.slices import Check, Slice, Slices
from loopwright.workflow.test_sentences import of_which_tests, unproven_sentence, vacuous_sentence
from loopwright.workflow.verification import RULES, CheckRun, Verification

# The grade of archived work that was judged before the current rules.
OLD_RULES = "old rules"
# From the weakest to the strongest.
_GRADES = ("person", "command", "tests")
Source = Literal["approved-plan", "test-spec", "review-rework", "vertical-slice"]


class AuditLine(msgspec.Struct, frozen=True, kw_only=True):
    """One requirement, slice or check, with its evidence."""

    id: str
    source: Source
    requirement: str
    status: Literal["covered", "missing"]
    evidence: tuple[str, ...] = ()
    # What the proof of a requirement rests on: tests, command, person or old rules. Empty: nothing proves it.
    grade: str = ""
    proof: str = ""
    # Whether nothing in the checks that prove it could be altered to see them fail.
    unaltered: bool = False
    # The only checks that would prove it, if they could fail; a blocker of their own asks for a signature.
    vacuous: tuple[str, ...] = ()


class Audit(msgspec.Struct, frozen=True):
    """The checklist. It passes if it has lines and none is missing."""

    checklist: tuple[AuditLine, ...]

    @property
    def missing(self) -> tuple[AuditLine, ...]:
        """Lines without evidence."""
        return tuple(line for line in self.checklist if line.status == "missing")

    @property
    def unproven(self) -> tuple[AuditLine, ...]:
        """Requirements whose checks pass and prove nothing: they passed before the work, too."""
        lines = (line for line in self.requirements if line.status == "covered")
        return tuple(line for line in lines if not line.grade and not line.vacuous)

    @property
    def requirements(self) -> tuple[AuditLine, ...]:
        """The lines of the requirements."""
        return tuple(line for line in self.checklist if line.source == "approved-plan")

    @property
    def status(self) -> Literal["passed", "blocked"]:
        """The status in the contract's terms."""
        return "passed" if self.checklist and not self.missing else "blocked"

    def covers(self, requirement: str) -> bool:
        """Whether a requirement (`domain: name`) has evidence."""
        return any(line.requirement == requirement and line.status == "covered" for line in self.checklist)


def proof_line(line: AuditLine, catalogue: Catalogue = ENGLISH) -> str:
    """A requirement with its grade and what proves it, for people."""
    grade = line.grade or catalogue.message("unproven")
    why = f": {catalogue.translate(line.proof)}" if line.proof else ""
    note = catalogue.message("; nothing in it could be altered to see it fail") if line.unaltered else ""
    return f"{line.id} {line.requirement} [{grade}]{why}{note}"


def audited(workflow: Workflow, facts: Facts) -> Audit:
    """The audit of a workflow in its current state."""
    return Audit(tuple(_lines(workflow, facts.readable_slices, facts.requirements)))


def render(audit: Audit) -> bytes:
    """`completion-audit.json`."""
    return codec.to_json({"schema_version": 1, "status": audit.status, "checklist": audit.checklist})


def signed_digest(piece: Slice, verification: Verification | None) -> str:
    """What a signature on a slice covers: the slice on the tree that the person could see."""
    return f"{piece.digest}@{verification.tree if verification is not None else ''}"


def check_digest(name: str, verification: Verification) -> str:
    """What a signature on a check that proves nothing covers: the check on that tree."""
    return f"{name}@{verification.tree}"


def _lines(workflow: Workflow, slices: Slices, requirements: Mapping[str, tuple[str, ...]]) -> Iterator[AuditLine]:
    verified = workflow.verification
    names = [f"{domain}: {name}" for domain, names in requirements.items() for name in names]
    proving = {full: slices_to_prove(full, slices, len(names)) for full in names}
    for number, full in enumerate(names, 1):
        shown = shown_by(full, slices)
        line = _line(f"REQ-{number}", "approved-plan", full, _of_slices(workflow, shown, verified))
        together = sum(pieces == proving[full] for pieces in proving.values())
        yield _graded(line, workflow, proving[full], verified, together)
    for piece in slices.slices:
        yield _line(piece.id, "vertical-slice", f"{piece.id} {piece.title}", _of_slices(workflow, (piece,), verified))
    for check in slices.checks:
        text = check.id if check.hidden else f"{check.id}: {check.command}"
        yield _line(check.id, "test-spec", text, _of_check(check, verified))
    review = workflow.review
    if review is not None and review.verdict == "request-changes":
        is_newer = verified is not None and verified.tree != review.tree
        proof = (f"tree {verified.tree[:12]} was verified after the review",) if verified and is_newer else None
        yield _line("REWORK", "review-rework", review.rationale or "the changes that the review asked for", proof)


def _with_others(line: AuditLine, slices: tuple[Slice, ...], together: int, verified: Verification) -> AuditLine:
    """The line with what else a reader must know about its proof: what passes besides, and what it stands for."""
    if line.grade == "person":
        return line
    tests, sentences = verified.tests, [line.proof]
    if tests is not None:
        kept = still_pass(tests.kept, tests.before, tests.deleted, tests.skipped)
        sentences += [f"{of_which_tests(tests)}, {kept}"] if kept and kept not in line.proof else []
    if together > 1:
        ids = ", ".join(piece.id for piece in slices)
        sentences.append(f"the checks of {ids} prove {together} requirements together")
    return replace(line, proof="; ".join(sentences))


def requirement_digest(line: AuditLine, verification: Verification | None) -> str:
    """What a signature on a requirement covers: the requirement on the tree that the person could see."""
    return f"{line.requirement}@{verification.tree if verification is not None else ''}"


def _graded(
    line: AuditLine, workflow: Workflow, slices: tuple[Slice, ...], verified: Verification | None, together: int
) -> AuditLine:
    """The line with what proves each of these slices: its best check, or a person. The weakest grade counts."""
    if line.status == "missing" or verified is None:
        return line
    if verified.rules != RULES and isinstance(workflow.at, Archived):
        # Work that is not archived is judged again.
        return replace(line, grade=OLD_RULES)
    proofs = {piece.id: _proof_of_slice(workflow, piece, verified) for piece in slices}
    proven = [proof for proof in proofs.values() if proof is not None]
    if proven and len(proven) == len(proofs):
        weakest = min(proven, key=lambda proof: _GRADES.index(proof.grade))
        unaltered = any(proof.unaltered for proof in proven)
        graded = replace(line, grade=weakest.grade, proof=weakest.sentence, unaltered=unaltered)
        return _with_signed_tests(_with_others(graded, slices, together, verified), workflow, verified)
    by = next((signature.by for signature in workflow.signatures if _covers(signature, line, verified)), None)
    if by is not None:
        return replace(line, grade="person", proof=f"signed by {by}")
    unproven = [piece for piece in slices if proofs[piece.id] is None]
    vacuous = {piece.id: _vacuous_proofs(workflow, piece, verified) for piece in unproven}
    if all(vacuous.values()):
        names = tuple(dict.fromkeys(name for names in vacuous.values() for name in names))
        return replace(line, vacuous=names, proof=vacuous_sentence(names, verified))
    ids = ", ".join(piece.id for piece in unproven)
    runs = {name: run for piece in unproven for name, run in _runs_of(piece, verified).items()}
    idle = (*runs.values(), *(verified.protected.checks.values() if verified.protected is not None else ()))
    failed_before = any(not workflow.controls[name].passed for name in runs if name in workflow.controls)
    return replace(line, proof=unproven_sentence(ids, idle, failed_before))


def _with_signed_tests(line: AuditLine, workflow: Workflow, verified: Verification) -> AuditLine:
    """The line, with the person who signed changed tests: a proof by these tests is the person's word."""
    protected = verified.protected
    if protected is None or not protected.needed_tests:
        return line
    files = ", ".join(protected.needed_tests[:5])
    by = next((sign.by for sign in workflow.signatures if protected.is_signed_by(sign.what, sign.digest)), None)
    if by is None:
        return replace(line, proof=f"only with changed tests, which a person must sign: {files}")
    return replace(line, grade="person", proof=f"{by} signed the changed tests {files}; with them, {line.proof}")


def is_slice_proven(workflow: Workflow, piece: Slice) -> bool:
    """Whether a check of the slice, or a person, proves it, and the check could be altered to see it fail."""
    proof = _proof_of_slice(workflow, piece, workflow.verification) if workflow.verification is not None else None
    return proof is not None and not proof.unaltered


class _SliceProof(msgspec.Struct, frozen=True):
    """What proves a slice: its best check, or a person."""

    grade: str
    sentence: str
    # Whether nothing in the proving checks could be altered to see them fail.
    unaltered: bool = False


def _proof_of_slice(workflow: Workflow, piece: Slice, verified: Verification) -> _SliceProof | None:
    runs = _runs_of(piece, verified)
    proving = [name for name, run in runs.items() if run.grade and name not in verified.immune]
    altered = [name for name in proving if name not in verified.unaltered]
    for grade in ("tests", "command"):
        for name in altered or proving:
            if runs[name].grade == grade:
                return _SliceProof(grade, runs[name].proof, unaltered=not altered)
    doubtful = [name for name, run in runs.items() if not run.base_judged or (run.grade and name in verified.immune)]
    digests = {check_digest(name, verified) for name in doubtful}
    by = next((signature.by for signature in workflow.signatures if signature.digest in digests), None)
    if by is None and piece.type == "HITL":
        by = "a person"  # without the signature the line would be missing
    return _SliceProof("person", f"signed by {by}") if by is not None else None


def _vacuous_proofs(workflow: Workflow, piece: Slice, verified: Verification) -> tuple[str, ...]:
    """The checks that would prove a slice if they could fail, and that no person signed."""
    proving = [name for name, run in _runs_of(piece, verified).items() if run.grade and name in verified.immune]
    return tuple(name for name in proving if not workflow.is_signed(name, check_digest(name, verified)))


def _runs_of(piece: Slice, verified: Verification) -> dict[str, CheckRun]:
    return {check.id: verified.checks[check.id] for check in piece.checks if check.id in verified.checks}


def _covers(signature: Signature, line: AuditLine, verified: Verification) -> bool:
    return signature.what == line.id and signature.digest == requirement_digest(line, verified)


def _line(name: str, source: Source, requirement: str, evidence: tuple[str, ...] | None) -> AuditLine:
    return AuditLine(
        id=name, source=source, requirement=requirement, status="missing" if evidence is None else "covered",
        evidence=evidence or (),
    )  # fmt: skip


def _of_slices(workflow: Workflow, slices: tuple[Slice, ...], verified: Verification | None) -> tuple[str, ...] | None:
    """The evidence of all these slices; None if one slice has none."""
    if not slices:
        return None
    proof: list[str] = []
    for piece in slices:
        for check in piece.checks:
            evidence = _of_check(check, verified)
            if evidence is None:
                return None
            proof += evidence
        if piece.type == "HITL":
            digest = signed_digest(piece, verified)
            by = next((s for s in workflow.signatures if s.what == piece.id and s.digest == digest), None)
            if by is None:
                return None
            proof.append(f"signed by {by.by} at {by.at}")
        elif not piece.checks:
            return None
    return tuple(proof)


def _of_check(check: Check, verified: Verification | None) -> tuple[str, ...] | None:
    run = verified.checks.get(check.id) if verified is not None else None
    if run is None or verified is None or not run.passed or run.tree != verified.tree:
        return None
    if run.digest not in ("", check.digest):
        return None  # a different command with the same name passed
    return (f"{check.id} → run {run.run_id} → exit {run.exit_code} → tree {run.tree[:12]}",)
