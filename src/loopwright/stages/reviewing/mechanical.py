"""What a machine can see of a build without judgment: consents, record, independence, scope, evidence and risk."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from loopwright.errors import LoopwrightError
from loopwright.evidence.verify import verify_run
from loopwright.reflection.risk import RiskVerdict, evaluate_risk_floor
from loopwright.stages.agent_choice import builder_behind, doer_behind
from loopwright.stages.context import Context
from loopwright.stages.reflecting import rules_of
from loopwright.stages.reviewing.reviewers import ReviewRequest
from loopwright.workflow.build_gate import scope_blockers
from loopwright.workflow.documents.record import Record
from loopwright.workflow.facts import Facts
from loopwright.workflow.model import Key, Stage, Workflow
from loopwright.workflow.reviewing import Objection, patch_facts
from loopwright.workflow.standing import broken_promises
from loopwright.workflow.store import Snapshot
from loopwright.workflow.verification import Verification

TOOL = "loopwright"


def objections_to(
    context: Context, snapshot: Snapshot, verified: Verification, request: ReviewRequest
) -> Iterator[Objection]:
    """What speaks against the work; each objection names the stage that has to answer it."""
    yield from _moved(snapshot)
    yield from _in_the_record(context, snapshot.facts, request)
    yield from _left_of_the_scope(snapshot.workflow, snapshot.facts)
    yield from _in_the_evidence(context, verified)


def risk_of(context: Context, verified: Verification, patch: bytes) -> RiskVerdict:
    """The risk floor of the work, by its paths and lines alone."""
    said = patch_facts(patch)
    threshold = context.settings.values.risk.threshold
    files = tuple(sorted(verified.files))
    return evaluate_risk_floor(files, said.insertions, said.deletions, threshold, rules_of(context), said.kinds)


def _moved(snapshot: Snapshot) -> Iterator[Objection]:
    """What was consented to and has changed since: built again, it is checked again."""
    for key, target in ((Key.PLAN, Stage.PLAN), (Key.BUILD, Stage.BUILD)):
        for one in broken_promises(snapshot.workflow, snapshot.standing, key):
            yield Objection(target, one.message)


def _in_the_record(context: Context, facts: Facts, request: ReviewRequest) -> Iterator[Objection]:
    record = facts.record
    if not isinstance(record, Record) or record.missing:
        lacks = ", ".join(record.missing[:5]) if isinstance(record, Record) else facts.record_status
        yield Objection(Stage.PLAN, f"the execution record is incomplete: {lacks}")
    elif not record.frontmatter.get("evidence_manifest"):
        yield Objection(Stage.PLAN, "the execution record names no evidence")
    else:
        yield from _not_independent(context, record, request)


def _left_of_the_scope(workflow: Workflow, facts: Facts) -> Iterator[Objection]:
    record = facts.record
    for one in scope_blockers(workflow.slug, record.frontmatter if isinstance(record, Record) else {}):
        yield Objection(Stage.BUILD, one.message)


def _in_the_evidence(context: Context, verified: Verification) -> Iterator[Objection]:
    for run_id in verified.run_ids:
        mismatches = _mismatches(context, run_id)
        if mismatches:
            yield Objection(Stage.BUILD, f"the evidence of {run_id} does not hold: {mismatches[0]}")


def _mismatches(context: Context, run_id: str) -> tuple[str, ...]:
    """What in a run's evidence is not as it was recorded."""
    try:
        with tempfile.TemporaryDirectory(prefix="loopwright-verify-") as scratch:
            run = context.store.resolve(run_id)
            return verify_run(context.store, run, context.repository(), Path(scratch)).mismatches
    except LoopwrightError as problem:
        return (problem.message,)


def _not_independent(context: Context, record: Record, request: ReviewRequest) -> Iterator[Objection]:
    """An agent that built any part of the work can't review it, also under another name; a person is who they say."""
    reviewer = request.reviewer or TOOL
    if reviewer in record.actors:
        yield Objection(Stage.PLAN, f"{reviewer} built it and can't review it")
    elif (
        request.reviewer
        and request.verdict is None
        and (builder := builder_behind(context, record, reviewer)) is not None
    ):
        doer = doer_behind(context, reviewer)
        why = f"{reviewer} and {builder}, which built it, are both {doer}: no agent reviews its own work"
        way = f"name another one, or set another agents.{reviewer}.model" if doer.has_model else "name another one"
        yield Objection(Stage.PLAN, f"{why}; {way}")
