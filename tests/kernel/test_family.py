"""Which processes belong to a command, on a machine that is a table: no process is started."""

from __future__ import annotations

import os
import signal

import pytest

from loopwright.kernel import cgroup, family, process_tree
from loopwright.kernel.family import MARK_VARIABLE, ProcessFamily

LEADER, OTHER = 10, 11


class Group:
    """A control group that takes every process but those in `refused`."""

    def __init__(self, *pids, refused=()):
        self.pids = list(pids)
        self.refused = refused
        self.calls = []

    def add(self, pid):
        if pid not in self.refused:
            self.pids.append(pid)
        return pid not in self.refused

    def members(self):
        return list(self.pids)

    def kill(self):
        self.calls.append("kill")
        self.pids.clear()

    def remove(self, until):
        self.calls.append("remove")
        self.until = until


class Machine:
    """Parents, marks and sessions of processes. The pids in `dead` have ended and were not collected."""

    def __init__(self):
        self.children = {}
        self.marks = {}
        self.sessions = {}
        self.own = []
        self.dead = set()
        self.undying = set()
        self.killed = []
        self.reaped = []

    def descendants(self, *pids):
        below = [child for pid in pids for child in self.children.get(pid, ())]
        return below + (self.descendants(*below) if below else [])

    def collect(self, pids):
        gone = set(pids) & self.dead
        self.own = [pid for pid in self.own if pid not in gone]
        return gone

    def kill_all(self, pids, number):
        pids = list(pids)
        self.killed.append((pids, number))
        if number is signal.SIGKILL:
            self.dead.update(set(pids) - self.undying)
        return len(pids)

    def session(self, pid):
        if pid not in self.sessions:
            raise ProcessLookupError
        return self.sessions[pid]

    def has(self, pid, text):
        return f"{MARK_VARIABLE}={self.marks.get(pid)}\0".encode() == text

    def parent(self, pid):
        return next((parent for parent, children in self.children.items() if pid in children), 1)


@pytest.fixture
def machine(monkeypatch):
    made = Machine()
    for name in ("_ours", "_groups"):
        monkeypatch.setattr(family, name, {})
    for name in ("_frozen", "_dying"):
        monkeypatch.setattr(family, name, set())
    monkeypatch.setattr(process_tree, "own_children", lambda: list(made.own))
    monkeypatch.setattr(process_tree, "environment_has", made.has)
    monkeypatch.setattr(process_tree, "reap", lambda pids, until: made.reaped.append((set(pids), until)))
    for name in ("descendants", "collect", "kill_all", "parent"):
        monkeypatch.setattr(process_tree, name, getattr(made, name))
    monkeypatch.setattr(os, "getsid", made.session)
    return made


@pytest.fixture
def one(machine):
    """A family that runs, with its leader."""
    return _family(machine, LEADER, "one")


def _family(machine, leader, mark, *, wrapped=False):
    machine.own.append(leader)
    family._ours[leader] = mark
    return ProcessFamily(leader, mark, wrapped=wrapped)


def test_every_process_gets_a_mark_of_its_own():
    marks = [family.mark_of("/a").rpartition(":") for _ in range(2)]
    assert [mark[0] for mark in marks] == [f"/a:{os.getpid()}"] * 2
    assert marks[0][2] != marks[1][2]


@pytest.mark.usefixtures("machine")
def test_a_child_is_known_from_its_start_to_its_end(one):
    class Child:
        pid = 77

    child = Child()
    assert family.note_start(lambda: child, "mark") is child
    assert family._ours == {LEADER: "one", 77: "mark"}
    family.note_end(77)
    family.note_end(77)
    assert family._ours == {LEADER: "one"}


def test_descendants_and_marked_orphans_are_members_parents_first(machine, one):
    machine.children = {LEADER: [20, 21], 21: [22], 30: [31]}
    machine.own += [30, 40, 50]
    machine.marks = {30: "one", 50: "other"}
    machine.sessions = {40: LEADER, 50: 50}
    family._ours[OTHER] = "other"
    machine.own.append(OTHER)
    members = one.members()
    assert (sorted(members[:2]), members[2:]) == ([30, 40], [20, 21, 31, 22])
    assert one.had_deaths is False


def test_a_process_of_unknown_origin_belongs_to_the_last_family(machine, one):
    machine.own.append(60)
    assert one.members() == [60]
    family._ours[OTHER] = ""  # a helper command leaves no orphans
    assert one.members() == [60]
    family._ours[OTHER] = "other"
    assert one.members() == one.members(to_freeze=True) == []
    family._frozen.add("other")
    assert one.members() == []
    assert one.members(to_freeze=True) == [60]
    machine.marks = {60: "other"}
    assert one.members(to_freeze=True) == []


def test_dead_children_are_collected_and_tell_of_others_only_in_the_last_family(machine, one):
    machine.own += [60, 61]
    machine.dead = {60, 61}
    assert one.members() == []
    assert one.had_deaths is True
    assert LEADER in machine.own
    machine.own.append(60)
    family._ours[OTHER] = "other"
    one.members()
    assert one.had_deaths is False
    machine.dead.clear()
    family._ours.pop(OTHER)
    one.members()
    assert one.had_deaths is False


def test_a_process_in_a_group_belongs_to_the_family_of_the_group(machine, one):
    machine.own += [60, 61, 62]
    machine.marks = {61: "one"}
    family._ours[OTHER] = "other"
    family._groups.update({"other": Group(61), "one": Group(60)})
    one.group = Group(LEADER, 60, 70)
    assert one.members() == [60, 70]


