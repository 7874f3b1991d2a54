"""Working time, computed from the log: without pauses, waits and the time after a worker died."""

from __future__ import annotations

from functools import reduce

from loopwright.loop import events as e
from loopwright.loop.clocking import Clocked, clocked, clocked_now
from loopwright.loop.log import START, Line
from loopwright.loop.model import Action, Hold, Holder, OpenTurn, Worker

WORKER = e.WorkerArrived(worker=Worker(pid=1, host="h", since=""))
PAUSED = e.HoldPlaced(hold=Hold(holder=Holder.OPERATOR, code="paused", message="m", since=""))
RESUMED = e.HoldLifted(holder=Holder.OPERATOR)
BEGUN = e.ActionStarted(action=Action.DEVELOP, action_id="a")
DONE = e.ActionDone(action_id="a", action=Action.DEVELOP)


def at(second):
    return f"2026-01-01T00:{second // 60:02}:{second % 60:02}Z"


def told(*moments):
    lines = (
        Line(revision=n, at=at(s), actor="x", events=(event,), previous=START) for n, (s, event) in enumerate(moments)
    )
    return reduce(clocked, lines, Clocked())


def test_the_time_of_an_action_counts_while_a_worker_runs():
    clocks = told((0, e.LoopStarted()), (5, WORKER), (10, BEGUN), (40, DONE), (60, BEGUN))
    assert (clocks.total_s, clocks.action_s) == (30, 0)
    now = clocked_now(clocks, at(62), has_worker=True)
    assert (now.total_s, now.action_s) == (32, 2)


def test_a_pause_does_not_count_until_both_holds_are_lifted():
    budget = e.HoldPlaced(hold=Hold(holder=Holder.BUDGET, code="c", message="m", since=""))
    clocks = told((0, WORKER), (0, BEGUN), (10, PAUSED), (20, budget), (30, RESUMED))
    assert clocked_now(clocks, at(50), has_worker=True).action_s == 10
    clocks = told((0, WORKER), (0, BEGUN), (10, PAUSED), (30, RESUMED))
    assert clocked_now(clocks, at(31), has_worker=True).action_s == 11


def test_the_time_between_a_dead_worker_and_the_next_does_not_count():
    dead = told((0, WORKER), (0, BEGUN), (7, e.CostCounted(spent=e.Spent())))
    assert clocked_now(dead, at(500), has_worker=False).total_s == 7
    again = told((0, WORKER), (0, BEGUN), (7, e.CostCounted(spent=e.Spent())), (600, WORKER))
    assert clocked_now(again, at(603), has_worker=True).total_s == 10


def test_a_clock_that_is_set_back_subtracts_nothing():
    assert told((100, WORKER), (100, BEGUN), (130, PAUSED), (20, RESUMED), (10, DONE)).total_s == 30


def test_a_question_after_the_work_counts_and_has_its_own_time():
    asked = e.TurnBegun(turn=OpenTurn(name="a-builder-after", agent="claude", mailbox="m", is_question=True))
    paid = e.CostCounted(spent=e.Spent(), turn="a-builder-after")
    clocks = told((0, WORKER), (0, BEGUN), (10, DONE), (12, asked))
    assert clocked_now(clocks, at(15), has_worker=True).action_s == 3
    clocks = told((0, WORKER), (0, BEGUN), (10, DONE), (12, asked), (20, paid), (50, PAUSED))
    assert clocks.total_s == 18
    amid = told((0, WORKER), (0, BEGUN), (5, asked), (7, paid))
    assert clocked_now(amid, at(10), has_worker=True).action_s == 10, "a turn of the action is part of it"
