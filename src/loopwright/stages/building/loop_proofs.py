"""Tells the loop of a build what the gate to the review says about its work. The gate decides; the loop records.

A signature of a person counts as a proof here, because it opens the gate.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.loop import events as e
from loopwright.loop.model import Loop
from loopwright.loop.proof import TaskGrade, TaskProof
from loopwright.stages.context import Context, loops_of
from loopwright.workflow.audit import is_slice_proven
from loopwright.workflow.blockers import Blocker, Family, Stops
from loopwright.workflow.build_gate import before_review
from loopwright.workflow.facts import Facts
from loopwright.workflow.model import Approved, Key, UsedApproval, Workflow
from loopwright.workflow.store import Snapshot

# Each is about one requirement or one check: the other slices may be proven.
_OF_ONE_PART = (
    Family.UNPROVEN_REQUIREMENT, Family.UNALTERED_PROOF, Family.VACUOUS_CHECK, Family.BASE_NOT_JUDGED,
)  # fmt: skip


def record_proofs(context: Context, snapshot: Snapshot, loop_id: str) -> None:
    """Record what proves each task of the build, unless the loop says so already."""
    loops = loops_of(context)
    proofs = _proofs(snapshot.workflow, snapshot.facts, loops.load(loop_id))
    with loops.changing(loop_id) as opened:
        opened.apply(e.BuildJudged(proofs=proofs), "tool")


def _proofs(workflow: Workflow, facts: Facts, loop: Loop) -> tuple[TaskProof, ...]:
    blockers = tuple(_blockers(workflow, facts))
    return tuple(_proof(workflow, facts, proof.task_id, blockers) for proof in loop.validation.proofs)


def _blockers(workflow: Workflow, facts: Facts) -> Iterator[Blocker]:
    """What keeps the gate closed. The execution record is written after the work, and says nothing about it."""
    is_approved = isinstance(workflow.approval(Key.REVIEW), Approved | UsedApproval)
    for blocker in before_review(workflow, facts):
        is_answered = blocker.family is not None and blocker.family.stops is Stops.POLICY and is_approved
        if blocker.family is not Family.EXECUTION_RECORD and not is_answered:
            yield blocker


def _proof(workflow: Workflow, facts: Facts, task_id: str, blockers: tuple[Blocker, ...]) -> TaskProof:
    if not blockers:
        return TaskProof(task_id=task_id, grade=TaskGrade.PROVEN)
    piece = facts.readable_slices.slice(task_id)
    is_only_unproven = all(blocker.family in _OF_ONE_PART for blocker in blockers)
    if is_only_unproven and piece is not None and is_slice_proven(workflow, piece):
        return TaskProof(task_id=task_id, grade=TaskGrade.PROVEN)
    # Agents read the state of a loop, and blockers may name a hidden check.
    reason = f"the gate to the review is closed: `loopwright status {workflow.slug}` shows why"
    grade = TaskGrade.CHANGED if is_only_unproven else TaskGrade.UNPROVEN
    return TaskProof(task_id=task_id, grade=grade, reason=reason)
