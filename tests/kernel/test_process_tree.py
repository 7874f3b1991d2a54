"""What `/proc` tells about processes, here in a folder of plain files, and the signals that follow from it."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time

import pytest

from loopwright.kernel import process_tree

OWN = 4242


class Proc:
    """A folder like `/proc`."""

    def __init__(self, folder):
        self.folder = folder

    def add(self, pid, parent, *, threads=None, began=7, children=None):
        for thread, state in (threads or {pid: "S"}).items():
            place = self.folder / str(pid) / "task" / str(thread)
            place.mkdir(parents=True)
            fields = [state, parent, *range(100, 117), began, *range(200, 230)]
            text = f"{thread} (a) b (c) {' '.join(map(str, fields))}\n"
            (place / "stat").write_text(text)
            (place / "cgroup").write_text(f"1:cpu:/no\n0::/group-{thread}\n")
        (self.folder / str(pid) / "stat").write_text(text)
        for number, thread in enumerate(threads or (pid,)):
            if children is not None:
                (self.folder / str(pid) / "task" / str(thread) / "children").write_text(children[number])


@pytest.fixture
def proc(tmp_path, monkeypatch):
    monkeypatch.setattr(process_tree, "_PROC", tmp_path)
    monkeypatch.setattr(os, "getpid", lambda: OWN)
    return Proc(tmp_path)


def test_a_process_has_a_parent_ancestors_and_a_time_of_its_start(proc):
    proc.add(3, 1, began=11)
    proc.add(5, 3, began=12)
    proc.add(9, 5, began=13)
    assert [process_tree.parent(pid) for pid in (9, 5, 3, 1)] == [5, 3, 1, 0]
    assert process_tree.ancestors(9) == [5, 3, 1]
    assert [process_tree.began(pid) for pid in (9, 1)] == ["13", ""]
    proc.add(20, 21)
    proc.add(21, 20)
    assert process_tree.ancestors(20) == [21, 20], "a number was used again meanwhile"
    (proc.folder / "30" / "stat").mkdir(parents=True)
    assert process_tree.parent(30) == 0, "the process ended while its file was open"


def test_the_states_and_groups_of_all_threads_count(proc):
    proc.add(5, 1, threads={5: "Z", 6: "S", 7: "T", 8: "X"})
    assert process_tree.states(5) == {"Z", "S", "T", "X"}
    assert process_tree.control_groups(5) == {"/group-6", "/group-7"}
    (proc.folder / "5/task/6/stat").unlink()
    assert process_tree.states(5) == {"Z", "T", "X"}
    assert process_tree.control_groups(5) == {"/group-7"}
    assert process_tree.states(4) == process_tree.control_groups(4) == set()
    (proc.folder / "5/task/7/cgroup").unlink()
    assert process_tree.control_groups(5) == set()


def test_a_process_is_known_by_its_environment_and_its_folder(proc):
    proc.add(5, 1)
    (proc.folder / "5" / "environ").write_bytes(b"A=1\0B=2\0")
    (proc.folder / "5" / "cwd").symlink_to("/a/b")
    assert [process_tree.environment_has(5, text) for text in (b"B=2\0", b"C=3\0")] == [True, False]
    assert not process_tree.environment_has(6, b"")
    known = [process_tree.works_in(5, folder) for folder in ("/a/b", "/a", "/a/bc", "/", "/a/b/c")]
    assert known == [True, True, False, False, False]
    assert not process_tree.works_in(6, "/")


def test_all_processes_but_this_one_are_listed(proc, monkeypatch):
    for pid in (3, 5, OWN):
        proc.add(pid, 1)
    (proc.folder / "self").mkdir()
    assert sorted(process_tree.all_processes()) == [3, 5]
    monkeypatch.setattr(process_tree, "KNOWS_DESCENDANTS", False)
    assert process_tree.all_processes() == []


@pytest.mark.parametrize("lists_children", [True, False])
def test_descendants_are_found_nearest_first(proc, monkeypatch, lists_children):
    monkeypatch.setattr(process_tree, "_lists_children", lambda: lists_children)
    proc.add(OWN, 1, children=["2"])
    proc.add(2, OWN, children=["3 4", ""], threads={2: "S", 20: "S"})
    proc.add(3, 2, children=["5"])
    proc.add(4, 2, children=[""])
    proc.add(5, 3, children=[""])
    proc.add(8, 1, children=["9"])
    proc.add(9, 8, children=[""])
    below = process_tree.descendants(2, 8)
    assert sorted(below) == [3, 4, 5, 9]
    assert below.index(5) > max(below.index(3), below.index(4))
    assert process_tree.own_children() == [2]
    assert process_tree.descendants(77) == []


def test_children_of_all_threads_count_also_if_one_ends(proc, monkeypatch):
    monkeypatch.setattr(process_tree, "_lists_children", lambda: True)
    proc.add(2, 1, threads={2: "S", 20: "S", 21: "S"}, children=["3", "4", "5"])
    (proc.folder / "2/task/20/children").unlink()
    assert sorted(process_tree.descendants(2)) == [3, 5]


@pytest.mark.parametrize("name", ["kill", "killpg"])
def test_a_signal_goes_to_every_process_that_lives(monkeypatch, name):
    sent = []

    def send(pid, number):
        if pid in (2, 3):
            raise {2: ProcessLookupError, 3: PermissionError}[pid]
        sent.append((pid, number))

    monkeypatch.setattr(os, name, send)
    if name == "kill":
        assert process_tree.kill_all([1, 2, 3, 4], signal.SIGTERM) == 2
    else:
        for leader in (1, 2, 3, 4):
            process_tree.kill_group(leader, signal.SIGTERM)
    assert sent == [(1, signal.SIGTERM), (4, signal.SIGTERM)]


def test_children_that_ended_are_collected(monkeypatch):
    def wait(pid, flags):
        assert flags == os.WNOHANG
        if pid == 4:
            raise ChildProcessError
        return (pid if pid == 2 else 0), 0

    monkeypatch.setattr(os, "waitpid", wait)
    assert process_tree.collect([2, 3, 4]) == {2, 4}


def test_killed_children_are_waited_for_until_the_deadline(monkeypatch):
    rounds, naps = [{2}, set(), {3}], []
    monkeypatch.setattr(process_tree, "collect", lambda pids: rounds.pop(0) & set(pids))
    monkeypatch.setattr(time, "sleep", naps.append)
    process_tree.reap([2, 3], time.monotonic() + 300)
    assert (rounds, len(naps)) == ([], 2)
    rounds[:] = [set(), {2}]
    process_tree.reap([2], time.monotonic() - 1)
    assert rounds == [{2}], "the deadline is over"


def test_the_end_of_a_process_can_be_waited_for(monkeypatch):
    with subprocess.Popen(["sleep", "1000"]) as child:
        handle = process_tree.exit_handle(child.pid)
        assert not select.select([handle], [], [], 0)[0]
        child.kill()
        assert select.select([handle], [], [], 300)[0]
        os.close(handle)
    assert process_tree.exit_handle(child.pid) is None
    monkeypatch.delattr(os, "pidfd_open")
    assert process_tree.exit_handle(os.getpid()) is None
