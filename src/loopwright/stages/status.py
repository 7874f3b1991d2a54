"""The status of a workflow, derived from the files on disk."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Literal

import msgspec

from loopwright.agents.failover import Takeover
from loopwright.errors import LoopwrightError
from loopwright.kernel.locks import is_held
from loopwright.loop.guidance import way_on
from loopwright.loop.model import Held, Loop, Spent
from loopwright.stages.context import Context, workflows_of
from loopwright.stages.deliver import finish
from loopwright.stages.spending import loops_for, spent_on, takeovers_of
from loopwright.wording.choices import Choice
from loopwright.workflow.advice import (
    EvidenceClaim,
    authorizations,
    evidence_chain,
    next_choices,
    next_transition,
    what_blocks,
)
from loopwright.workflow.audit import AuditLine, audited
from loopwright.workflow.blockers import Blocker, Family
from loopwright.workflow.build_gate import as_if_signed, flaky_tests_sentence, unreached_sentence
from loopwright.workflow.facts import Facts
from loopwright.workflow.flight import LANDED, used_by
from loopwright.workflow.model import Amounts, Building, Cost, Flight, Workflow
from loopwright.workflow.projection import readiness_document, stage_status
from loopwright.workflow.slices import Slices
from loopwright.workflow.standing import Standing, authorization_blockers
from loopwright.workflow.store import Snapshot
from loopwright.workflow.test_sentences import changed_command_sentence, tests_sentence
from loopwright.workflow.verdict import Review


class FlightView(msgspec.Struct, frozen=True):
    """The autopilot of a workflow: stage, cost, and whether it is running."""

    flight: Flight
    used: Amounts
    status: Literal["flying", "interrupted", "stopped", "done"]

    def document(self) -> dict[str, Any]:
        """The view for programs."""
        flight = self.flight
        return {
            "status": self.status,
            "phase": flight.phase.value,
            "by": flight.by,
            "since": flight.since,
            "reason": flight.ended,
            "message": flight.message,
            "limits": msgspec.to_builtins(flight.limits),
            "used": msgspec.to_builtins(self.used),
        }


class WorkflowView(msgspec.Struct, frozen=True):
    """A workflow and everything that is derived from it."""

    workflow: Workflow
    standing: Standing
    chain: tuple[EvidenceClaim, ...]
    blockers: tuple[Blocker, ...]
    # The commands among which a person chooses; the first comes next.
    choices: tuple[Choice, ...]
    stage_status: str
    # The cost of agents, as far as they reported it, and the number of requirements that are proven or signed.
    usd: float
    tokens: int
    turns: int
    verified: int
    roles: dict[str, Spent]
    flight: FlightView | None
    # Agents that took over from a failed agent.
    takeovers: tuple[Takeover, ...]
    # A sentence on the tests of the project; empty before a verification.
    rest_of_project: str = ""
    # A sentence on changed functions that no check reaches; empty without a coverage report.
    unreached: str = ""
    # A sentence on tests with both results on the base; empty if none is known.
    flaky: str = ""
    # A sentence if the test command changed after the plan was approved; empty otherwise.
    changed_command: str = ""
    # The requirements with what proves each; empty before a verification.
    requirements: tuple[AuditLine, ...] = ()
    # The files that the plan lets the work change, if the plan names them, and those that the settings do not allow.
    scope: tuple[str, ...] = ()
    scope_wanted: tuple[str, ...] = ()
    # A sentence if the settings let agents reach the person's session.
    weak_isolation: str = ""

    @property
    def next(self) -> str:
        """The command that comes next."""
        return self.choices[0].command

    @property
    def usd_per_requirement(self) -> float | None:
        """Cost per verified requirement; None before there is one."""
        return round(self.usd / self.verified, 4) if self.verified else None

    @property
    def is_approved(self) -> bool:
        """Whether nothing is missing for the next transition, and a person approved it."""
        transition = next_transition(self.workflow)
        if transition is None or self.blockers:
            return False
        return not authorization_blockers(self.workflow, transition, self.standing)

    @property
    def denials(self) -> tuple[Blocker, ...]:
        """Why the next transition was rejected, or its approval is void: shown when a person is asked again."""
        transition = next_transition(self.workflow)
        blockers = authorization_blockers(self.workflow, transition, self.standing) if transition is not None else ()
        return tuple(blocker for blocker in blockers if blocker.family is not Family.APPROVAL_MISSING)

    def document(self) -> dict[str, Any]:
        """The view for programs."""
        workflow = self.workflow
        return {
            "slug": workflow.slug,
            "stage": workflow.stage.value,
            "stage_status": self.stage_status,
            "revision": workflow.revision,
            "readiness": readiness_document(self.standing.readiness),
            "authorization": authorizations(workflow, self.standing),
            "review": _review(workflow.review),
            "requirements": [_proof(line) for line in self.requirements],
            "unreached_functions": list(workflow.verification.unreached) if workflow.verification is not None else [],
            "flaky_tests": list(workflow.verification.flaky) if workflow.verification is not None else [],
            "flags": list(workflow.verification.flags) if workflow.verification is not None else [],
            "evidence_chain": [msgspec.to_builtins(link) for link in self.chain],
            "decisions": [msgspec.to_builtins(decision) for decision in workflow.decisions],
            "cost": {
                "usd": self.usd,
                "tokens": self.tokens,
                "turns": self.turns,
                "roles": {role: _amounts(spent) for role, spent in self.roles.items()},
                "verified_requirements": self.verified,
                "usd_per_verified_requirement": self.usd_per_requirement,
            },
            "takeovers": [msgspec.to_builtins(takeover) for takeover in self.takeovers],
            "origin": msgspec.to_builtins(workflow.origin),
            "autopilot": self.flight.document() if self.flight is not None else None,
            "recommended_next_action": self.next,
            "choices": [msgspec.to_builtins(choice) for choice in self.choices],
            **({"scope": {"planned": self.scope, "wanted": self.scope_wanted}} if self.scope else {}),
            **({"weak_isolation": self.weak_isolation} if self.weak_isolation else {}),
        }


def view_workflow(context: Context, slug: str) -> WorkflowView:
    """One workflow: stage, blockers, cost, and the next command. An interrupted delivery is finished first."""
    with workflows_of(context).changing(slug) as opened:
        finish(context, slug)
        snapshot = opened.snapshot()
    return view_of(context, snapshot)


def view_of(context: Context, snapshot: Snapshot) -> WorkflowView:
    """The view of a workflow in this snapshot, with the current cost of its loops."""
    workflow, facts, standing = snapshot.workflow, snapshot.facts, snapshot.standing
    loops = loops_for(context, workflow)
    spent = spent_on(workflow, loops)
    requirements = _requirements(as_if_signed(workflow), facts)
    return WorkflowView(
        workflow=workflow,
        standing=standing,
        chain=evidence_chain(workflow, facts, standing),
        blockers=what_blocks(workflow, standing),
        choices=_choices(context, workflow, standing, loops),
        stage_status=stage_status(workflow, standing),
        usd=spent.usd,
        tokens=spent.tokens,
        turns=spent.turns,
        verified=sum(bool(line.grade) for line in _requirements(workflow, facts)),
        roles=_roles(workflow, loops),
        flight=_flight(context, workflow, spent),
        takeovers=takeovers_of(workflow, loops),
        rest_of_project=tests_sentence(workflow, facts.gates),
        unreached=unreached_sentence(workflow.verification),
        flaky=flaky_tests_sentence(workflow.verification),
        changed_command=changed_command_sentence(workflow, facts.gates),
        requirements=requirements,
        scope=(*(facts.readable_slices.scope or ()), *facts.readable_slices.scope_wanted),
        scope_wanted=facts.wider_scope,
        weak_isolation=_weak_isolation(context),
    )


def _weak_isolation(context: Context) -> str:
    if not context.settings.values.sandbox.allow_weak:
        return ""
    return "sandbox.allow_weak is set: while you watch, agents may work although they could reach your session"


def _choices(context: Context, workflow: Workflow, standing: Standing, loops: list[Loop]) -> tuple[Choice, ...]:
    """The next commands. A build that a process drives is watched or resumed, not started again."""
    at = workflow.at
    loop = next((loop for loop in loops if isinstance(at, Building) and loop.loop_id == at.loop_id), None)
    has_question = any(decision.answer is None for decision in workflow.decisions)
    if loop is not None and not loop.is_over and not has_question and is_held(context.layout.loop_worker(loop.loop_id)):
        is_paused = isinstance(loop.phase, Held)
        return (Choice(f"loopwright loop resume {loop.loop_id}" if is_paused else way_on(loop, has_worker=True)[0]),)
    return next_choices(workflow, standing)


def _flight(context: Context, workflow: Workflow, spent: Amounts) -> FlightView | None:
    flight = workflow.flight
    if flight is None:
        return None
    if flight.ended is not None:
        status: Literal["flying", "interrupted", "stopped", "done"] = "done" if flight.ended == LANDED else "stopped"
    else:
        status = "flying" if is_held(context.layout.lock(f"autopilot-{workflow.slug}")) else "interrupted"
    return FlightView(flight, used_by(flight, spent), status)


def _roles(workflow: Workflow, loops: list[Loop]) -> dict[str, Spent]:
    """The cost of each role, in the order of their first turns."""
    by_role: dict[str, Spent] = {}
    parts = [(cost.role, _spent_in_turn(cost)) for cost in workflow.costs]
    parts += [part for loop in loops for part in loop.spent_by_role.items()]
    for role, spent in parts:
        by_role[role] = by_role.get(role, Spent()) + spent
    return by_role


def _spent_in_turn(cost: Cost) -> Spent:
    usd = cost.usd or 0.0
    return Spent(
        usd=usd,
        tokens=cost.tokens or 0,
        wall_s=cost.wall_s,
        turns=1,
        usd_known=cost.usd is not None,
        usd_computed=usd if cost.is_computed else 0.0,
    )


def _amounts(spent: Spent) -> dict[str, Any]:
    return {
        "usd": round(spent.usd, 6),
        "usd_known": spent.usd_known,
        "usd_computed": round(spent.usd_computed, 6),
        "tokens": spent.tokens,
        "wall_s": round(spent.wall_s, 3),
        "turns": spent.turns,
    }


def refresh(context: Context, slugs: Iterable[str]) -> None:
    """Derive the `state.json` of these workflows again; unreadable workflows are skipped, `show` reports the reason."""
    for slug in slugs:
        with suppress(LoopwrightError):
            view_workflow(context, slug)


def _requirements(workflow: Workflow, facts: Facts) -> tuple[AuditLine, ...]:
    """Each requirement with what proves it."""
    if workflow.verification is None or not isinstance(facts.slices, Slices):
        return ()
    return audited(workflow, facts).requirements


def _review(review: Review | None) -> dict[str, Any] | None:
    if review is None:
        return None
    return {
        "verdict": review.verdict,
        "reviewer": review.reviewer,
        "requested_by": list(review.requested_by),
        "rationale": review.rationale,
        "unread": review.unread,
        "target": review.target.value if review.target is not None else None,
    }


def _proof(line: AuditLine) -> dict[str, Any]:
    return {
        "id": line.id,
        "requirement": line.requirement,
        "status": line.status,
        "grade": line.grade,
        "proof": line.proof,
        "unaltered": line.unaltered,
    }
