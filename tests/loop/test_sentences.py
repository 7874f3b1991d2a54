"""Every kind of event has its own sentence, which says what happened."""

from __future__ import annotations

from typing import get_args

import pytest

from loopwright.agents.failover import Takeover
from loopwright.judging.reports.model import TestResult
from loopwright.loop import events as e
from loopwright.loop.model import (
    Action,
    Budget,
    Criteria,
    Decision,
    ErrorLine,
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
    Validation,
    Worker,
)
from loopwright.loop.proof import WAITS_FOR_A_PERSON, TaskGrade, TaskProof
from loopwright.loop.sentences import sentence, task_text
from loopwright.wording.catalogue import catalogue_of

NOW = "2026-01-01T00:00:00Z"
TASK = Task(id="T-1", description="write it", tool="bash", mode="write", status="pending", created_at=NOW)
CAUSE = Hypothesis(
    id="H1", description="d", testable_condition="t", logging_point="", likelihood=1,
    evidence_criteria=Criteria(confirm="y", reject="n"),
)  # fmt: skip
LOOP = Loop(
    loop_id="l", title="t", description="", max_iterations=3, created_at=NOW, updated_at=NOW, phase=Running(),
    revision=1,
)  # fmt: skip
RESULTS = (TestResult("test_a", "s", "failed"), TestResult("test_b", "s", "passed"))
SENTENCES = [
    (e.LoopCreated(loop_id="l", title="faster", description="", max_iterations=3),
     "created: faster, at most 3 iterations"),
    (e.LoopStarted(), "started"),
    (e.HoldPlaced(hold=Hold(holder=Holder.BUDGET, code="c", message="used", since=NOW)), "held by budget: used"),
    (e.HoldLifted(holder=Holder.OPERATOR), "the hold of operator is lifted"),
    (e.LoopStopped(by="ann"), "stopped by ann"),
    (e.LoopFailed(code="c", reason="no way on"), "failed: no way on"),
    (e.LoopCompleted(), "completed"),
    (e.LoopCompleted(workflow="greet"), "all tasks are worked on; the build of greet decides"),
    (e.LoopCompleted(forced="seen"), "closed as done by a person: seen"),
    (e.LoopRetried(), "another attempt begins"),
    (e.IterationsGiven(max_iterations=9), "iteration limit: 9"),
    (e.BudgetSet(budget=Budget(usd=2.5, turns=3)), "budget: 2.5 USD, 3 turns"),
    (e.BudgetSet(budget=Budget()), "budget: without limits"),
    (e.TaskBudgetSet(budget=Budget(usd=1)), "budget of each task: 1 USD"),
    (e.TaskBudgetSet(budget=Budget(), task_id="T-1"), "budget of task T-1: without limits"),
    (e.HoldPlaced(hold=Hold(holder=Holder.QUOTA, code="c", message="wait", since=NOW, until="2026-01-02")),
     "held by quota: wait (until 2026-01-02)"),
    (e.TurnBegun(turn=OpenTurn(name="n", agent="claude", mailbox="m", task_id="T-1")),
     "claude is asked about task T-1"),
    (e.ProgressNoted(text="half of it", by="builder"), "builder says: half of it"),
    (e.AgentChanged(takeover=Takeover(agent="claude", by="codex", role="builder", code="rate_limited", message="m",
                                      at=NOW, action_id="a", until="2026-01-02")),
     "claude could not continue (rate_limited until 2026-01-02): codex took over as builder"),
    (e.DecisionAsked(decision=Decision(id="D-1", question="which?", asked_at=NOW)), "an agent asks D-1: which?"),
    (e.DecisionAnswered(decision_id="D-1", answer="this", by="ann"), "ann answers D-1: this"),
    (e.AgentSet(agent="codex"), "codex does the open tasks from now on"),
    (e.ModeSet(mode="auto"), "the rules choose what is next"),
    (e.ModeSet(mode="interactive"), "a person chooses what is next"),
    (e.TaskAdded(task=TASK, before="T-2"), "task T-1 is added before T-2: write it"),
    (e.TaskEdited(task=TASK), "task T-1 changed: write it"),
    (e.TaskRemoved(task_id="T-1"), "task T-1 is removed"),
    (e.TasksOrdered(task_ids=tuple("abcdefg")), "new order of tasks: a, b, c, d, e and 2 more"),
    (e.ActionStarted(action=Action.DEVELOP, action_id="a", task_id="T-1"), "develop begins: task T-1"),
    (e.ActionStarted(action=Action.VALIDATE, action_id="a"), "validate begins"),
    (e.ActionPaused(action_id="a"), "the action is interrupted and stays under way"),
    (e.ActionAbandoned(action_id="a", why="died"), "the action is given up: died"),
    (e.ActionAbandoned(action_id="a", why=WAITS_FOR_A_PERSON), "held: a person decides about the work"),
    (
        e.ActionDone(action_id="a", action=Action.DEBUG, mark=ProgressMark(tree="", failing=(), evidence="")),
        "debug is done",
    ),
    (e.LoopInitialised(), "the tasks are set"),
    (
        e.TaskFinished(task_id="T-1", status="completed", files_changed=("a.py",)),
        "task T-1 was worked on, changed: a.py",
    ),
    (e.TaskFinished(task_id="T-1", status="pending"), "task T-1 will be tried again"),
    (e.WorkKept(tree=Tree(commit=None, base_tree="b", tree="0123456789abcdef", patch_sha256="p")),
     "the work is kept as tree 0123456789ab"),
    (e.WorkDropped(tree=Tree(commit=None, base_tree="b", tree="0123456789abcdef", patch_sha256="p")),
     "the tried changes failed: the work is tree 0123456789ab again"),
    (e.HypothesesProposed(bug="test_a", hypotheses=(CAUSE,)), "possible causes of test_a: 1"),
    (e.HypothesisJudged(hypothesis_id="H1", status="rejected", evidence="", verdict_reason="it printed n"),
     "H1 is rejected: it printed n"),
    (e.ValidationRecorded(validation=Validation(results=RESULTS, coverage=91.5)),
     "the tests failed: 1 of 2 passed, coverage 91.5 %; failing: test_a"),
    (e.ValidationRecorded(validation=Validation(results=RESULTS[1:], passed=True)), "the tests passed: 1 of 1"),
    (e.BuildJudged(proofs=(TaskProof(task_id="VS-1", grade=TaskGrade.CHANGED),)), "the build says: VS-1 changed"),
    (
        e.ErrorNoted(error=ErrorLine(action="complete", message="nothing proves it", timestamp=NOW), is_hold=True),
        "the next builder is told the reason",
    ),
    (e.ErrorNoted(error=ErrorLine(action="develop", message="crashed", timestamp=NOW)), "develop went wrong: crashed"),
    (e.CostCounted(spent=Spent(usd=0.5, tokens=1200, wall_s=3.04, turns=1)),
     "cost: 0.50 USD, 1,200 tokens, 3.0 s, 1 turn"),
    (e.CostCounted(spent=Spent(usd_known=False)), "cost: not reported, 0 tokens, 0.0 s"),
    (e.WorkerArrived(worker=Worker(pid=7, host="box", since=NOW)), "process 7 on box drives it"),
    (e.WorkerLeft(why="SIGTERM"), "its worker left: SIGTERM"),
    (e.SkillStateTaken(skill_state={}), "another tool changed the worker's fields of the state file"),
    (e.OutsideKeysTaken(extra={"mine": 1}), "another tool's keys are kept: mine"),
    (e.IterationTaken(), "another tool counted an iteration"),
    (e.LoopRestored(loop=LOOP, source="its head"), "its log was lost; it is rebuilt from its head"),
]  # fmt: skip


@pytest.mark.parametrize(("event", "text"), SENTENCES, ids=lambda value: getattr(value, "__class__", str).__name__)
def test_an_event_in_words(event, text):
    assert sentence(event) == text


def test_every_kind_of_event_has_a_sentence():
    assert {type(event) for event, _ in SENTENCES} == set(get_args(e.Event))


@pytest.mark.parametrize(
    ("task_id", "text", "said"),
    [
        ("F-1", "Fix what H1 found: a typo. mend it", "修复 H1 查明的问题：a typo. mend it"),
        ("F-2", "The architect asks: look at it again", "架构师要求：再看一看"),
        ("LOOK-1", "an architect looks at what was built", "架构师在看构建结果"),
        ("DESLOP-1", "tidy up what was built", "整理构建结果"),
        ("T-1", "tidy up what was built", "tidy up what was built"),
    ],
)
def test_the_loops_own_tasks_are_translated_and_a_persons_words_stay(task_id, text, said):
    task = Task(id=task_id, description=text, tool="claude", mode="write", status="pending", created_at="")
    assert task_text(task, catalogue_of("zh")) == said
    assert task_text(task, catalogue_of("en")) == text
    assert said in sentence(e.TaskAdded(task=task), catalogue_of("zh"))
