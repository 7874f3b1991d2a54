"""A command that is frozen, thawed and read, with a family that is a table and a clock that is a number."""

from __future__ import annotations

import os
import select
import signal
import subprocess
from types import SimpleNamespace

import pytest

from loopwright.kernel import process_tree, watched
from loopwright.kernel.cancellation import Cancellation
from loopwright.kernel.freezing import Freezer
from loopwright.kernel.watched import Ending, PausableCommand, Watched

LEADER = 10


class Group:
    def __init__(self, *pids):
        self.pids = pids
        self.is_frozen = True
        self.calls = []
        self.freezes = True

    def freeze(self):
        self.calls.append("freeze")
        return self.freezes

    def thaw(self):
        self.calls.append("thaw")

    def members(self):
        return list(self.pids)

    def contains_all_threads(self, pid):
        return pid in self.pids


class Family:
    """Processes by pid, each with its parent and its states; a stopped process has the state T."""

    def __init__(self):
        self.leader = LEADER
        self.group = None
        self.had_deaths = False
        self.parents = {LEADER: 1}
        self.states = {LEADER: {"S"}}
        self.wrapper = frozenset()
        self.stubborn = set()
        self.refused = {}
        self.calls = []
        self.sent = []

    def add(self, pid, parent=LEADER, state="S"):
        self.parents[pid] = parent
        self.states[pid] = {state}

    def members(self, *, to_freeze):
        assert to_freeze
        return [pid for pid in self.parents if pid != self.leader]

    def wrapper_processes(self, members):
        assert members[0] == self.leader
        return self.wrapper

    def mark_frozen(self):
        self.calls.append("frozen")

    def mark_thawed(self):
        self.calls.append("thawed")

    def enclose(self):
        self.calls.append("enclose")

    def kill(self, pid, number):
        if pid in self.refused:
            raise self.refused[pid]
        self.sent.append((pid, signal.Signals(number).name))
        if pid not in self.stubborn:
            self.states[pid] = {"T"} if number == signal.SIGSTOP else {"S"}

    def kill_all(self, pids, number):
        for pid in pids:
            self.kill(pid, number)

    def kill_group(self, leader, number):
        self.sent.append((-leader, signal.Signals(number).name))


class Clock:
    """A clock that goes on while the code sleeps."""

    def __init__(self):
        self.now = 1000.0
        self.naps = []

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.naps.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(watched, "time", made)
    return made


@pytest.fixture
def family(monkeypatch):
    made = Family()
    monkeypatch.setattr(process_tree, "states", lambda pid: made.states[pid])
    monkeypatch.setattr(process_tree, "parent", made.parents.get)
    monkeypatch.setattr(process_tree, "kill_all", made.kill_all)
    monkeypatch.setattr(process_tree, "kill_group", made.kill_group)
    monkeypatch.setattr(os, "kill", made.kill)
    return made


@pytest.fixture
def freezer():
    return Freezer()


@pytest.fixture
def listener(freezer):
    with freezer.listen() as made:
        yield made


@pytest.fixture
def command(family, listener, clock):
    return PausableCommand(family, listener, clock.now)


def test_a_command_without_a_freezer_is_left_alone(family, clock):
    command = PausableCommand(family, None, clock.now)
    clock.now += 5
    command.apply_request()
    command.thaw()
    assert (family.calls, family.sent, command.look_in_s) == ([], [], None)
    assert (command.worked_s, command.frozen_s, command.is_frozen) == (5.0, 0.0, False)


def test_a_command_gets_a_group_when_it_runs_for_a_while(command, family, clock):
    assert command.look_in_s == pytest.approx(0.03)
    clock.now += 0.02
    command.apply_request()
    assert family.calls == []
    clock.now = 1000.03
    command.apply_request()
    command.apply_request()
    assert family.calls == ["enclose"]
    assert command.look_in_s is None


def test_parents_are_stopped_first_and_continue_last(command, family, freezer, clock, listener):
    family.add(20)
    family.add(30, 20)
    freezer.freeze()
    command.apply_request()
    assert family.calls == ["enclose", "frozen"]
    assert family.sent == [(10, "SIGSTOP"), (20, "SIGSTOP"), (30, "SIGSTOP")]
    assert command.is_frozen
    assert listener.is_frozen
    assert freezer.settled(0)
    assert command.look_in_s == pytest.approx(0.5)
    clock.now += 7
    assert command.frozen_s == pytest.approx(7)
    family.sent.clear()
    freezer.thaw()
    command.apply_request()
    assert family.sent == [(30, "SIGCONT"), (20, "SIGCONT"), (10, "SIGCONT")]
    assert family.calls[-1] == "thawed"
    assert not command.is_frozen
    assert freezer.settled(0)
    clock.now += 2
    assert command.frozen_s == pytest.approx(7)
    assert command.worked_s == pytest.approx(2, abs=0.01)
    assert command.look_in_s is None
    family.calls.clear()
    command.thaw()
    assert family.calls == [], "a command that runs needs no thaw"


