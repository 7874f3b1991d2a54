"""Every proposal in every phase of a loop, and no event that is not a proposal."""

from __future__ import annotations

from typing import get_args

import pytest
from msgspec.structs import replace

from loopwright.agents.failover import Takeover
from loopwright.agents.mailbox import DecisionRequest
from loopwright.loop import commands as c
from loopwright.loop import events as e
from loopwright.loop.model import (
    Action,
    Budget,
    Completed,
    Created,
    Criteria,
    Decision,
    ErrorLine,
    Failed,
    Held,
    Hold,
    Holder,
    Hypothesis,
    Loop,
    OpenTurn,
    ProgressMark,
    Running,
    Spent,
    Task,
    Tree,
    UnderWay,
    Validation,
    Worker,
)
from loopwright.loop.proof import TaskGrade, TaskProof
from loopwright.loop.rules import Accepted, Refused, decide

AT = "2026-01-01T00:00:00Z"
OPERATOR, BUDGET, PROOF = (
    Hold(holder=holder, code="x", message="m", since=AT) for holder in (Holder.OPERATOR, Holder.BUDGET, Holder.PROOF)
)
PHASES = {
    "created": Created(),
    "running": Running(),
    "held": Held(holds=(OPERATOR, PROOF)),
    "completed": Completed(at=AT, forced=None),
    "failed": Failed(at=AT, code="c", reason="r"),
}
TASK = Task(id="T-1", description="d", tool="t", mode="write", status="pending", created_at=AT)
NEW = replace(TASK, id="T-9")
TREE = Tree(commit="c", base_tree="b", tree="w", patch_sha256="p")
MARK = ProgressMark(tree="t", failing=(), evidence="e")
VALIDATION = Validation(passed=True)
CAUSE = Hypothesis(
    id="H-1", description="d", testable_condition="t", logging_point="l", likelihood=1,
    evidence_criteria=Criteria(confirm="c", reject="r"),
)  # fmt: skip
TAKEOVER = Takeover(agent="a", by="b", role="r", code="c", message="m", at=AT, action_id="A-1")
WORKER = Worker(host="h", pid=1, since=AT)
ALL = "created running held completed failed"
# Each proposal with the phases that accept it. In every phase the action A-1 (develop T-1) is under way.
TABLE = (
    (e.LoopCreated(loop_id="l", title="t", description="d", max_iterations=3), ""),
    (e.LoopStarted(), "created"),
    (e.HoldPlaced(hold=BUDGET), "running held"),
    (e.HoldPlaced(hold=OPERATOR), "running"),
    (c.Resume(lifts=frozenset({Holder.OPERATOR})), "held"),
    (e.LoopStopped(by="ann"), "created running held"),
    (e.LoopFailed(code="c", reason="r"), "running"),
    (c.Finish(forced="enough"), "running"),
    (c.Accept(by="ann"), "held"),
    (c.Retry(), "completed failed"),
    (e.IterationsGiven(max_iterations=9), ALL),
    (e.BudgetSet(budget=Budget(usd=1.0)), ALL),
    (e.TaskBudgetSet(budget=Budget(usd=1.0)), ALL),
    (e.TaskBudgetSet(budget=Budget(usd=1.0), task_id="T-9"), ""),
    (e.ModeSet(mode="interactive"), ALL),
    (e.AgentSet(agent="codex"), ALL),
    (e.TaskAdded(task=NEW), ALL),
    (c.AddTasks(tasks=(NEW,)), ALL),
    (e.TaskEdited(task=TASK), ""),
    (e.TaskRemoved(task_id="T-2"), ALL),
    (e.TasksOrdered(task_ids=("T-2", "T-1")), ALL),
    (c.MarkTaskDone(task_id="T-2"), ALL),
    (c.Advance(action_id="A-2", no_progress=3), "running"),
    (c.Choose(action=Action.VALIDATE, action_id="A-2"), ""),
    (c.FinishInit(action_id="A-1", tasks=(NEW,)), ""),
    (c.FinishDevelop(action_id="A-1", outcome="completed", files_changed=(), tree=TREE, mark=MARK), ALL),
    (c.ProposeHypotheses(action_id="A-1", bug="b", hypotheses=(CAUSE,)), ""),
    (c.JudgeHypothesis(action_id="A-1", hypothesis_id="H-1", status="rejected", evidence="e", verdict_reason="r"), ""),
    (c.FinishDebug(action_id="A-1", fix=None, mark=MARK), ""),
    (c.FinishValidate(action_id="A-1", validation=VALIDATION, mark=MARK), ""),
    (c.FinishComplete(action_id="A-1"), ""),
    (e.ActionPaused(action_id="A-1"), ALL),
    (e.ActionPaused(action_id="A-2"), ""),
    (c.AbandonAction(why="w"), ALL),
    (c.HandOver(takeover=TAKEOVER), ALL),
    (e.AgentChanged(takeover=TAKEOVER), ALL),
    (e.ErrorNoted(error=ErrorLine(action=Action.DEVELOP, message="m", timestamp=AT)), ALL),
    (e.ProgressNoted(text="t", by="a"), ALL),
    (c.AskDecisions(requests=(DecisionRequest(question="q"),), at=AT), ALL),
    (e.DecisionAnswered(decision_id="D-1", answer="yes", by="ann"), "created running held"),
    (e.TurnBegun(turn=OpenTurn(name="t", agent="a", mailbox="m")), ALL),
    (e.CostCounted(spent=Spent(usd=1.0)), ALL),
    (e.WorkerArrived(worker=WORKER), ALL),
    (e.WorkerLeft(why="w"), ALL),
    (e.SkillStateTaken(skill_state={}), ALL),
    (e.OutsideKeysTaken(extra={"k": 1}), ALL),
    (e.IterationTaken(), ALL),
    (e.BuildJudged(proofs=(TaskProof(task_id="A", grade=TaskGrade.CHANGED),)), ALL),
)
DECIDED = (
    e.HoldLifted(holder=Holder.OPERATOR),
    e.LoopCompleted(),
    e.LoopRetried(),
    e.ActionStarted(action=Action.DEVELOP, action_id="A-2"),
    e.ActionAbandoned(action_id="A-1", why="w"),
    e.ActionDone(action_id="A-1", action=Action.DEVELOP),
    e.LoopInitialised(),
    e.TaskFinished(task_id="T-1", status="completed"),
    e.WorkKept(tree=TREE),
    e.WorkDropped(tree=TREE),
    e.HypothesesProposed(bug="b", hypotheses=(CAUSE,)),
    e.HypothesisJudged(hypothesis_id="H-1", status="rejected", evidence="e", verdict_reason="r"),
    e.ValidationRecorded(validation=VALIDATION),
    e.DecisionAsked(decision=Decision(id="D-2", question="q", asked_at=AT)),
)


