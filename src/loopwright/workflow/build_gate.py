"""Blockers between a build and its review, in the contract's order: lanes, tests, judges, audit, scope. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from loopwright.judging.flaky import flaky_sentence
from loopwright.wording.catalogue import few
from loopwright.workflow.audit import audited, check_digest
from loopwright.workflow.blockers import Blocker, Family, blocker
from loopwright.workflow.choices import look_command, with_choices
from loopwright.workflow.documents.page import Value
from loopwright.workflow.documents.record import Record
from loopwright.workflow.facts import Facts
from loopwright.workflow.lanes import against, incomplete
from loopwright.workflow.model import Workflow
from loopwright.workflow.slices import Slices
from loopwright.workflow.test_sentences import broken_sentence, changed_test_sentence, passes_when
from loopwright.workflow.verification import PROCESS_STATE, PROJECT_TESTS, RULES, Verification

_AGAINST = {"architect": Family.ARCHITECT, "deslop": Family.DESLOP, "regression": Family.REGRESSION}


def before_review(workflow: Workflow, facts: Facts) -> Iterator[Blocker]:
    """All blockers at once, each with what a person can do about it."""
    for found in _before_review(workflow, facts):
        yield with_choices(workflow, found)


def _before_review(workflow: Workflow, facts: Facts) -> Iterator[Blocker]:
    slug = workflow.slug
    for decision in workflow.decisions:
        if decision.answer is None:
            yield blocker(
                Family.DECISION_REQUIRED, decision.id, slug=slug, name=decision.id, question=decision.question
            )
    # With a signature the protected changes are part of the work: the other conditions are about that.
    open_changes, workflow = tuple(_protected(workflow)), as_if_signed(workflow)
    yield from _lanes(workflow, facts)
    yield from broken_tests(workflow)
    for delegation in facts.ledger.blocking:
        yield blocker(Family.DELEGATION_ACTIVE, delegation.id, slug=slug, name=delegation.id, scope=delegation.scope)
    yield from open_changes
    yield from _sealed(workflow)
    yield from _immune(workflow)
    yield from _unjudged(workflow)
    yield from _audit(workflow, facts)
    if facts.record_status != "complete":
        yield blocker(Family.EXECUTION_RECORD, facts.record_status, slug=slug, why=_missing(facts))
    if facts.manifest_problem:
        yield blocker(Family.CONTEXT_MANIFEST_INVALID, slug=slug, problem=facts.manifest_problem)
    yield from scope_of(workflow, facts)


def _lanes(workflow: Workflow, facts: Facts) -> Iterator[Blocker]:
    slug = workflow.slug
    for lane in incomplete(workflow.lanes, full=facts.gates.full):
        yield blocker(Family.LANE_INCOMPLETE, lane, slug=slug, lane=lane)
    verified = workflow.verification
    failed = [name for name, run in verified.checks.items() if not run.passed] if verified is not None else []
    if failed:
        yield blocker(Family.VERIFICATION, "failed", slug=slug, why=f"{', '.join(failed[:5])} failed")
    for lane, status in against(workflow.lanes) if facts.gates.full else ():
        yield blocker(_AGAINST[lane], status, slug=slug, status=status)


_OUTCOMES = {
    "passes_without": "the checks pass without this change, and {leave_out} leaves it out",
    "passes_only_with": "the checks pass only with this change",
    "fails_with": "the checks fail with this change, and {leave_out} leaves it out",
}


def _protected(workflow: Workflow) -> Iterator[Blocker]:
    """Protected changes that no person has signed or left out."""
    verified = workflow.verification
    protected = verified.protected if verified is not None else None
    if verified is None or protected is None or protected.decision != "open":
        return
    slug = workflow.slug
    leave_out = f"loopwright sign {slug} --without-protected"
    for path, did in protected.files.items():
        if protected.outcome == "passes_only_with" and path in protected.test_files:
            facts = changed_test_sentence(verified, protected, path)
            diff = look_command(slug, path)
            yield blocker(Family.CHANGED_TEST, path, slug=slug, path=path, diff=diff, **facts)
        else:
            outcome = _OUTCOMES[protected.outcome].format(leave_out=f"`{leave_out}`")
            needed = "only with it the tests prove the work" if path in protected.proving else ""
            why = "; ".join(filter(None, (protected.test_changes.get(path, ""), needed, outcome)))
            yield blocker(
                Family.SEALED_FILE_CHANGED,
                path,
                path=path,
                did=f"{did} the protected file",
                why=why,
                way=look_command(slug, path),
            )


def as_if_signed(workflow: Workflow) -> Workflow:
    """The workflow with its protected changes, if the proof needs them and no person has left them out."""
    verified = workflow.verification
    protected = verified.protected if verified is not None else None
    if verified is None or protected is None or not protected.is_needed:
        return workflow
    return replace(workflow, verification=verified.decided("signed"))


def _sealed(workflow: Workflow) -> Iterator[Blocker]:
    """A changed judge may be right; a person must look at it."""
    for path, digest in (workflow.verification.judges if workflow.verification is not None else {}).items():
        if workflow.is_signed(path, digest):
            continue
        if path == PROCESS_STATE and workflow.verification is not None:
            names = few(workflow.verification.changed_state, most=20)
            yield blocker(Family.PROCESS_STATE_CHANGED, slug=workflow.slug, names=names, what=PROCESS_STATE)
        else:
            why = "its code may decide by itself what the checks say"
            way = look_command(workflow.slug, path)
            yield blocker(Family.SEALED_FILE_CHANGED, path, path=path, did="changed", why=why, way=way)


def _immune(workflow: Workflow) -> Iterator[Blocker]:
    """A check that can no longer fail proves nothing."""
    verified = workflow.verification
    for name in verified.immune if verified is not None else ():
        if verified is None or (name in verified.checks and not verified.checks[name].grade):
            continue  # the tests that could not fail were left out
        if workflow.is_signed(name, check_digest(name, verified)):
            continue
        run = verified.immune_runs.get(name) or verified.checks[name].run_id
        yield blocker(
            Family.VACUOUS_CHECK, name, name=name, command=f"loopwright verify {run}", when=passes_when(name, verified),
            mend=look_command(workflow.slug),
        )  # fmt: skip


def _unjudged(workflow: Workflow) -> Iterator[Blocker]:
    """Checks and project tests that did not come to their end on the base: they count as no tests."""
    verified = workflow.verification
    if verified is None:
        return
    # Without a change there is nothing to compare; another blocker says so.
    compared = {} if verified.is_empty and verified.protected is None else verified.checks
    for name, run in compared.items():
        if not run.base_judged and not workflow.is_signed(name, check_digest(name, verified)):
            control = workflow.controls.get(name)
            base_run = control.run_id if control is not None else run.run_id
            yield blocker(Family.BASE_NOT_JUDGED, name, slug=workflow.slug, name=name, run=base_run)
    tests = verified.tests
    if tests is not None and not tests.base_judged and not workflow.is_signed(PROJECT_TESTS, tests_digest(verified)):
        run_id = tests.base_run_id
        yield blocker(Family.BASE_NOT_JUDGED, PROJECT_TESTS, slug=workflow.slug, name=PROJECT_TESTS, run=run_id)


def _audit(workflow: Workflow, facts: Facts) -> Iterator[Blocker]:
    verified = workflow.verification
    if verified is None:
        yield blocker(Family.COMPLETION_AUDIT_NOT_RUN, slug=workflow.slug)
        return
    if verified.rules != RULES:
        yield blocker(Family.JUDGING_RULES_CHANGED, slug=workflow.slug)
    elif verified.delivers_nothing:
        yield blocker(Family.NOTHING_CHANGED, slug=workflow.slug)
    # A person signs the other flags, each with its file.
    signed = tuple(f"{path}," for path in verified.judges)
    if flags := tuple(flag for flag in verified.flags if not flag.startswith(signed)):
        yield blocker(Family.FLAGGED, slug=workflow.slug, flag=few(flags), origin="build", target="review")
    if not isinstance(facts.slices, Slices):
        return
    audit = audited(workflow, facts)
    if audit.status == "blocked":
        missing = ", ".join(f"{line.id} ({line.requirement[:60]})" for line in audit.missing[:4])
        yield blocker(Family.COMPLETION_AUDIT_BLOCKED, slug=workflow.slug, missing=missing)
        yield blocker(Family.COMPLETION_AUDIT_MISSING_EVIDENCE, slug=workflow.slug, missing=missing)
    for line in audit.unproven:
        yield blocker(
            Family.UNPROVEN_REQUIREMENT, line.id, slug=workflow.slug, name=line.id, requirement=line.requirement,
            why=line.proof,
        )  # fmt: skip
    for line in audit.requirements:
        if line.unaltered:
            yield blocker(
                Family.UNALTERED_PROOF, line.id, slug=workflow.slug, name=line.id, requirement=line.requirement,
                origin="build", target="review",
            )  # fmt: skip


def _missing(facts: Facts) -> str:
    return ", ".join(facts.record.missing[:5]) if isinstance(facts.record, Record) else facts.record_status


_WHOLE = frozenset({"full", "complete", "workflow", "all"})


def scope_of(workflow: Workflow, facts: Facts) -> Iterator[Blocker]:
    """The scope that the execution record itself calls unfinished, by its optional keys."""
    slug, frontmatter = workflow.slug, facts.record.frontmatter if isinstance(facts.record, Record) else {}
    remaining = _list(frontmatter.get("remaining_scope"))
    if remaining:
        yield blocker(Family.PARTIAL_SCOPE_REMAINING, slug=slug, remaining=", ".join(remaining[:5]))
    claim = frontmatter.get("completion_claim")
    if isinstance(claim, str) and claim.strip() and claim.strip().lower() not in _WHOLE:
        yield blocker(
            Family.COMPLETION_CLAIM, claim.strip().lower().replace(" ", "_")[:40], slug=slug, claim=claim.strip()
        )
    planned, implemented = _list(frontmatter.get("planned_scope")), _list(frontmatter.get("implemented_scope"))
    if planned and set(planned) != set(implemented):
        left = sorted(set(planned) ^ set(implemented))
        yield blocker(Family.IMPLEMENTED_SCOPE_MISMATCH, slug=slug, difference=", ".join(left[:5]))


def _list(value: Value | None) -> list[str]:
    if value is None:
        return []
    listed = value if isinstance(value, list) else value.split(",")
    return [entry.strip() for entry in listed if entry.strip() and entry.strip().lower() not in ("none", "-")]


def broken_tests(workflow: Workflow) -> Iterator[Blocker]:
    """Tests that the work broke or may have broken, until they pass or a person signs for this tree."""
    verified = workflow.verification
    tests = verified.tests if verified is not None else None
    if verified is None or tests is None or workflow.is_signed(PROJECT_TESTS, tests_digest(verified)):
        return
    if tests.broken:
        yield blocker(
            Family.TESTS_BROKEN, str(tests.broken), slug=workflow.slug, failing=broken_sentence(tests),
            what=PROJECT_TESTS,
        )  # fmt: skip
    elif tests.is_unread:
        yield blocker(
            Family.TESTS_UNREAD, slug=workflow.slug, base_run=tests.base_run_id, run=tests.run_id, what=PROJECT_TESTS
        )


def tests_digest(verification: Verification) -> str:
    """What a signature on the project tests covers: the tests on that tree."""
    return f"{PROJECT_TESTS}@{verification.tree}"


def unreached_sentence(verification: Verification | None) -> str:
    """The changed functions that no check reaches, in a sentence; empty if there are none, or nothing is known."""
    names = verification.unreached if verification is not None else ()
    return f"changed functions that no check reaches: {few(names)}" if names else ""


def flaky_tests_sentence(verification: Verification | None) -> str:
    """The tests that are flaky on the base, in a sentence; empty if none is known."""
    return flaky_sentence(verification.flaky) if verification is not None else ""
