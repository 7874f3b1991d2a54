"""Every proposal in every state of a workflow, and no event that is not a proposal."""

from __future__ import annotations

from typing import get_args

import pytest

from loopwright.agents.failover import Takeover
from loopwright.workflow import commands as c
from loopwright.workflow import events as e
from loopwright.workflow.model import (
    Amounts,
    Archived,
    Building,
    Clarifying,
    Cost,
    Decision,
    Delivery,
    Done,
    Flight,
    OpenTurn,
    Planning,
    PlanRound,
    Reviewing,
    Round,
    Signature,
    SpecBase,
    SpendingLimits,
    Subject,
    Transition,
    Workflow,
    Write,
)
from loopwright.workflow.profiles import PROFILES
from loopwright.workflow.rules import Accepted, Refused, decide
from loopwright.workflow.stage import Stage
from loopwright.workflow.standing import Readiness, Standing
from loopwright.workflow.verdict import Review
from loopwright.workflow.verification import Verification

AT = "2026-01-01T00:00:00Z"
READY = Standing(Readiness(), dict.fromkeys(Transition, Subject(parts={"spec.md": "a" * 64})))
BASE = SpecBase(domains={"d": {"r": "a"}}, delta={"d: r": "a"})
DELIVERY = Delivery(how="patch", where="main", before="c", patch_sha256="p")
WRITE = Write(kind="spec", path="p", before="", after="a", domain="d")
STATES = {
    "clarify": Clarifying(),
    "plan": Planning(spec="s"),
    "build": Building(plan="p"),
    "review": Reviewing(evidence="v"),
    "done": Done(delivery=DELIVERY),
    "archived": Archived(change_id="chg-x", delivery=DELIVERY, folder="f", writes=(WRITE,)),
}
ALL = "clarify plan build review done"
T = Transition.CLARIFY_PLAN
# Each proposal with the states that accept it. In every state a question is open and the autopilot is active.
TABLE = (
    (c.Begin(slug="x", idea="i", profile=PROFILES["deep"]), ""),
    (c.RequestApproval(transition=T, standing=READY), ALL),
    (c.Approve(transition=T, standing=READY, by="ann"), "clarify"),
    (e.ApprovalRefused(transition=T, reason="no", by="ann"), "clarify"),
    (c.Enter(transition=T, standing=READY), ""),
    (e.ProfileSet(profile=PROFILES["deep"]), "clarify"),
    (e.SpecGiven(source="s", by="ann"), "clarify"),
    (e.RoundTaken(round=Round(number=1)), "clarify"),
    (e.ItemAnswered(item="Q-1", by="ann"), "clarify"),
    (e.PlanRoundTaken(round=PlanRound(number=1)), "plan"),
    (e.SpecsNoted(base=BASE), "plan"),
    (e.ChecksControlled(controls={}), "plan build"),
    (e.Signed(signature=Signature(what="VS-1", digest="d", by="ann", at=AT)), "plan build review"),
    (e.DecisionAsked(decision=Decision(id="D-2", question="Why?")), "build"),
    (e.DecisionAnswered(id="D-1", answer="8787", by="ann"), ALL),
    (e.BuildDriven(loop_id="l"), "build"),
    (e.LaneEnded(lane="execution", status="passed"), "build"),
    (e.WorkVerified(verification=Verification(iteration=1, tree="t", patch_sha256="p", files=(), checks={})), "build"),
    (e.WorkReviewed(review=Review(verdict="approve", reviewer="bob", tree="t")), "review"),
    (e.DeltaFitted(base=BASE, by="ann", why="w"), "done"),
    (e.PrecedenceGiven(over="chg-y", by="ann"), "done"),
    (c.Archive(standing=READY), "done"),
    (e.ArchiveSettled(), "archived"),
    (e.ChangeUndone(by="ann"), "done archived"),
    (e.ChangeDiscarded(by="ann"), "clarify plan build review"),
    (e.DocumentsKept(documents={"spec.md": "d"}), f"{ALL} archived"),
    (e.TurnBegun(turn=OpenTurn(name="t", agent="a", role="r", stage=Stage.PLAN, mailbox="m")), ALL),
    (e.CostCounted(cost=Cost(role="r", agent="a", stage=Stage.PLAN, wall_s=1.0)), f"{ALL} archived"),
    (e.AgentChanged(takeover=Takeover(agent="a", by="b", role="r", code="c", message="m", at=AT, action_id="x")), ALL),
    (e.FlightBegun(by="ann", limits=SpendingLimits(), before=Amounts()), ALL),
    (e.FlightAt(phase=Stage.BUILD), ALL),
    (e.FlightEnded(reason="done", message="s"), ALL),
)  # fmt: skip


def workflow(state):
    return Workflow(
        slug="x", idea="i", profile=PROFILES["standard"], created_at=AT, updated_at=AT, revision=1, at=STATES[state],
        decisions=(Decision(id="D-1", question="Which port?"),),
        flight=Flight(by="ann", since=AT, before=Amounts(), limits=SpendingLimits(), phase=Stage.PLAN),
    )  # fmt: skip


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize(("proposal", "accepting"), TABLE, ids=lambda value: type(value).__name__)
def test_every_proposal_in_every_state(proposal, accepting, state):
    decision = decide(workflow(state), proposal)
    assert isinstance(decision, Accepted) == (state in accepting.split()), decision
    if isinstance(proposal, get_args(e.Event)) and isinstance(decision, Accepted):
        assert decision.events == (proposal,)


def test_the_table_has_every_proposal():
    assert {type(proposal) for proposal, _ in TABLE} == set(get_args(c.Proposal))


DECIDED = (
    e.WorkflowBegun(slug="x", idea="i", profile=PROFILES["deep"]),
    e.ApprovalRequested(transition=T),
    e.ApprovalGiven(transition=T, subject=READY.subject(T), by="ann"),
    e.StageEntered(transition=T, subject="s"),
    e.ChangeArchived(),
)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("event", DECIDED, ids=lambda event: type(event).__name__)
def test_an_event_that_only_the_rules_make_cannot_be_proposed(event, state):
    assert isinstance(decide(workflow(state), event), Refused)


def test_every_event_can_be_proposed_or_is_made_by_the_rules():
    assert {type(event) for event in DECIDED} == set(get_args(e.Event)) - set(get_args(c.Proposal))