def test_frozen_times_add_up(command, freezer, clock):
    for seconds in (3, 4):
        freezer.freeze()
        command.apply_request()
        clock.now += seconds
        freezer.thaw()
        command.apply_request()
    assert command.frozen_s == pytest.approx(7)


def test_a_process_that_was_stopped_before_is_not_woken(command, family, freezer):
    family.add(20, state="T")
    family.add(21, state="Z")
    freezer.freeze()
    command.apply_request()
    freezer.thaw()
    command.apply_request()
    assert [pid for pid, _ in family.sent] == [10, 10]


def test_a_frozen_command_is_looked_at_again(command, family, freezer, clock):
    freezer.freeze()
    command.apply_request()
    family.add(20)
    clock.now += 0.4
    command.apply_request()
    assert (20, "SIGSTOP") not in family.sent
    clock.now += 0.1
    since = command.frozen_s
    command.apply_request()
    assert (20, "SIGSTOP") in family.sent
    assert command.frozen_s >= since, "the clock stays stopped"


def test_a_process_that_does_not_stop_is_tried_again_soon(command, family, freezer, clock, listener):
    family.add(20)
    family.stubborn.add(20)
    freezer.freeze()
    command.apply_request()
    assert 1000.2 < clock.now < 1000.3, "one attempt is short"
    assert not command.is_frozen
    assert not listener.is_frozen
    assert command.look_in_s == pytest.approx(0.02)
    family.stubborn.clear()
    family.states[20] = {"T"}
    clock.now += 0.02
    command.apply_request()
    assert command.is_frozen


def test_the_children_of_a_parent_that_does_not_stop_are_left_to_the_next_look(command, family, freezer, clock):
    family.add(20, 15)
    family.add(15, LEADER)
    family.stubborn.add(15)
    freezer.freeze()
    command.apply_request()
    stopped = [pid for pid, _ in family.sent]
    assert stopped[:3] == [10, 15, 15]
    assert 20 not in stopped


def test_children_stay_untouched_while_any_of_their_parents_runs(command, family, freezer, clock):
    for pid, parent in ((15, LEADER), (16, LEADER), (17, 16), (18, 17), (19, 15)):
        family.add(pid, parent)
    family.stubborn = {15, 17}
    freezer.freeze()
    command.apply_request()
    assert {pid for pid, _ in family.sent} == {LEADER, 15, 16, 17}


def test_a_parent_that_needs_a_moment_is_waited_for(command, family, freezer, clock, monkeypatch):
    family.add(20)
    family.stubborn = {LEADER}
    looks = []

    def members(*, to_freeze, real=family.members):
        looks.append(clock.now)
        return real(to_freeze=to_freeze)

    def sleep(seconds):
        clock.now += seconds
        family.states[LEADER] = {"T"}

    monkeypatch.setattr(clock, "sleep", sleep)
    monkeypatch.setattr(family, "members", members)
    freezer.freeze()
    command.apply_request()
    assert command.is_frozen
    assert len(looks) == 3, "one to stop all, and two that are equal"


def test_a_process_out_of_reach_or_gone_is_passed_over(command, family, freezer):
    family.add(20)
    family.add(21)
    family.refused = {20: PermissionError(), 21: ProcessLookupError()}
    family.states[21] = {"Z"}
    freezer.freeze()
    command.apply_request()
    assert command.is_frozen
    family.refused.clear()
    freezer.thaw()
    command.apply_request()
    assert (20, "SIGCONT") not in family.sent
    freezer.freeze()
    command.apply_request()
    assert (20, "SIGSTOP") in family.sent, "another freeze tries again"


def test_a_process_that_ends_while_it_is_stopped_is_no_problem(command, family, freezer):
    family.refused = {LEADER: ProcessLookupError()}
    family.states[LEADER] = set()
    freezer.freeze()
    command.apply_request()
    assert command.is_frozen
    assert family.sent == []


def test_a_process_in_deep_sleep_counts_as_frozen_after_a_while(command, family, freezer, clock):
    family.add(20, state="D")
    family.stubborn.add(20)
    freezer.freeze()
    command.apply_request()
    assert command.is_frozen
    assert clock.now > 1000.1
    assert command.look_in_s == pytest.approx(0.1), "it is looked at sooner"


