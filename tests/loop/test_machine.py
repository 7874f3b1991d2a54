"""Random commands, crashes, clocks and other tools at one loop, by two clients that do not know of each other.

Invariants hold, and replaying the log gives the live state.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from loopwright.errors import LoopConflict, LoopRefused
from loopwright.judging.reports.model import TestResult
from loopwright.loop import commands as c
from loopwright.loop import events as e
from loopwright.loop import log, store
from loopwright.loop.model import (
    Action,
    Budget,
    Completed,
    Criteria,
    Hold,
    Holder,
    Hypothesis,
    ProgressMark,
    Spent,
    Task,
    Tree,
    Validation,
    Worker,
)
from loopwright.loop.projection import document_of, status_of
from loopwright.loop.rules import evolve
from loopwright.loop.store import LoopStore
from loopwright.workspace.layout import Flavour, Layout

LOOP = "loop-v2-20260101-abcdef"
IDS = st.sampled_from(["T-1", "T-2", "T-3"])
ACTIONS = st.sampled_from([f"a{number}" for number in range(6)])
NOW = "2026-01-01T00:00:00Z"
# The contract's table; any other event leaves the status unchanged.
MOVES = {
    ("created", "running"), ("created", "failed"), ("running", "paused"), ("running", "failed"),
    ("running", "completed"), ("paused", "completed"), ("paused", "running"), ("paused", "failed"),
    ("completed", "running"), ("failed", "running"),
}  # fmt: skip


def task(name):
    return Task(id=name, description="do it", tool="scripted", mode="write", status="pending", created_at=NOW)


def hypothesis_of(name):
    criteria = Criteria(confirm="yes", reject="no")
    return Hypothesis(
        id=name, description="d", testable_condition="t", logging_point="l", evidence_criteria=criteria, likelihood=1
    )


def result(status):
    return TestResult(test_name=f"test_{status}", suite="s", status=status, duration_ms=1)


VALIDATIONS = st.builds(
    Validation,
    results=st.lists(st.sampled_from(["passed", "failed", "skipped"]).map(result), max_size=3).map(tuple),
    coverage=st.none() | st.floats(0, 100),
    passed=st.booleans(),
    last_run_at=st.just(NOW),
    run_id=st.just("run-1"),
)
MARKS = st.sampled_from(["x", "y"]).map(lambda tree: ProgressMark(tree=tree, failing=(), evidence=""))
TREES = st.none() | st.sampled_from(["b", "t1", "t2"]).map(
    lambda name: Tree(commit=None, base_tree="b", tree=name, patch_sha256=name)
)
WORKED = Tree(commit=None, base_tree="b", tree="t3", patch_sha256="t3")
HOLDERS = st.sampled_from(list(Holder))
CONTROL = st.one_of(
    st.just(e.LoopStarted()),
    HOLDERS.map(lambda holder: e.HoldPlaced(hold=Hold(holder=holder, code="x", message="held", since=NOW))),
    st.frozensets(HOLDERS).map(lambda lifts: c.Resume(lifts=lifts)),
    st.just(e.LoopStopped(by="ann")),
    st.just(e.LoopFailed(code="crashed", reason="no way on")),
    st.sampled_from([c.Finish(), c.Finish(forced="seen")]),
    st.sampled_from([c.Accept(by="ann"), c.Accept(by="ann", reason="looked at it")]),
    st.sampled_from([c.Retry(), c.Retry(max_iterations=9)]),
    st.integers(0, 12).map(lambda most: e.IterationsGiven(max_iterations=most)),
    st.just(e.BudgetSet(budget=Budget(usd=1.0))),
    st.just(e.CostCounted(spent=Spent(usd=0.1, tokens=5, turns=1))),
    st.just(e.WorkerArrived(worker=Worker(pid=1, host="h", since=NOW))),
    st.just(e.WorkerLeft(why="done")),
)
TASKS = st.one_of(
    st.builds(lambda name, before: e.TaskAdded(task=task(name), before=before), IDS, st.none() | IDS),
    IDS.map(lambda name: e.TaskEdited(task=task(name))),
    IDS.map(lambda name: e.TaskRemoved(task_id=name)),
    IDS.map(lambda name: c.MarkTaskDone(task_id=name)),
    st.permutations(["T-1", "T-2", "T-3"]).map(lambda ids: e.TasksOrdered(task_ids=tuple(ids))),
)
CAUSES = (hypothesis_of("H1"), hypothesis_of("H2"))
WORK = st.one_of(
    ACTIONS.map(lambda name: c.Advance(action_id=name, no_progress=3)),
    st.builds(lambda action, name: c.Choose(action=action, action_id=name), st.sampled_from(list(Action)), ACTIONS),
    st.builds(lambda name, tasks: c.FinishInit(action_id=name, tasks=tuple(map(task, tasks))), ACTIONS, st.sets(IDS)),
    st.builds(
        lambda name, outcome, mark, tree, tried, then: c.FinishDevelop(
            action_id=name, outcome=outcome, files_changed=("a.py",), tree=tree, mark=mark, is_tried=tried,
            then=tuple(map(task, then)),
        ),
        ACTIONS, st.sampled_from(["completed", "failed", "pending"]), MARKS, TREES, st.booleans(), st.sets(IDS),
    ),
    ACTIONS.map(lambda name: c.ProposeHypotheses(action_id=name, bug="b", hypotheses=CAUSES)),
    st.builds(
        lambda name, which, status: c.JudgeHypothesis(
            action_id=name, hypothesis_id=which, status=status, evidence="seen", verdict_reason="so"
        ),
        ACTIONS, st.sampled_from(["H1", "H2", "H9"]), st.sampled_from(["confirmed", "rejected", "inconclusive"]),
    ),
    st.builds(
        lambda name, fix, mark: c.FinishDebug(action_id=name, fix=task("T-3") if fix else None, mark=mark),
        ACTIONS, st.booleans(), MARKS,
    ),
    st.builds(
        lambda name, found, mark, then: c.FinishValidate(
            action_id=name, validation=found, mark=mark, then=tuple(map(task, then))
        ),
        ACTIONS, VALIDATIONS, MARKS, st.sets(IDS),
    ),
    ACTIONS.map(lambda name: c.FinishComplete(action_id=name)),
    ACTIONS.map(lambda name: e.ActionPaused(action_id=name, session="s")),
    st.just(c.AbandonAction(why="died")),
)  # fmt: skip


class LoopMachine(RuleBasedStateMachine):
    """One loop, several actors, and a disk that stops in the middle of things."""

    def __init__(self):
        super().__init__()
        self.top = Path(tempfile.mkdtemp())
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        layout = Layout(self.top, Flavour.UNIFIED, self.top)
        self.store, self.other = (LoopStore(layout, lambda: self.now) for _ in range(2))
        self.paths = self.store.paths(LOOP)
        self.saved = None
        self.seen = None
        self.begun = 0
        self.recorded = b""

    def teardown(self):
        shutil.rmtree(self.top)

    @initialize(description=st.sampled_from(["", "plan it"]))
    def create(self, description):
        wanted = e.LoopCreated(loop_id=LOOP, title="t", description=description, max_iterations=5)
        self.store.create(wanted, "ann")

    def apply(self, command, actor):
        with self.store.changing(LOOP) as opened:
            try:
                opened.apply(command, actor)
            except LoopRefused:
                return False
        return True

    @rule(command=CONTROL)
    def control(self, command):
        self.apply(command, "ann")

    @rule(command=TASKS)
    def change_tasks(self, command):
        self.apply(command, "bob")

    @rule(command=WORK)
    def work(self, command):
        self.apply(self._named(command), "worker")

    def _named(self, command):
        """A new action gets its own name, as from the driver; the end of an action names it, or an old action."""
        if isinstance(command, c.Advance | c.Choose):
            self.begun += 1
            return msgspec.structs.replace(command, action_id=f"a{100 + self.begun}")
        at = self.store.load(LOOP).under_way
        if at is not None and getattr(command, "action_id", "a0") not in ("a0", "a1"):
            return msgspec.structs.replace(command, action_id=at.id)
        return command

    @rule()
    def look(self):
        self.seen = self.other.load(LOOP).revision

    @precondition(lambda self: self.seen is not None)
    @rule(command=CONTROL)
    def decide_by_an_old_look(self, command):
        """Another client names the revision that it read: if that revision is old, nothing happens."""
        before = self.store.load(LOOP)
        if before.revision != self.seen:
            with pytest.raises(LoopConflict), self.other.changing(LOOP, revision=self.seen) as opened:
                opened.apply(command, "eve")
            assert self.store.load(LOOP) == before
            return
        with self.other.changing(LOOP, revision=self.seen) as opened:
            try:
                opened.apply(command, "eve")
            except LoopRefused:
                assert opened.loop == before

    @rule(commands=st.lists(CONTROL | TASKS | WORK, min_size=1, max_size=4), torn=st.integers(0, 200))
    def die_in_a_block(self, commands, torn):
        """Kill the process after the last line or inside the next line, before any projection is written."""
        named = [self._named(command) for command in commands]
        with self.store.changing(LOOP) as opened:
            for command in named:
                try:
                    opened.apply(command, "worker")
                except LoopRefused:
                    continue
            opened._projected = opened._loop
        next_line = self.paths.events.read_bytes().splitlines()[-1]
        with self.paths.events.open("ab") as stream:
            stream.write(next_line[:torn])

    @rule(days=st.sampled_from([-4000, -1, 0, 1, 4000]))
    def set_the_clock(self, days):
        self.now = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=days)

    @rule()
    def go_on(self):
        """Do the next step of a worker, so that random moves make progress."""
        self._step()

    @rule()
    def try_in_vain(self):
        """A worker keeps work and tries more; then the tests fail, and the rules drop the try."""
        for _ in range(2):
            self.begun += 1
            self.apply(e.TaskAdded(task=task(f"V-{self.begun}")), "ann")
        self._step()
        self._step()
        self._step(is_tried=True)
        self._step(passes=False)

    def _step(self, *, is_tried=False, passes=True):
        self.apply(e.LoopStarted(), "ann")
        if not self.apply(c.Advance(action_id=f"w{self.store.load(LOOP).revision}", no_progress=3), "worker"):
            return
        at = self.store.load(LOOP).under_way
        mark = ProgressMark(tree=str(self.store.load(LOOP).revision), failing=(), evidence="")
        if at is None:
            return
        validation = Validation(results=(result("passed" if passes else "failed"),), passed=passes, run_id="r")
        outcome = {
            Action.INIT: c.FinishInit(action_id=at.id, tasks=()),
            Action.DEVELOP: c.FinishDevelop(
                action_id=at.id, outcome="completed", files_changed=("a.py",), tree=WORKED, mark=mark, is_tried=is_tried
            ),
            Action.VALIDATE: c.FinishValidate(action_id=at.id, validation=validation, mark=mark),
            Action.COMPLETE: c.FinishComplete(action_id=at.id),
        }
        if at.action in outcome:
            self.apply(outcome[at.action], "worker")

    @rule()
    def remember_the_files(self):
        files = (self.paths.state, self.paths.tasks, self.paths.head)
        self.saved = {path: path.read_bytes() for path in files if path.exists()}

    @precondition(lambda self: self.saved is not None)
    @rule(which=st.sets(st.integers(0, 2)))
    def crash_before_the_projections(self, which):
        """Crash after the log and before other files: these files are old."""
        for number, (path, data) in enumerate(self.saved.items()):
            if number in which:
                path.write_bytes(data)

    @rule(torn=st.binary(min_size=1, max_size=30).filter(lambda data: b"\n" not in data))
    def crash_in_the_middle_of_an_append(self, torn):
        with self.paths.events.open("ab") as stream:
            stream.write(torn)

    @rule(which=st.sampled_from(["state", "tasks", "head"]), damage=st.sampled_from([None, b"", b"\0\0\0", b"{"]))
    def lose_a_projection(self, which, damage):
        path = getattr(self.paths, which)
        if damage is None:
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(damage)

    @rule(status=st.sampled_from(["created", "running", "paused", "completed", "failed", "unheard-of"]))
    def another_tool_changes_the_status(self, status):
        self._edit(lambda document: {**document, "status": status})

    @rule(by=st.integers(-2, 3))
    def another_tool_counts(self, by):
        self._edit(lambda document: {**document, "current_iteration": document["current_iteration"] + by})

    @rule(
        field=st.sampled_from(["title", "max_iterations", "loop_id", "mine", "loopwright", "skill_state"]),
        value=st.sampled_from([1, "x", {}, None]),
    )
    def another_tool_writes_a_field(self, field, value):
        self._edit(lambda document: {**document, field: value})

    @rule(status=st.sampled_from(["completed", "failed", "pending", "odd"]))
    def another_tool_finishes_the_tasks(self, status):
        def change(document):
            skill = document.get("skill_state")
            if not skill:
                return document
            tasks = [{**line, "status": status} for line in skill["develop"]["tasks"]]
            passed = {
                **skill["validate"],
                "passed": True,
                "test_results": [{"test_name": "t", "suite": "s", "status": "passed", "duration_ms": 1}],
            }
            return {
                **document,
                "skill_state": {**skill, "develop": {**skill["develop"], "tasks": tasks}, "validate": passed},
            }

        self._edit(change)

    @rule(status=st.sampled_from(["running", "paused", "failed"]), key=st.integers(0, 3))
    def die_while_an_edit_is_taken(self, status, key):
        """Kill the process after the line that adopts or refuses the edit: the next command does not judge it again."""
        self._edit(lambda document: {**document, "status": status, "their_key": key})
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(store.OpenedLoop, "project", lambda opened: None)
            self.store.load(LOOP)
        died = log.replay(self.paths.events).state
        assert self.store.load(LOOP) == died

    def _edit(self, change):
        document = document_of(self.store.load(LOOP))
        self.paths.state.write_text(json.dumps(change(document)))

    @invariant()
    def replaying_the_log_gives_the_live_state(self):
        if not self.paths.events.exists():
            return
        loop = self.store.load(LOOP)
        replayed = log.replay(self.paths.events)
        assert replayed.damage is None
        assert replayed.state == loop
        assert json.loads(self.paths.state.read_bytes()) == json.loads(json.dumps(document_of(loop)))
        self._check_document(document_of(loop))
        self._check_log(loop)

    @staticmethod
    def _check_document(document):
        skill = document.get("skill_state")
        if skill is None:
            return
        tasks = skill["develop"]["tasks"]
        assert skill["develop"]["total"] == len(tasks)
        assert skill["develop"]["completed"] == sum(line["status"] == "completed" for line in tasks)
        assert skill["debug"]["hypotheses_count"] == len(skill["debug"]["hypotheses"])
        failed = [line["test_name"] for line in skill["validate"]["test_results"] if line["status"] == "failed"]
        assert skill["validate"]["failed_tests"] == failed
        assert (document["status"] == "paused") is bool(document["loopwright"]["holds"])
        assert document["current_iteration"] >= 0

    def _check_log(self, loop):
        data = self.paths.events.read_bytes()
        assert data.startswith(self.recorded), "recorded lines stay"
        self.recorded = data
        before, done, moments = None, [], []
        for _, line in log.lines(self.paths.events):
            moments.append(line.at)
            for event in line.events:
                after = evolve(before, event, line.at)
                self._check_move(before, event, after)
                before = after
                done += [event.action_id] if isinstance(event, e.ActionDone) else []
            assert line.revision == before.revision
        assert before == loop
        assert moments == sorted(moments), "times never decrease"
        assert len(done) == len(set(done)), "no action is done twice"
        if isinstance(loop.phase, Completed) and loop.phase.forced is None:
            assert loop.validation.run_id is not None, "only a run of our own opens the gate"

    @staticmethod
    def _check_move(before, event, after):
        if before is None:
            assert isinstance(event, e.LoopCreated)
            return
        assert after.revision == before.revision + 1
        statuses = (status_of(before), status_of(after))
        assert statuses[0] == statuses[1] or statuses in MOVES, f"{event} led from {statuses[0]} to {statuses[1]}"
        if isinstance(event, e.ActionStarted):
            assert before.under_way is None
            assert before.task(event.task_id or "") is None or before.task(event.task_id).status != "completed"
        if isinstance(event, e.WorkDropped):
            assert (after.tree, after.fallback, after.is_validated) == (before.fallback, None, False)
        if isinstance(event, e.LoopCompleted) and event.forced is None:
            assert before.is_validated
            assert before.fallback is None, "a fallback does not complete the loop"
            assert before.tree.has_changes, "a loop without changes is not done"
        if isinstance(event, e.ActionDone):
            assert before.under_way is not None
            assert before.under_way.id == event.action_id


LoopMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestLoop = LoopMachine.TestCase
