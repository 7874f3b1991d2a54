"""Objections that need no judgment: approvals, record, independence, scope and evidence; and the risk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from loopwright.reflection.risk import RiskVerdict, evaluate_risk_floor, raised_by_flags
from loopwright.reflection.untracked import lines_of
from loopwright.stages.agent_choice import builder_behind, doer_behind
from loopwright.stages.context import Context
from loopwright.stages.proof import evidence_problems
from loopwright.stages.reflecting import rules_of
from loopwright.stages.reviewing.reviewers import ReviewRequest
from loopwright.workflow.build_gate import scope_of
from loopwright.workflow.documents.record import Record
from loopwright.workflow.facts import Facts
from loopwright.workflow.model import Key
from loopwright.workflow.reviewing import Objection, PatchFacts, patch_facts
from loopwright.workflow.stage import Stage
from loopwright.workflow.standing import moved_approvals
from loopwright.workflow.store import Snapshot
from loopwright.workflow.verification import Verification

TOOL = "loopwright"


def objections_to(context: Context, snapshot: Snapshot, request: ReviewRequest) -> Iterator[Objection]:
    """Objections to the work; each names the stage that has to fix it."""
    yield from _moved(snapshot)
    yield from _in_the_record(context, snapshot.facts, request)
    for blocker in scope_of(snapshot.workflow, snapshot.facts):
        yield Objection(Stage.BUILD, blocker.message)
    for run_id, why in evidence_problems(context, snapshot.workflow, snapshot.facts).items():
        yield Objection(Stage.BUILD, f"the evidence of {run_id} does not match: {why}")


def risk_of(context: Context, verified: Verification, patch: bytes) -> RiskVerdict:
    """The risk of the work, judged by its paths and lines, and by code that could deceive a check."""
    change = patch_facts(patch)
    threshold = context.settings.values.risk.threshold
    files = tuple(sorted(verified.files))
    rules = rules_of(context)
    lost = _lost(context.project, change)
    risk = evaluate_risk_floor(files, change.insertions, change.deletions, threshold, rules, change.kinds, lost)
    return raised_by_flags(risk, verified.flags)


def _lost(project: Path, change: PatchFacts) -> dict[str, tuple[int, int]]:
    """The removed and earlier lines of files that lose lines. The project still has its files before the work."""
    lost = {}
    for path, (_, removed) in change.counts.items():
        before = removed if path in change.deleted else lines_of(os.fsencode(project / path))
        if removed and before:
            lost[path] = removed, max(before, removed)
    return lost


def _moved(snapshot: Snapshot) -> Iterator[Objection]:
    """Approved content that changed after the approval."""
    for key, target in ((Key.PLAN, Stage.PLAN), (Key.BUILD, Stage.BUILD)):
        for blocker in moved_approvals(snapshot.workflow, snapshot.standing, key):
            yield Objection(target, blocker.message)


def _in_the_record(context: Context, facts: Facts, request: ReviewRequest) -> Iterator[Objection]:
    record = facts.record
    if not isinstance(record, Record) or record.missing:
        lacks = ", ".join(record.missing[:5]) if isinstance(record, Record) else facts.record_status
        yield Objection(Stage.PLAN, f"the execution record is incomplete: {lacks}")
    elif not record.frontmatter.get("evidence_manifest"):
        yield Objection(Stage.PLAN, "the execution record lists no evidence")
    else:
        yield from _not_independent(context, record, request)


def _not_independent(context: Context, record: Record, request: ReviewRequest) -> Iterator[Objection]:
    """An agent that built a part of the work cannot review it, not even under another name. People may."""
    reviewer = request.reviewer or TOOL
    if reviewer in record.actors:
        yield Objection(Stage.PLAN, f"{reviewer} built the work and cannot review it")
    elif (
        request.reviewer
        and request.verdict is None
        and (builder := builder_behind(context, record, reviewer)) is not None
    ):
        doer = doer_behind(context, reviewer)
        why = f"{reviewer} and the builder {builder} are both {doer}: no agent reviews its own work"
        hint = "name another reviewer"
        if doer.has_model:
            hint = f"name another reviewer, or set another agents.{reviewer}.model"
        yield Objection(Stage.PLAN, f"{why}; {hint}")