def test_a_process_that_no_signal_was_sent_to_is_not_taken_for_a_deep_sleeper(command, family, freezer, clock):
    family.add(20, state="D")
    freezer.freeze()
    command.apply_request()
    assert (20, "SIGSTOP") in family.sent
    assert command.is_frozen


def test_deaths_in_the_family_tell_of_processes_that_were_not_seen(command, family, freezer):
    family.had_deaths = True
    freezer.freeze()
    command.apply_request()
    assert not command.is_frozen


def test_a_group_freezes_its_members_without_signals(command, family, freezer, clock):
    family.group = Group(LEADER, 20)
    family.add(20)
    family.add(30)
    freezer.freeze()
    command.apply_request()
    assert command.is_frozen
    assert family.sent == [(30, "SIGSTOP")]
    freezer.thaw()
    command.apply_request()
    assert family.group.calls == ["freeze", "thaw"]


def test_a_thread_of_a_group_may_be_seen_by_its_group_only(command, family, freezer):
    family.group = Group(LEADER)
    family.add(20)
    family.group.contains_all_threads = lambda pid: pid == 20
    freezer.freeze()
    command.apply_request()
    assert (command.is_frozen, family.sent) == (True, [])


def test_a_group_that_is_not_frozen_yet_is_waited_for(command, family, freezer, clock):
    family.group = Group(LEADER)
    family.group.is_frozen = False
    freezer.freeze()
    command.apply_request()
    assert not command.is_frozen
    assert set(clock.naps) == {0.0005}


def test_a_group_that_can_not_freeze_is_replaced_by_signals(command, family, freezer):
    family.group = Group(LEADER)
    family.group.freezes = False
    family.group.is_frozen = False
    freezer.freeze()
    command.apply_request()
    assert (command.is_frozen, family.sent) == (True, [(LEADER, "SIGSTOP")])


def test_a_wrapper_is_stopped_last_and_continues_while_others_run(command, family, freezer):
    family.wrapper = frozenset({LEADER, 20})
    family.add(20)
    family.add(30, 20)
    freezer.freeze()
    command.apply_request()
    assert [pid for pid, _ in family.sent] == [30, 10, 20]
    family.sent.clear()
    family.add(31, 20)
    command._look_at = 0.0
    command.apply_request()
    assert family.sent[:3] in (
        [(10, "SIGCONT"), (20, "SIGCONT"), (31, "SIGSTOP")],
        [(20, "SIGCONT"), (10, "SIGCONT"), (31, "SIGSTOP")],
    )
    assert sorted(family.sent[3:]) == [(10, "SIGSTOP"), (20, "SIGSTOP")]


def test_a_wrapper_collects_what_died_meanwhile(command, family, freezer):
    family.wrapper = frozenset({LEADER})
    family.add(30)
    freezer.freeze()
    command.apply_request()
    family.sent.clear()
    looks = []

    def members(*, to_freeze):
        looks.append(to_freeze)
        return [30] if len(looks) == 1 else []

    family.members = members
    command._look_at = 0.0
    command.apply_request()
    assert family.sent == [(10, "SIGCONT"), (10, "SIGSTOP")]


def test_without_proc_the_process_group_is_stopped(command, family, freezer, monkeypatch):
    monkeypatch.setattr(process_tree, "KNOWS_DESCENDANTS", False)
    freezer.freeze()
    command.apply_request()
    assert command.is_frozen
    assert command.look_in_s == pytest.approx(0.5)
    freezer.thaw()
    command.apply_request()
    assert family.sent == [(-10, "SIGSTOP"), (-10, "SIGCONT")]


class Swept:
    """A family of a child that is really there."""

    def __init__(self, child):
        self.child = child
        self.group = None
        self.sent = []
        self.swept = 0

    def signal(self, number):
        self.sent.append(number.name)
        self.child.send_signal(number)

    def sweep(self):
        self.swept += 1


class Steady:
    """A command that is never frozen, or always."""

    def __init__(self):
        self.is_frozen = False
        self.worked_s = 0.0
        self.look_in_s = None
        self.calls = []

    def thaw(self):
        self.calls.append("thaw")

    def apply_request(self):
        self.calls.append("apply")


@pytest.fixture
def start():
    children = []

    def begin(script, pausable=None, sinks=None):
        out = []
        child = subprocess.Popen(
            ["sh", "-c", script],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
        )  # fmt: skip
        children.append(child)
        made = Watched(child, Swept(child), pausable or Steady(), sinks or (out.append, out.append))
        return SimpleNamespace(child=child, watched=made, out=out, family=made._family, pausable=made._pausable)

    yield begin
    for child in children:
        if child.poll() is None:
            child.kill()
            child.wait()