@pytest.mark.usefixtures("machine")
def test_a_wrapper_has_two_processes(machine):
    machine.children = {LEADER: [20], 20: [21]}
    wrapped = _family(machine, LEADER, "one", wrapped=True)
    assert wrapped.wrapper_processes([21]) == {LEADER}
    assert wrapped.wrapper_processes([LEADER, 20, 21]) == {LEADER, 20}
    assert wrapped.wrapper_processes([]) == {LEADER, 20}, "the first one is kept"
    assert _family(machine, OTHER, "other").wrapper_processes([20]) == set()


def test_a_family_is_frozen_until_it_is_thawed(one):
    one.mark_frozen()
    assert family._frozen == {"one"}
    one.mark_thawed()
    one.mark_thawed()
    assert family._frozen == set()


@pytest.mark.parametrize(
    ("wrapped", "children", "number", "signalled"),
    [
        (False, [20], signal.SIGTERM, [LEADER, 20]),
        (True, [20], signal.SIGTERM, [20]),
        (True, [], signal.SIGTERM, [LEADER]),
        (True, [20], signal.SIGKILL, [LEADER, 20]),
    ],
)
def test_a_signal_reaches_the_family_but_no_wrapper(machine, wrapped, children, number, signalled):
    machine.children = {LEADER: children}
    made = _family(machine, LEADER, "one", wrapped=wrapped)
    made.group = Group()
    made.signal(number)
    assert machine.killed == [(signalled, number)]
    assert made.group.calls == (["kill"] if number is signal.SIGKILL else [])


def test_without_knowledge_of_descendants_the_process_group_is_signalled(machine, one, monkeypatch):
    sent = []
    monkeypatch.setattr(process_tree, "KNOWS_DESCENDANTS", False)
    monkeypatch.setattr(process_tree, "kill_group", lambda *arguments: sent.append(arguments))
    one.signal(signal.SIGTERM)
    assert (sent, machine.killed) == ([(LEADER, signal.SIGTERM)], [])


def test_a_sweep_kills_orphans_and_what_is_below_them(machine, one, monkeypatch):
    monkeypatch.setattr(family.time, "monotonic", lambda: 100.0)
    machine.own += [30, 31]
    machine.children = {30: [32]}
    one.mark_frozen()
    one.sweep()
    assert machine.killed == [([32, 30], signal.SIGKILL), ([31], signal.SIGKILL)]
    assert machine.reaped == [({30, 31}, 102.0)]
    assert family._frozen == set()


def test_a_sweep_leaves_what_may_belong_to_a_frozen_family(machine, one):
    machine.own.append(60)
    family._ours[OTHER] = "other"
    family._frozen.add("other")
    one.sweep()
    assert machine.killed == []


def test_a_sweep_ends_at_its_deadline(machine, one, monkeypatch):
    moments = iter([100.0, 101.0, 102.0, 102.1])
    monkeypatch.setattr(family.time, "monotonic", lambda: next(moments))
    machine.own.append(30)
    machine.undying = {30}
    one.sweep()
    assert len(machine.killed) == 3


def test_an_empty_namespace_is_killed_and_not_waited_for(machine, monkeypatch):
    wrapped = _family(machine, LEADER, "one", wrapped=True)
    machine.own += [30, 31]
    machine.undying = {30, 31}
    machine.children = {31: [32]}

    def end(pids, _):
        machine.dead.update(pids)

    monkeypatch.setattr(process_tree, "reap", end)
    wrapped.sweep()
    assert family._dying == {30}
    assert wrapped.members() == []
    machine.dead.add(30)
    wrapped.members()
    assert family._dying == set()


def test_a_sweep_removes_the_group(machine, one, monkeypatch):
    monkeypatch.setattr(family.time, "monotonic", lambda: 100.0)
    one.group = group = Group(40)
    family._groups["one"] = group
    machine.own.append(40)
    machine.undying = {40}
    monkeypatch.setattr(process_tree, "reap", lambda pids, until: machine.dead.update(pids))
    one.sweep()
    assert group.calls == ["kill", "remove"]
    assert group.until == 102.0
    assert family._groups == {}
    one.group = empty = Group()
    one.sweep()
    assert empty.calls == ["remove"]


def test_a_family_is_moved_into_its_group(machine, one, monkeypatch):
    group = Group()
    monkeypatch.setattr(cgroup, "new_group", lambda: group)
    machine.children = {LEADER: [20, 21]}
    one.enclose()
    assert one.group is family._groups["one"] is group
    assert group.pids == [LEADER, 20, 21]


def test_moving_ends_when_nothing_moves(machine, one, monkeypatch):
    group = Group(refused=(20,))
    monkeypatch.setattr(cgroup, "new_group", lambda: group)
    machine.children = {LEADER: [20]}
    one.enclose()
    assert group.pids == [LEADER]
    rounds = []
    monkeypatch.setattr(one, "members", lambda: [rounds.append(1) or 100 + len(rounds)])
    one.enclose()
    assert len(rounds) == 5, "a family that grows faster than it is moved"


def test_a_family_may_have_no_group(machine, one, monkeypatch):
    group = Group(refused=(LEADER,))
    monkeypatch.setattr(cgroup, "new_group", lambda: group)
    one.enclose()
    assert (one.group, group.calls, group.until) == (None, ["remove"], 0.0)
    wrapped = _family(machine, OTHER, "other", wrapped=True)
    wrapped.enclose()
    assert wrapped.group is None
    monkeypatch.setattr(cgroup, "new_group", lambda: None)
    one.enclose()
    assert (one.group, family._groups) == (None, {})
