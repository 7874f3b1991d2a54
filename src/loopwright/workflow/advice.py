"""What a person should do next: the exact command, the state of each approval, and the evidence behind each claim."""

from __future__ import annotations

from typing import Any

import msgspec

from loopwright.wording.catalogue import few
from loopwright.wording.choices import PersonChoice
from loopwright.workflow.audit import check_digest
from loopwright.workflow.blockers import Blocker
from loopwright.workflow.choices import before_approval
from loopwright.workflow.facts import Facts
from loopwright.workflow.model import (
    FORWARD,
    Approved,
    Archived,
    Done,
    NotRequested,
    Transition,
    UsedApproval,
    Workflow,
)
from loopwright.workflow.stage import Stage
from loopwright.workflow.standing import Standing, status_of, why_void
from loopwright.workflow.test_sentences import tests_sentence


class EvidenceClaim(msgspec.Struct, frozen=True):
    """One claim, its basis and its consequence."""

    claim: str
    basis: str
    implication: str


def next_transition(workflow: Workflow) -> Transition | None:
    """The next transition: forward, or back to where the review sent the change; None at the end."""
    review = workflow.review
    if workflow.stage is Stage.REVIEW and review is not None and review.verdict == "request-changes":
        return Transition(f"review->{(review.target or Stage.BUILD).value}")
    return FORWARD.get(workflow.stage)


def what_blocks(workflow: Workflow, standing: Standing) -> tuple[Blocker, ...]:
    """The blockers of the next transition, approvals aside."""
    transition = next_transition(workflow)
    if transition is None:
        is_open = isinstance(workflow.at, Done) and not workflow.is_quick
        return standing.readiness.archive if is_open else ()
    return () if transition.is_rollback else standing.readiness.before(transition.target)


def next_choices(workflow: Workflow, standing: Standing) -> tuple[PersonChoice, ...]:
    """The commands that come next: one, or those among which a person chooses, in an honest order."""
    command = next_command(workflow, standing)
    blockers = what_blocks(workflow, standing)
    choices = blockers[0].choices if blockers else _before_approval(workflow, standing)
    if workflow.is_quick:
        return (PersonChoice(command),)
    # An open question comes before everything else.
    return choices if choices and choices[0].command == command else (PersonChoice(command),)


def _before_approval(workflow: Workflow, standing: Standing) -> tuple[PersonChoice, ...]:
    if next_transition(workflow) is not Transition.BUILD_REVIEW:
        return ()
    return before_approval(workflow.slug, standing.for_a_person.review)


def next_command(workflow: Workflow, standing: Standing) -> str:
    """The exact command that comes next."""
    slug = workflow.slug
    open_decision = next((decision for decision in workflow.decisions if decision.answer is None), None)
    if open_decision is not None:
        return f'loopwright answer {slug} {open_decision.id} "…"'
    if workflow.is_quick:
        return _after_do(workflow)
    if isinstance(workflow.at, Archived):
        return f"loopwright archive {slug}" if workflow.at.pending else "loopwright specs verify"
    blockers = what_blocks(workflow, standing)
    if blockers:
        return blockers[0].next or f"loopwright status {slug}"
    transition = next_transition(workflow)
    if transition is None:
        return f"loopwright archive {slug}"
    if transition.is_rollback and workflow.review is not None and workflow.review.unasked:
        return f"loopwright review {slug} --reviewer …"
    if transition is Transition.BUILD_REVIEW and standing.is_rejected(transition.target):
        return f"loopwright build {slug}"
    approval = workflow.approval(transition.key)
    is_consented = isinstance(approval, Approved) and approval.transition is transition
    # No command uses the last approval: if the delivery failed, a person approves again.
    if is_consented and transition.target is not Stage.DONE and not why_void(approval, standing):
        stage = transition.target.value
        return f"loopwright {stage} {slug}"
    if choices := _before_approval(workflow, standing):
        return choices[0].command
    return f"loopwright approve {slug} --from {transition.origin.value} --to {transition.target.value}"


def _after_do(workflow: Workflow) -> str:
    """`do` shows where its work is and asks again; what it delivered can be undone."""
    if not isinstance(workflow.at, Done):
        return f"loopwright do --continue {workflow.slug}"
    return f"loopwright undo {workflow.slug}" if workflow.at.delivery is not None else "loopwright status"


def authorizations(workflow: Workflow, standing: Standing) -> dict[str, Any]:
    """For each gate: whether an approval is valid, and for what."""
    named = {
        "plan": Transition.CLARIFY_PLAN,
        "build": Transition.PLAN_BUILD,
        "review": Transition.BUILD_REVIEW,
        "done": Transition.REVIEW_DONE,
        "rollback": Transition.REVIEW_PLAN,
    }
    document = {}
    for name, usual in named.items():
        approval = workflow.approval(usual.key)
        transition = usual if isinstance(approval, NotRequested) else approval.transition
        why = why_void(approval, standing)
        document[name] = {
            "authorized": isinstance(approval, Approved | UsedApproval) and not why,
            "approval_status": status_of(approval, standing),
            "transition": transition.value,
            **({"why": why} if why else {}),
        }
    return document


def evidence_chain(workflow: Workflow, facts: Facts, standing: Standing) -> tuple[EvidenceClaim, ...]:
    """Claims with their basis: each link is something that Loopwright read or ran itself."""
    links = [EvidenceClaim("the spec is clear enough", facts.spec_sentence, _follows(workflow, standing, Stage.PLAN))]
    if workflow.stage is not Stage.CLARIFY:
        passed = sum(control.passed for control in workflow.controls.values())
        basis = f"checks run on the base: {len(workflow.controls)}; already passing there: {passed}"
        if silent := tuple(name for name, control in workflow.controls.items() if control.finds_no_test):
            basis += f"; finding no test there: {few(silent)}"
        links.append(
            EvidenceClaim("the plan can be built and checked", basis, _follows(workflow, standing, Stage.BUILD))
        )
    verified = workflow.verification
    if verified is not None:
        # The loop counts checks that can't fail as failed.
        immune = tuple(name for name in verified.immune if not workflow.is_signed(name, check_digest(name, verified)))
        passed = sum(run.passed and name not in immune for name, run in verified.checks.items())
        basis = f"{passed} of {len(verified.checks)} checks passed on tree {verified.tree[:12]}"
        protected = verified.protected
        if protected is not None and protected.decision == "open" and protected.outcome == "passes_only_with":
            basis += f"; {sum(run.passed for run in protected.checks.values())} with the changes to protected files"
        if immune:
            basis += f"; these do not count, because they pass whatever they expect: {few(immune)}"
        links.append(EvidenceClaim("the change is built", basis, _follows(workflow, standing, Stage.REVIEW)))
        rest = tests_sentence(workflow, facts.gates)
        links.append(EvidenceClaim("the rest still works", rest, _follows(workflow, standing, Stage.REVIEW)))
    if workflow.review is not None:
        basis = f"{workflow.review.reviewer}: {workflow.review.verdict} on tree {workflow.review.tree[:12]}"
        links.append(EvidenceClaim("the change was reviewed", basis, _follows(workflow, standing, Stage.DONE)))
    return tuple(links)


def _follows(workflow: Workflow, standing: Standing, stage: Stage) -> str:
    """What follows for the gate to a stage: a gate behind the work neither opens nor closes."""
    stages = list(Stage)
    if stages.index(workflow.stage) >= stages.index(stage):
        return f"the gate to {stage.value} was passed"
    is_closed = bool(standing.readiness.before(stage))
    return f"the gate to {stage.value} is closed" if is_closed else f"the gate to {stage.value} is open"
