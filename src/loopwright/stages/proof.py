"""Recomputes the evidence that a gate rests on: every run that a workflow names, against what its review recorded."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from loopwright.errors import LoopwrightError
from loopwright.evidence.store import RECORDED
from loopwright.evidence.verify import Verifier
from loopwright.stages.context import Context, loops_of
from loopwright.workflow.facts import Facts
from loopwright.workflow.model import Archived, Workflow
from loopwright.workflow.upkeep import look


def recorded_digests(context: Context, runs: Iterable[str]) -> dict[str, str]:
    """The digest of each run's evidence in the journal of runs; a run that the journal lacks is left out."""
    wanted = set(runs)
    digests = {entry.data["run_id"]: entry.data["evidence_sha256"] for entry in context.store.recorded()}
    return {run: digest for run, digest in digests.items() if run in wanted}


def contradicted_runs(context: Context) -> dict[str, str]:
    """Each run that the journal of runs lost or recorded again, by what workflows, loops and folders say; and why."""
    entries = context.store.journal.entries()
    digests = {entry.data["run_id"]: entry.data["evidence_sha256"] for entry in entries if entry.kind == RECORDED}
    known = digests.keys() | context.store.collected()
    contradicted = {
        run: f"{owner} names it, but the journal of runs does not: the journal lost its end, or was removed"
        for run, owner in _named_runs(context).items()
        if run not in known
    }
    for run in context.store.lost():
        contradicted.setdefault(run, "it is complete, but the journal of runs does not record it: see `doctor --fix`")
    for slug, workflow in _workflows(context):
        reviewed = workflow.review.evidence if workflow.review is not None else {}
        for run, digest in reviewed.items():
            if digests.get(run, digest) != digest:
                contradicted[run] = f"its record was replaced after the review of {slug}"
    return contradicted


def _workflows(context: Context) -> Iterator[tuple[str, Workflow]]:
    """All readable workflows; `doctor` reports the others."""
    for slug in context.layout.workflow_slugs():
        workflow = look(context.layout.workflow(slug)).workflow
        if workflow is not None:
            yield slug, workflow


def _named_runs(context: Context) -> dict[str, str]:
    """Each run that a workflow or a loop rests on, with its owner.

    gc may have removed a run of an archived workflow, or of a build's loop. Such a run counts only while its folder
    exists.
    """
    named: dict[str, str] = {}
    for slug, workflow in _workflows(context):
        verified = workflow.verification
        controls = [control.run_id for control in workflow.controls.values()]
        runs = [*controls, *(verified.run_ids if verified is not None else ())]
        is_over = isinstance(workflow.at, Archived)
        named |= {run: slug for run in runs if not is_over or context.store.has_evidence(run)}
    for loop_id in loops_of(context).ids():
        with suppress(LoopwrightError):  # `doctor` reports a loop that can't be read
            loop = loops_of(context).load(loop_id)
            run = loop.validation.run_id
            if run and (loop.workflow is None or context.store.has_evidence(run)):
                named.setdefault(run, loop_id)
    return named


def runs_behind(workflow: Workflow, facts: Facts) -> tuple[str, ...]:
    """The runs on the work, and the runs on the base that show that the checks can fail."""
    verified = workflow.verification
    checks = {check.id: check.digest for check in facts.readable_slices.checks}
    controls = (control.run_id for name, control in workflow.controls.items() if checks.get(name) == control.digest)
    return tuple(dict.fromkeys((*(verified.run_ids if verified is not None else ()), *controls)))


def evidence_problems(context: Context, workflow: Workflow, facts: Facts) -> dict[str, str]:
    """Each run that no longer verifies, and why. Reads everything again; changes nothing."""
    return dict(_problems(context, workflow, runs_behind(workflow, facts)))


def _problems(context: Context, workflow: Workflow, runs: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    reviewed = workflow.review.evidence if workflow.review is not None else {}
    with tempfile.TemporaryDirectory(prefix="loopwright-verify-") as scratch:
        try:
            verifier = Verifier(context.store, context.repository(), Path(scratch))
            digests = verifier.digests
        except LoopwrightError as problem:
            yield from ((run, problem.message) for run in runs)
            return
        for run in runs:
            if run not in digests:
                yield run, "the journal of runs does not name it"
            elif reviewed.get(run, digests[run]) != digests[run]:
                yield run, "its record was replaced after the review"
            elif mismatches := verifier.verify(run).mismatches:
                yield run, mismatches[0]
