"""The life cycle row by row, the choice of the next action, and what a worker may record."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from loopwright.agents.failover import Takeover
from loopwright.agents.port import Reason
from loopwright.judging.reports.model import TestResult
from loopwright.loop import commands as c
from loopwright.loop import events as e
from loopwright.loop.choice import choice_hold
from loopwright.loop.model import (
    Action,
    Budget,
    Completed,
    Created,
    Criteria,
    Doubt,
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
    TaskKind,
    Tree,
    UnderWay,
    Validation,
)
from loopwright.loop.projection import status_of
from loopwright.loop.proof import PROTECTED_CHANGES
from loopwright.loop.rules import Accepted, Refused, decide, evolve, next_action

NOW = "2026-01-01T00:00:00Z"
PAUSE = Hold(holder=Holder.OPERATOR, code="paused", message="paused by a person", since=NOW)
OVER_BUDGET = Hold(holder=Holder.BUDGET, code="budget_usd", message="1 USD is spent", since=NOW)
PASSED = Validation(results=(TestResult(test_name="t", suite="s", status="passed", duration_ms=1),), passed=True)
FAILED = Validation(results=(TestResult(test_name="t", suite="s", status="failed", duration_ms=1),), passed=False)
MARK = ProgressMark(tree="t", failing=(), evidence="e")
WORK = Tree(commit="c", base_tree="b", tree="w", patch_sha256="p")
LOST = Doubt(code="tests_lost", message="test_x is gone")
PHASES = {
    "created": Created(),
    "running": Running(),
    "paused": Held(holds=(PAUSE,)),
    "completed": Completed(at=NOW, forced=None),
    "failed": Failed(at=NOW, code="stopped", reason="stopped by a person"),
}


def task(name="T-1", status="pending"):
    return Task(id=name, description="do it", tool="scripted", mode="write", status=status, created_at=NOW)


def loop(phase="running", **fields):
    made = Loop(
        loop_id="loop-v2-20260101-abcdef", title="t", description="d", max_iterations=10, created_at=NOW,
        updated_at=NOW, phase=PHASES[phase], revision=1,
    )  # fmt: skip
    return replace(made, **fields)


def after(start, command):
    """The loop after an accepted command; None if the command is refused."""
    decision = decide(start, command)
    if isinstance(decision, Refused):
        return None
    for event in decision.events:
        start = evolve(start, event, NOW)
    return start


VALIDATED = {"validation": PASSED, "is_validated": True, "is_initialised": True, "tree": WORK}
COMMANDS = {
    "start": e.LoopStarted(),
    "pause": e.HoldPlaced(hold=PAUSE),
    "resume": c.Resume(lifts=frozenset({Holder.OPERATOR})),
    "stop": e.LoopStopped(by="ann"),
    "complete": c.Finish(),
    "retry": c.Retry(),
}
LEGAL = {
    ("created", "start"): "running",
    ("running", "pause"): "paused",
    ("paused", "resume"): "running",
    ("created", "stop"): "failed",
    ("running", "stop"): "failed",
    ("paused", "stop"): "failed",
    ("running", "complete"): "completed",
    ("failed", "retry"): "running",
    ("completed", "retry"): "running",
}


@pytest.mark.parametrize("status", PHASES)
@pytest.mark.parametrize("move", COMMANDS)
def test_every_move_from_every_status(status, move):
    start = loop(status, **VALIDATED)
    decision = decide(start, COMMANDS[move])
    if (status, move) in LEGAL:
        assert isinstance(decision, Accepted)
        assert status_of(after(start, COMMANDS[move])) == LEGAL[status, move]
    else:
        assert isinstance(decision, Refused)
        (blocker,) = decision.blockers
        assert blocker.code == "illegal_move"
        assert f"is {status}" in blocker.message
        assert blocker.message.endswith(f" {move}")
        legal = {name for state, name in LEGAL if state == status}
        assert any(name in blocker.hint for name in legal)


def test_a_start_needs_a_task_or_a_description():
    empty = loop("created", description=" ")
    assert isinstance(decide(empty, e.LoopStarted()), Refused)
    assert after(replace(empty, tasks=(task(),)), e.LoopStarted()) is not None
    assert after(loop("created"), e.LoopStarted()) is not None


def test_a_stop_names_the_person_and_a_retry_keeps_history_and_counts():
    stopped = after(loop(iteration=3, tasks=(task(status="in_progress"),)), e.LoopStopped(by="ann"))
    assert stopped.phase.reason == "stopped by ann"
    assert stopped.tasks[0].status == "pending", "no worker runs the task"
    again = after(stopped, c.Retry(max_iterations=20))
    assert (again.attempt, again.iteration, again.max_iterations) == (2, 3, 20)
    too_few = decide(stopped, c.Retry(max_iterations=3))
    assert isinstance(too_few, Refused)
    assert too_few.blockers[0].code == "too_few_iterations"


@pytest.mark.parametrize("state", [{}, {"validation": PASSED}, {"validation": FAILED, "is_validated": True},
                                   {**VALIDATED, "tasks": (task(),)}, {**VALIDATED, "tasks": (task(status="failed"),)},
                                   {"validation": Validation(passed=True), "is_validated": True}])  # fmt: skip
def test_done_needs_a_passed_validation_of_the_current_work_or_a_recorded_reason(state):
    assert isinstance(decide(loop(**state), c.Finish()), Refused)
    assert (
        after(loop(**state), c.Finish(forced="a person has seen it work")).phase.forced == "a person has seen it work"
    )


def test_holds_of_different_holders_do_not_undo_each_other():
    held = after(after(loop(), e.HoldPlaced(hold=PAUSE)), e.HoldPlaced(hold=OVER_BUDGET))
    assert {hold.holder for hold in held.phase.holds} == {Holder.OPERATOR, Holder.BUDGET}
    resumed = after(held, c.Resume(lifts=frozenset({Holder.OPERATOR})))
    assert status_of(resumed) == "paused"
    refusal = decide(resumed, c.Resume(lifts=frozenset({Holder.OPERATOR})))
    assert isinstance(refusal, Refused)
    assert "1 USD is spent" in refusal.blockers[0].message
    assert after(resumed, c.Resume(lifts=frozenset({Holder.BUDGET}))).phase == Running()


CHOICES = [
    ({}, Action.INIT),
    ({"is_initialised": True, "tasks": (task(),)}, Action.DEVELOP),
    ({"is_initialised": True, "tasks": (task(status="in_progress"),)}, Action.DEVELOP),
    ({"is_initialised": True, "tasks": (task(status="completed"),)}, Action.VALIDATE),
    ({"is_initialised": True, "is_validated": True, "validation": FAILED}, Action.DEBUG),
    ({"is_initialised": True, "is_validated": True, "validation": FAILED, "tasks": (task(),)}, Action.DEVELOP),
    ({"is_initialised": True, "is_validated": True, "validation": PASSED}, Action.COMPLETE),
    ({"is_initialised": True, "is_validated": False, "validation": PASSED}, Action.VALIDATE),
    ({"is_initialised": True, "is_validated": True, "validation": Validation(passed=True)}, Action.DEBUG),
]


@pytest.mark.parametrize(("state", "action"), CHOICES)
def test_the_next_action_is_a_function_of_the_state(state, action):
    assert next_action(loop(**state)) is action


def test_an_action_begins_once_and_interrupted_work_is_resumed():
    start = loop(is_initialised=True, tasks=(task(),))
    begun = after(start, c.Advance(action_id="a1", no_progress=3))
    assert (begun.under_way.action, begun.under_way.task_id, begun.iteration) == (Action.DEVELOP, "T-1", 1)
    again = decide(begun, c.Advance(action_id="a2", no_progress=3))
    assert again.events == ()
    assert again == Accepted(()), "the running action continues"
    paused = after(after(begun, e.ActionPaused(action_id="a1", session="s-7")), e.HoldPlaced(hold=PAUSE))
    resumed = after(paused, COMMANDS["resume"])
    assert resumed.under_way.session == "s-7"
    assert resumed.iteration == 1


def develop(action_id, *, outcome="completed", mark=MARK):
    return c.FinishDevelop(action_id=action_id, outcome=outcome, files_changed=("a.py",), tree=None, mark=mark)


def test_an_outcome_counts_only_for_the_action_that_is_running():
    begun = after(loop(is_initialised=True, tasks=(task(),)), c.Advance(action_id="a1", no_progress=3))
    assert isinstance(decide(begun, develop("late")), Refused)
    done = after(begun, develop("a1"))
    assert (done.tasks[0].status, done.under_way, done.last_action) == ("completed", None, Action.DEVELOP)
    assert isinstance(decide(done, develop("a1")), Refused), "nothing recorded as done is done twice"
    stopped = after(begun, e.LoopStopped(by="ann"))
    assert isinstance(decide(stopped, develop("a1")), Refused)
    held = after(begun, e.HoldPlaced(hold=PAUSE))
    assert after(held, develop("a1")).tasks[0].status == "completed", "the outcome counts, even during a pause"


def test_a_completed_task_makes_the_validation_stale():
    start = loop(**VALIDATED, tasks=(task(),))
    done = after(after(start, c.Advance(action_id="a", no_progress=3)), develop("a"))
    assert not done.is_validated
    assert next_action(done) is Action.VALIDATE


@pytest.mark.parametrize("action", [Action.DEVELOP, Action.VALIDATE])
def test_at_the_iteration_limit_the_loop_fails_and_a_retry_can_raise_the_limit(action):
    tasks = (task(),) if action is Action.DEVELOP else (task(status="completed"),)
    start = loop(is_initialised=True, tasks=tasks, iteration=10)
    failed = after(start, c.Advance(action_id="a", no_progress=3))
    assert failed.phase.code == "iterations_used"
    assert isinstance(decide(failed, e.IterationsGiven(max_iterations=10)), Refused)
    more = after(after(failed, e.IterationsGiven(max_iterations=12)), c.Retry())
    assert after(more, c.Advance(action_id="a", no_progress=3)).under_way.action is action


def test_without_progress_the_breaker_opens_and_resume_half_opens_it():
    start = loop(is_initialised=True, tasks=(task(status="completed"),), marks=(MARK, MARK, MARK, MARK))
    held = after(start, c.Advance(action_id="a", no_progress=3))
    assert [hold.code for hold in held.phase.holds] == ["no_progress"]
    resumed = after(held, c.Resume(lifts=frozenset({Holder.BLOCKER})))
    tried = after(resumed, c.Advance(action_id="b", no_progress=3))
    assert tried.under_way is not None, "one more iteration"
    same = after(tried, c.FinishValidate(action_id="b", validation=FAILED, mark=MARK))
    assert status_of(after(same, c.Advance(action_id="c", no_progress=3))) == "paused"
    other = after(tried, c.FinishValidate(action_id="b", validation=FAILED, mark=replace(MARK, tree="new")))
    assert after(other, c.Advance(action_id="c", no_progress=3)).under_way is not None


def test_a_loop_whose_work_is_done_is_not_held_for_lack_of_progress():
    done = loop(marks=(MARK, MARK, MARK, MARK), **VALIDATED)
    assert after(done, c.Advance(action_id="a", no_progress=3)).under_way.action is Action.COMPLETE


def test_a_failed_fix_is_skipped_if_the_tests_pass_and_a_resume_retries_a_failed_task():
    tasks = (task(status="failed"), replace(task(status="failed"), id="F-1"))
    held = after(loop(tasks=tasks, **VALIDATED), c.Advance(action_id="a", no_progress=3))
    assert [(hold.code, "F-1" in hold.message) for hold in held.phase.holds] == [("task_failed", False)]
    resumed = after(held, c.Resume(lifts=frozenset({Holder.BLOCKER})))
    assert [one.status for one in resumed.tasks] == ["pending", "failed"]
    only_a_fix = after(loop(tasks=tasks[1:], **VALIDATED), c.Advance(action_id="a", no_progress=3))
    assert only_a_fix.under_way.action is Action.COMPLETE
    finished = after(only_a_fix, c.FinishComplete(action_id="a"))
    assert status_of(finished) == "completed"


COMPLETING = {"under_way": UnderWay(action=Action.COMPLETE, id="a", started_at=NOW), **VALIDATED}
WROTE, LOOKED = task(status="completed"), replace(task(status="completed"), mode="analysis")
UNPROVEN = [
    ({"tasks": (WROTE,)}, None),
    ({"tasks": (WROTE,), "tree": None}, "nothing_changed"),
    ({"tasks": (WROTE,), "tree": replace(WORK, tree="b")}, "nothing_changed"),
    ({"tasks": (WROTE,), "validation": replace(PASSED, doubts=(LOST,))}, "tests_lost"),
    ({"tasks": (LOOKED,), "tree": None}, None),
    ({"tasks": (LOOKED, replace(WROTE, id="T-2")), "tree": None}, "nothing_changed"),
    ({"tasks": (), "tree": None}, "nothing_changed"),
    ({"tasks": (WROTE,), "tree": None, "workflow": "greet"}, None),
]


@pytest.mark.parametrize(("state", "code"), UNPROVEN)
def test_unproven_work_is_held_for_a_person(state, code):
    start = loop(**{**COMPLETING, **state})
    ended = after(start, c.FinishComplete(action_id="a"))
    if code is None:
        assert ended.phase == Completed(at=NOW, forced=None)
        return
    assert [(hold.holder, hold.code) for hold in ended.phase.holds] == [(Holder.PROOF, code)]
    assert {one.status for one in ended.tasks if one.mode == "write"} <= {"in_progress"}
    assert (ended.under_way, ended.completed_actions) == (None, ())
    assert isinstance(decide(start, c.Finish()), Refused), "another tool can't complete it either"


def test_a_person_accepts_unproven_work_or_lets_the_agent_continue():
    start = loop(**{**COMPLETING, "tasks": (WROTE, replace(WROTE, id="F-1")), "tree": None})
    held = after(start, c.FinishComplete(action_id="a"))
    assert [one.status for one in held.tasks] == ["in_progress", "completed"], "a fix is not a separate task"
    accepted = after(held, c.Accept(by="ann", reason="that is what I wanted"))
    assert accepted.phase == Completed(at=NOW, forced="that is what I wanted", accepted_by="ann")
    assert [one.status for one in accepted.tasks] == ["completed", "completed"]
    assert "nothing changed" in after(held, c.Accept(by="ann")).phase.forced
    resumed = after(held, c.Resume(lifts=frozenset({Holder.PROOF})))
    assert next_action(resumed) is Action.DEVELOP
    assert "nothing changed" in resumed.errors[-1].message, "the builder is told"
    paused = decide(loop("paused"), c.Accept(by="ann"))
    assert isinstance(paused, Refused)
    assert paused.blockers[0].code == "nothing_to_accept"
    running = decide(start, c.Accept(by="ann"))
    assert (running.blockers[0].code, "be accepted" in running.blockers[0].message) == ("illegal_move", True)


def test_a_person_leaves_out_protected_changes_only_for_a_tree_that_was_judged():
    start = loop(**{**COMPLETING, "tasks": (WROTE,)})
    doubts = (Doubt(code=PROTECTED_CHANGES, message="conftest.py changed"),)
    reduced = replace(start.tree, tree="reduced")
    command = c.Accept(by="ann", without_protected=True)
    for tree in (reduced, None):
        validation = replace(start.validation, doubts=doubts, without_protected=tree)
        held = after(replace(start, validation=validation), c.FinishComplete(action_id="a"))
        if tree is None:
            refused = decide(held, command)
            assert refused.blockers[0].code == "nothing_to_leave_out"
            assert "--without-protected" not in refused.blockers[0].hint
            continue
        accepted = after(held, command)
        assert (accepted.tree, accepted.phase.accepted_by) == (reduced, "ann")
        assert accepted.phase.forced.endswith("; the protected changes are left out")
        assert after(held, c.Accept(by="ann")).tree == start.tree


def test_the_budget_of_a_task_holds_the_loop_before_that_task():
    start = loop(
        is_initialised=True, tasks=(task(),), task_budget=Budget(usd=1.0), spent_by_task={"T-1": Spent(usd=1.0)}
    )
    held = after(start, c.Advance(action_id="a", no_progress=3))
    assert [(hold.holder, hold.code) for hold in held.phase.holds] == [(Holder.BUDGET, "budget_usd")]
    assert "the task T-1" in held.phase.holds[0].message


def hypothesis(name, status="pending"):
    return Hypothesis(
        id=name, description="d", testable_condition="t", logging_point="l", likelihood=1, status=status,
        evidence_criteria=Criteria(confirm="c", reject="r"),
    )  # fmt: skip


def test_debugging_ends_with_a_fix_only_if_a_cause_is_confirmed():
    at = UnderWay(action=Action.DEBUG, id="d", started_at=NOW)
    start = loop(is_initialised=True, is_validated=True, validation=FAILED, under_way=at)
    proposed = after(
        start, c.ProposeHypotheses(action_id="d", bug="b", hypotheses=(hypothesis("H1"), hypothesis("H2")))
    )

    def judge(name, status):
        return c.JudgeHypothesis(action_id="d", hypothesis_id=name, status=status, evidence="seen", verdict_reason="so")

    finish = c.FinishDebug(action_id="d", fix=task("F-1"), mark=MARK)
    assert isinstance(decide(proposed, finish), Refused)
    confirmed = after(after(proposed, judge("H1", "rejected")), judge("H2", "confirmed"))
    assert confirmed.debug.confirmed == "H2"
    assert isinstance(decide(confirmed, judge("H1", "confirmed")), Refused)
    assert isinstance(decide(confirmed, judge("H9", "rejected")), Refused)
    assert isinstance(decide(confirmed, replace(finish, fix=None)), Refused)
    fixed = after(confirmed, finish)
    assert next_action(fixed) is Action.DEVELOP
    assert fixed.tasks[-1].id == "F-1"


def test_tasks_are_added_moved_edited_and_removed_but_not_while_a_worker_runs_them():
    start = loop(tasks=(task("A"), task("B")))
    added = after(start, e.TaskAdded(task=task("C"), before="B"))
    assert [one.id for one in added.tasks] == ["A", "C", "B"]
    assert [one.id for one in after(added, e.TasksOrdered(task_ids=("B", "C", "A"))).tasks] == ["B", "C", "A"]
    for wrong in (
        e.TaskAdded(task=task("A")),
        e.TaskAdded(task=task("D"), before="X"),
        e.TasksOrdered(task_ids=("A", "B")),
        e.TasksOrdered(task_ids=("A", "A", "B")),
        e.TaskRemoved(task_id="X"),
        c.MarkTaskDone(task_id="X"),
    ):
        assert isinstance(decide(added, wrong), Refused)
    busy = replace(added, under_way=UnderWay(action=Action.DEVELOP, id="a", started_at=NOW, task_id="A"))
    for late in (e.TaskRemoved(task_id="A"), e.TaskEdited(task=task("A")), c.MarkTaskDone(task_id="A")):
        assert decide(busy, late).blockers[0].code == "task_in_progress"
        assert after(added, late) is not None
    assert after(added, c.MarkTaskDone(task_id="C")).task("C").status == "completed"


def test_init_adds_tasks_with_new_ids():
    at = UnderWay(action=Action.INIT, id="i", started_at=NOW)
    start = loop(under_way=at, tasks=(task("A"),))
    assert isinstance(decide(start, c.FinishInit(action_id="i", tasks=(task("A"),))), Refused)
    assert isinstance(decide(replace(start, tasks=()), c.FinishInit(action_id="i", tasks=())), Refused)
    done = after(start, c.FinishInit(action_id="i", tasks=(task("B"),)))
    assert done.is_initialised
    assert [one.id for one in done.tasks] == ["A", "B"]


def test_only_a_created_loop_has_events():
    with pytest.raises(ValueError, match="first event"):
        evolve(None, e.LoopStarted(), NOW)
    assert isinstance(decide(None, e.LoopStarted()), Refused)


def test_a_turn_is_charged_once_by_any_number_of_workers():
    """The worker that takes over charges an open turn; the worker that was slow to die must not charge it again."""
    begun = after(loop(), e.TurnBegun(turn=OpenTurn(name="a-builder", agent="codex", mailbox="m", role="builder")))
    count = e.CostCounted(spent=Spent(tokens=120, turns=1), turn="a-builder", role="builder")
    once = after(begun, count)
    assert once.spent.tokens == 120
    assert decide(once, count) == Accepted(())
    # A shell's turn is never open, and has no role.
    assert after(once, e.CostCounted(spent=Spent(wall_s=1.0), turn="b-builder")).spent.wall_s == 1.0


@pytest.mark.parametrize(
    ("name", "kind"),
    [("F-1", TaskKind.FIX), ("LOOK-2", TaskKind.LOOK), ("DESLOP-1", TaskKind.DESLOP), ("T-1", TaskKind.WORK)],
)
def test_the_id_of_a_task_shows_its_kind(name, kind):
    assert task(name).kind is kind
    numbered = loop(tasks=(task("F-1"), task("LOOK-1"), task("DESLOP-1"), task("DESLOP-2")))
    assert numbered.new_task_id(TaskKind.DESLOP) == "DESLOP-3"


@pytest.mark.parametrize(
    ("code", "reason"),
    [("crashed", Reason.CRASHED), ("architect_hung", Reason.HUNG), ("budget_usd", None), ("task_failed", None)],
)
def test_a_hold_knows_why_its_agent_gave_no_answer(code, reason):
    assert replace(PAUSE, code=code).reason is reason


def at_work(action, **fields):
    """A running loop with an action `x` under way."""
    return loop(under_way=UnderWay(action=action, id="x", started_at=NOW), is_initialised=True, **fields)


CHOICE = choice_hold(loop(mode="interactive"))
CAUSES = (hypothesis("H1"), hypothesis("H2"))
DEBUGGING = evolve(at_work(Action.DEBUG), e.HypothesesProposed(bug="b", hypotheses=CAUSES), NOW)
JUDGED = c.JudgeHypothesis(action_id="x", hypothesis_id="H1", status="confirmed", evidence="e", verdict_reason="v")
CONFIRMED = after(DEBUGGING, JUDGED)
IDLE = loop(is_initialised=True, tasks=(task("A"),))
REFUSED = {
    "no loop": (None, e.LoopStarted(), "no_loop"),
    "no iterations": (None, e.LoopCreated(loop_id="l", title="t", description="d", max_iterations=0), "no_iterations"),
    "created twice": (IDLE, e.LoopCreated(loop_id="l", title="t", description="d", max_iterations=1), "exists"),
    "nothing to do": (loop("created", description=" "), e.LoopStarted(), "nothing_to_do"),
    "as many as are used": (replace(IDLE, iteration=3), e.IterationsGiven(max_iterations=3), "too_few_iterations"),
    "a retry without more": (loop("failed", iteration=3), c.Retry(max_iterations=3), "too_few_iterations"),
    "a task twice": (IDLE, e.TaskAdded(task=task("A")), "task_exists"),
    "tasks with one id": (IDLE, c.AddTasks(tasks=(task("B"), task("B"))), "task_exists"),
    "no tasks": (IDLE, c.AddTasks(tasks=()), "nothing_to_do"),
    "before no task": (IDLE, e.TaskAdded(task=task("B"), before="X"), "no_task"),
    "another order": (IDLE, e.TasksOrdered(task_ids=("A", "A")), "not_the_tasks"),
    "no such task": (IDLE, e.TaskRemoved(task_id="X"), "no_task"),
    "an outcome of another action": (at_work(Action.INIT), c.FinishComplete(action_id="x"), "not_running"),
    "an outcome of an earlier action": (at_work(Action.INIT), c.FinishInit(action_id="w", tasks=()), "not_running"),
    "an outcome of no action": (IDLE, c.FinishInit(action_id="x", tasks=()), "not_running"),
    "an outcome of developing while it plans": (
        at_work(Action.INIT),
        c.FinishDevelop(action_id="x", outcome="completed", files_changed=(), tree=None, mark=MARK), "not_running",
    ),
    "a verdict while it plans": (replace(at_work(Action.INIT), debug=DEBUGGING.debug), JUDGED, "not_running"),
    "on while it is created": (loop("created"), c.Advance(action_id="n", no_progress=3), "illegal_move"),
    "a choice while it works": (at_work(Action.INIT), c.Choose(action=Action.DEVELOP, action_id="n"), "busy"),
    "a choice while it is created": (loop("created"), c.Choose(action=Action.INIT, action_id="n"), "illegal_move"),
    "a choice while it is paused": (loop("paused"), c.Choose(action=Action.INIT, action_id="n"), "held_operator"),
    "a choice that is not legal": (IDLE, c.Choose(action=Action.COMPLETE, action_id="n"), "not_legal_now"),
    "no causes": (DEBUGGING, c.ProposeHypotheses(action_id="x", bug="b", hypotheses=()), "no_hypotheses"),
    "a cause twice": (
        DEBUGGING, c.ProposeHypotheses(action_id="x", bug="b", hypotheses=(CAUSES[0], CAUSES[0])), "no_hypotheses",
    ),
    "no such cause": (DEBUGGING, replace(JUDGED, hypothesis_id="H9"), "no_hypothesis"),
    "a second cause": (CONFIRMED, replace(JUDGED, hypothesis_id="H2"), "confirmed_already"),
    "a fix without a cause": (DEBUGGING, c.FinishDebug(action_id="x", fix=task("F"), mark=MARK), "fix_without_cause"),
    "a cause without a fix": (CONFIRMED, c.FinishDebug(action_id="x", fix=None, mark=MARK), "fix_without_cause"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_has_a_code_and_a_way_on(name):
    start, proposal, code = REFUSED[name]
    refusal = decide(start, proposal)
    assert isinstance(refusal, Refused)
    assert [blocker.code for blocker in refusal.blockers] == [code]
    assert all(blocker.message and blocker.hint for blocker in refusal.blockers)


KEPT = replace(WORK, tree="tried")
SHORT = e.LoopCreated(loop_id="l", title="t", description="d", max_iterations=1)
TAKEOVER = Takeover(agent="a", by="b", role="r", code="c", message="m", at=NOW, action_id="x")
ACCEPTED = {
    "one iteration": (None, SHORT, (SHORT,)),
    "the mode that it has": (IDLE, e.ModeSet(mode=IDLE.mode), ()),
    "a worker leaves that never came": (IDLE, e.WorkerLeft(why="w"), ()),
    "an action that is given up": (
        at_work(Action.INIT), c.AbandonAction(why="w", turn_taken=True),
        (e.ActionAbandoned(action_id="x", why="w", turn_taken=True),),
    ),
    "an agent takes over": (
        at_work(Action.INIT), c.HandOver(takeover=TAKEOVER),
        (e.AgentChanged(takeover=TAKEOVER), e.ActionPaused(action_id="x", turn_taken=True)),
    ),
    "a validation has no task": (
        IDLE, c.Choose(action=Action.VALIDATE, action_id="n"),
        (e.ActionStarted(action=Action.VALIDATE, action_id="n", task_id=None),),
    ),
    "a task that was done costs no retry": (
        loop(under_way=UnderWay(action=Action.DEVELOP, id="x", started_at=NOW, task_id="A")),
        c.FinishDevelop(action_id="x", outcome="completed", files_changed=(), tree=None, mark=MARK),
        (e.TaskFinished(task_id="A", status="completed", files_changed=()),
         e.ActionDone(action_id="x", action=Action.DEVELOP, mark=MARK)),
    ),
    "init without new tasks": (
        at_work(Action.INIT, tasks=(task("A"),)), c.FinishInit(action_id="x", tasks=()),
        (e.LoopInitialised(), e.ActionDone(action_id="x", action=Action.INIT)),
    ),
    "a choice lifts only its own hold": (
        replace(IDLE, mode="interactive", phase=Held(holds=(CHOICE,))), c.Choose(action=Action.DEVELOP, action_id="n"),
        (e.HoldLifted(holder=CHOICE.holder), e.ActionStarted(action=Action.DEVELOP, action_id="n", task_id="A")),
    ),
    "a mode lifts only the hold of a choice": (
        replace(IDLE, phase=Held(holds=(CHOICE, PAUSE))), e.ModeSet(mode="interactive"),
        (e.HoldLifted(holder=CHOICE.holder), e.ModeSet(mode="interactive")),
    ),
    "what was tried and does not hold is dropped": (
        at_work(Action.VALIDATE, tree=KEPT, fallback=WORK),
        c.FinishValidate(action_id="x", validation=FAILED, mark=MARK),
        (e.ValidationRecorded(validation=FAILED), e.WorkDropped(tree=WORK),
         e.ActionDone(action_id="x", action=Action.VALIDATE, mark=MARK)),
    ),
    "what was tried and holds is kept": (
        at_work(Action.VALIDATE, tree=KEPT, fallback=WORK),
        c.FinishValidate(action_id="x", validation=PASSED, mark=MARK),
        (e.ValidationRecorded(validation=PASSED), e.ActionDone(action_id="x", action=Action.VALIDATE, mark=MARK)),
    ),
    "debugging that failed": (
        DEBUGGING, c.FinishDebug(action_id="x", fix=None, mark=MARK, error="no cause"),
        (e.ErrorNoted(error=ErrorLine(action=Action.DEBUG, message="no cause", timestamp=NOW)),
         e.ActionDone(action_id="x", action=Action.DEBUG, mark=MARK)),
    ),
    "a task that failed": (
        loop(under_way=UnderWay(action=Action.DEVELOP, id="x", started_at=NOW, task_id="A")),
        c.FinishDevelop(
            action_id="x", outcome="failed", files_changed=("a",), tree=KEPT, mark=MARK, is_tried=True, error="no",
            then=(task("B"),),
        ),
        (e.WorkKept(tree=KEPT, is_tried=True), e.TaskFinished(task_id="A", status="failed", files_changed=("a",)),
         e.CostCounted(spent=Spent(retries=1), task_id="A"),
         e.ErrorNoted(error=ErrorLine(action=Action.DEVELOP, message="no", timestamp=NOW)),
         e.TaskAdded(task=task("B")), e.ActionDone(action_id="x", action=Action.DEVELOP, mark=MARK)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_proposal_leads_to_exactly_these_events(name):
    start, proposal, events = ACCEPTED[name]
    assert decide(start, proposal) == Accepted(events)


def test_a_loop_is_stuck_after_many_equal_marks_too():
    for number in (4, 9):
        (held,) = decide(replace(IDLE, marks=(MARK,) * number), c.Advance(action_id="n", no_progress=3)).events
        assert held.hold.code == "no_progress"
    changed = replace(IDLE, marks=(replace(MARK, tree="other"), *(MARK,) * 3))
    assert isinstance(decide(changed, c.Advance(action_id="n", no_progress=3)).events[0], e.ActionStarted)


def test_a_refusal_names_what_there_is():
    many = replace(IDLE, tasks=tuple(task(f"T-{number}") for number in range(12)))
    said = decide(many, e.TaskRemoved(task_id="X")).blockers[0].hint
    assert said.endswith(": " + ", ".join(f"T-{number}" for number in range(10)))
    assert not decide(replace(IDLE, tasks=()), e.TaskRemoved(task_id="X")).blockers[0].hint.rstrip().endswith(":")
    assert "develop, " in decide(IDLE, c.Choose(action=Action.COMPLETE, action_id="n")).blockers[0].hint
    used = decide(replace(IDLE, iteration=7), e.IterationsGiven(max_iterations=3)).blockers[0].message
    assert ("7" in used, "3" in used) == (True, True)
    failed = replace(loop(**VALIDATED), tasks=tuple(task(name, "failed") for name in "ABCDEF"))
    (held,) = decide(failed, c.Advance(action_id="n", no_progress=3)).events
    assert held.hold.message.endswith(": A, B, C, D, E")