def test_output_is_read_until_the_end_and_all_is_closed(start):
    begun = start("echo one; echo two >&2; exit 3")
    assert begun.watched.follow(None, None, None) is Ending.EXITED
    begun.watched.finish()
    assert sorted(begun.out) == [b"one\n", b"two\n"]
    assert begun.family.swept == 1
    assert begun.child.stdout.closed
    assert begun.child.stderr.closed
    with pytest.raises(OSError, match="descriptor"):
        os.fstat(begun.watched._exit_handle)


def test_a_timeout_ends_the_child(start):
    pausable = Steady()
    pausable.worked_s = 5.0
    begun = start("exec sleep 1000", pausable)
    assert begun.watched.follow(5.0, None, None) is Ending.TIMED_OUT
    begun.watched.finish()
    assert begun.family.sent == ["SIGTERM"]
    assert pausable.calls == ["thaw"]


def test_a_stubborn_child_is_killed_after_its_grace(start, monkeypatch):
    monkeypatch.setattr(watched, "_GRACE_S", 0.05)
    request = Cancellation()
    request.request("enough")
    begun = start("trap '' TERM; echo ready; while :; do sleep 0.01; done")
    select.select([begun.child.stdout], [], [])
    with Freezer().listen() as listener:
        assert begun.watched.follow(None, request, listener) is Ending.CANCELLED
    begun.watched.finish()
    assert begun.family.sent[:2] == ["SIGTERM", "SIGKILL"]
    request.close()


def test_a_frozen_child_has_no_timeout_and_a_stop_still_reaches_it(start):
    pausable = Steady()
    pausable.worked_s, pausable.is_frozen = 9.0, True
    begun = start("exec sleep 1000", pausable)
    assert begun.watched._left_s(5.0) is None
    pausable.is_frozen = False
    assert begun.watched._left_s(5.0) == 0.0
    assert begun.watched._left_s(10.0) == 1.0
    assert begun.watched._left_s(None) is None
    begun.watched.finish()
    assert begun.child.poll() == -signal.SIGKILL


@pytest.mark.parametrize(
    ("timeout_s", "look_in_s", "kill_at", "wait_s"),
    [
        (None, None, None, None),
        (5.0, None, None, 5.0),
        (5.0, 0.5, None, 0.5),
        (1e9, None, None, 3600.0),
        (5.0, 0.5, 1007.0, 7.0),
        (5.0, 0.5, 999.0, 0.0),
    ],
)
def test_a_wait_ends_with_the_next_thing_to_do(start, clock, timeout_s, look_in_s, kill_at, wait_s):
    begun = start("exit 0")
    begun.pausable.look_in_s = look_in_s
    assert begun.watched._pause(timeout_s, kill_at) == wait_s
    begun.watched._exit_handle, handle = None, begun.watched._exit_handle
    assert begun.watched._pause(timeout_s, kill_at) == (0.02 if wait_s is None else min(wait_s, 0.02))
    begun.watched._exit_handle = handle
    begun.watched.finish()


def test_a_child_is_polled_where_its_end_can_not_be_waited_for(start, monkeypatch):
    monkeypatch.setattr(process_tree, "exit_handle", lambda _: None)
    begun = start("echo one; exit 3")
    assert begun.watched.follow(None, None, None) is Ending.EXITED
    begun.watched.finish()
    assert begun.out == [b"one\n"]


def test_a_pipe_that_stays_open_is_not_waited_for(start, monkeypatch):
    monkeypatch.setattr(watched, "_DRAIN_S", 1e6)
    begun = start("sleep 1000 & echo $!")
    assert begun.watched.follow(None, None, None) is Ending.EXITED
    begun.watched.finish()
    os.kill(int(b"".join(begun.out)), signal.SIGKILL)


def test_all_that_is_left_in_a_pipe_is_read(start, monkeypatch):
    monkeypatch.setattr(watched, "_CHUNK", 10_000)
    begun = start("head -c 60000 /dev/zero; echo end >&2")
    begun.child.wait()
    begun.watched.finish()
    assert len(b"".join(begun.out)) == 60004


def test_a_reader_that_never_ends_is_left_after_a_while(start, monkeypatch, clock):
    begun = start("exit 0")
    begun.child.wait()
    rounds = []

    def read(timeout):
        assert timeout == 0
        rounds.append(clock.sleep(0.5))
        return True

    monkeypatch.setattr(begun.watched, "_read_once", read)
    begun.watched.finish()
    assert len(rounds) == 4