def loop(phase):
    return Loop(
        loop_id="l", title="t", description="d", max_iterations=5, created_at=AT, updated_at=AT, phase=PHASES[phase],
        revision=1, tasks=(TASK, replace(TASK, id="T-2")),
        decisions=(Decision(id="D-1", question="Which port?", asked_at=AT),), worker=WORKER,
        under_way=UnderWay(action=Action.DEVELOP, id="A-1", started_at=AT, task_id="T-1"),
    )  # fmt: skip


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize(("proposal", "accepting"), TABLE, ids=lambda value: type(value).__name__)
def test_every_proposal_in_every_phase(proposal, accepting, phase):
    decision = decide(loop(phase), proposal)
    assert isinstance(decision, Accepted) == (phase in accepting.split()), decision
    if isinstance(proposal, get_args(e.Event)) and isinstance(decision, Accepted):
        assert proposal in decision.events


def test_the_table_has_every_proposal():
    assert {type(proposal) for proposal, _ in TABLE} == set(get_args(c.Proposal))


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize(
    "event", [*DECIDED, e.LoopRestored(loop=loop("running"), source="s")], ids=lambda event: type(event).__name__
)
def test_an_event_that_only_the_rules_make_cannot_be_proposed(event, phase):
    assert isinstance(decide(loop(phase), event), Refused)


def test_every_event_can_be_proposed_or_is_made_by_the_rules():
    made = {type(event) for event in DECIDED} | {e.LoopRestored}
    assert made == set(get_args(e.Event)) - set(get_args(c.Proposal))
