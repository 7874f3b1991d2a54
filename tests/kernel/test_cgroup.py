"""Control groups, on a machine that allows them; on other machines `new_group` returns None."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from loopwright.kernel import cgroup, process_tree
from loopwright.kernel.cgroup import Cgroup


@pytest.fixture
def sleeper():
    with subprocess.Popen(["sleep", "1000"]) as child:
        yield child
        child.kill()


@pytest.fixture(params=[None] if (probe := cgroup.new_group()) is None else ["real"])
def group(request):
    """A new control group; None if the machine allows none, and every test covers that case too."""
    made = cgroup.new_group()
    yield made
    if made is not None:
        made.remove(time.monotonic() + 20)


if probe is not None:
    probe.remove(0.0)


def test_a_group_holds_a_moved_process_and_its_children(group, sleeper):
    if group is None:
        assert cgroup.new_group() is None
        return
    assert group.members() == []
    assert group.add(sleeper.pid)
    assert group.members() == [sleeper.pid]
    assert group.freeze()
    while not group.is_frozen:
        time.sleep(0.001)
    group.thaw()
    assert not group.is_frozen
    group.freeze()
    group.kill()
    assert sleeper.wait() == -9
    assert group.members() == []


def test_a_missing_process_can_not_be_moved(group):
    assert group is None or not group.add(2**22 + 1)


def test_groups_that_a_member_made_are_a_part_of_it(group, sleeper):
    if group is None:
        return
    below = group._folder / "own"
    below.mkdir()
    (below / "cgroup.procs").write_text(str(sleeper.pid))
    assert group.members() == [sleeper.pid]
    group.kill()
    sleeper.wait()
    group.remove(time.monotonic() + 20)
    assert not group._folder.exists()


def test_a_group_that_is_in_use_goes_with_the_next_one(group, sleeper):
    if group is None:
        return
    group.add(sleeper.pid)
    group.remove(0.0)
    assert group._folder.exists()
    group.kill()
    sleeper.wait()
    other = cgroup.new_group()
    other.remove(time.monotonic() + 20)
    group.remove(time.monotonic() + 20)
    assert not group._folder.exists()
    assert not other._folder.exists()


def test_what_a_dead_instance_left_is_taken_away_and_a_living_ones_is_not(group):
    if group is None:
        return
    with subprocess.Popen(["true"]) as dead:
        dead.wait()
    left = group._folder.with_name(f"loopwright-{dead.pid}-1")
    left.mkdir()
    cgroup.remove_leftovers()
    assert not left.exists()
    assert group._folder.exists()


@pytest.mark.parametrize(
    "mounts",
    [
        "",
        "41 31 0:38 / {0} rw - tmpfs tmpfs rw\n",
        "41 31 0:38 /elsewhere {0} rw - cgroup2 cgroup2 rw\n",
        "41 31 0:38 / {0}/nowhere rw - cgroup2 cgroup2 rw\n",
    ],
    ids=["none", "another kind", "not ours", "not there"],
)
def test_without_a_mount_that_shows_our_own_group_there_is_none(monkeypatch, tmp_path, mounts):
    texts = {"/proc/self/mountinfo": mounts.format(tmp_path), "/proc/self/cgroup": "0::/ours\n"}
    monkeypatch.setattr(Path, "read_text", lambda path: texts[str(path)])
    assert cgroup.own_folder.__wrapped__() is None


@pytest.mark.parametrize(
    ("top", "own", "expected"),
    [("/", "/", ""), ("/", "/a/b", "a/b"), ("/a", "/a", ""), ("/a", "/a/b", "b")],
)
def test_our_own_group_is_found_below_what_is_mounted(monkeypatch, tmp_path, top, own, expected):
    folder = tmp_path / "with space" / expected
    folder.mkdir(parents=True)
    (folder / "cgroup.procs").touch()
    place = str(tmp_path / "with space").replace(" ", "\\040")
    texts = {
        "/proc/self/mountinfo": f"41 31 0:38 {top} {place} rw shared:1 - cgroup2 cgroup2 rw\n",
        "/proc/self/cgroup": f"1:cpu:/x\n0::{own}\n",
    }
    monkeypatch.setattr(Path, "read_text", lambda path: texts[str(path)])
    assert cgroup.own_folder.__wrapped__() == folder


def test_a_folder_that_refuses_is_no_error(monkeypatch, tmp_path):
    """As in a container, where all of it is read-only: what looks like a group there makes none."""
    (tmp_path / "file").touch()
    monkeypatch.setattr(cgroup, "own_folder", lambda: tmp_path / "file")
    assert cgroup.new_group() is None
    monkeypatch.setattr(cgroup, "own_folder", lambda: tmp_path)
    assert cgroup.new_group() is None
    assert os.listdir(tmp_path) == ["file"]


@pytest.fixture
def files(monkeypatch, tmp_path):
    """A group of plain files, which shows what the kernel would read and write on any machine."""
    folder = tmp_path / "loopwright-1-1"
    (folder / "own").mkdir(parents=True)
    for name in ("cgroup.procs", "cgroup.freeze", "cgroup.kill", "cgroup.events", "own/cgroup.procs"):
        (folder / name).touch()

    def remove_group(path):
        assert not [each for each in path.iterdir() if each.is_dir()], "the kernel refuses a group with groups below it"
        if any("populated 1" in events.read_text() for events in path.glob("cgroup.events")):
            raise OSError
        shutil.rmtree(path)

    monkeypatch.setattr(Path, "rmdir", remove_group)
    return folder


def test_the_members_of_a_group_are_read_from_all_its_folders(files):
    (files / "cgroup.procs").write_text("3\n0\n5\n")
    (files / "own" / "cgroup.procs").write_text("7\n")
    assert sorted(Cgroup(files).members()) == [3, 5, 7]
    (files / "cgroup.procs").unlink()
    assert Cgroup(files).members() == [7]


def test_requests_are_written_to_the_files_of_a_group(files):
    group = Cgroup(files)
    assert group.add(9)
    assert group.freeze()
    group.kill()
    assert [(files / f"cgroup.{name}").read_text() for name in ("procs", "freeze", "kill")] == ["9", "1", "1"]
    group.thaw()
    assert (files / "cgroup.freeze").read_text() == "0"
    (files / "cgroup.procs").unlink()
    assert not group.add(9)
    (files / "cgroup.procs").symlink_to("/dev/full")
    assert not group.add(9), "the kernel refuses what is written"


@pytest.mark.parametrize(
    ("events", "frozen"), [("populated 1\nfrozen 1\n", True), ("frozen 0\npopulated 1\n", False), ("", False)]
)
def test_the_kernel_tells_whether_a_group_is_frozen(files, events, frozen):
    (files / "cgroup.events").write_text(events)
    assert Cgroup(files).is_frozen == frozen
    assert not Cgroup(files / "missing").is_frozen


@pytest.mark.parametrize(
    ("groups", "inside"),
    [
        ({"/loopwright-1-1"}, True),
        ({"/a/loopwright-1-1", "/a/loopwright-1-1/own"}, True),
        ({"/a/loopwright-1-1", "/a"}, False),
        ({"/a/loopwright-1-12"}, False),
        (set(), False),
    ],
)
def test_a_process_is_in_a_group_if_all_its_threads_are(files, monkeypatch, groups, inside):
    monkeypatch.setattr(process_tree, "control_groups", {7: groups}.get)
    assert Cgroup(files).contains_all_threads(7) == inside


def test_a_group_is_removed_as_soon_as_it_is_empty(files, monkeypatch):
    (files / "cgroup.events").write_text("populated 1\n")
    naps = []

    def nap(seconds):
        naps.append(seconds)
        if len(naps) == 2:
            (files / "cgroup.events").write_text("populated 0\n")

    monkeypatch.setattr(time, "sleep", nap)
    Cgroup(files).remove(time.monotonic() + 300)
    assert (len(naps), files.exists()) == (2, False)


def test_a_group_that_was_in_use_is_removed_with_the_next(files, tmp_path):
    (files / "cgroup.events").write_text("populated 1\n")
    Cgroup(files).remove(0.0)
    assert files.exists()
    (files / "cgroup.events").write_text("populated 0\n")
    (tmp_path / "next").mkdir()
    Cgroup(tmp_path / "next").remove(0.0)
    assert os.listdir(tmp_path) == []
    assert files not in cgroup._unremoved


def test_groups_have_names_that_tell_their_process(monkeypatch, tmp_path):
    def make(path, real=Path.mkdir):
        real(path)
        (path / "cgroup.freeze").touch()

    monkeypatch.setattr(Path, "mkdir", make)
    monkeypatch.setattr(cgroup, "own_folder", lambda: tmp_path)
    names = {cgroup.new_group()._folder.name for _ in range(2)}
    assert {name.rpartition("-")[0] for name in names} == {f"loopwright-{os.getpid()}"}
    assert len(names) == 2
    monkeypatch.setattr(cgroup, "own_folder", lambda: None)
    assert cgroup.new_group() is None
    cgroup.remove_leftovers()
    assert len(os.listdir(tmp_path)) == 2


def test_only_groups_of_dead_processes_are_removed(files, monkeypatch):
    with subprocess.Popen(["true"]) as dead:
        dead.wait()
    kept = [files.with_name(name) for name in (f"loopwright-{os.getpid()}-1", "other-1-1", f"loopwright-{dead.pid}")]
    for folder in (*kept, files.with_name(f"loopwright-{dead.pid}-1")):
        folder.mkdir()
    monkeypatch.setattr(cgroup, "own_folder", lambda: files.parent)
    cgroup.remove_leftovers()
    assert sorted(files.parent.iterdir()) == sorted([*kept, files]), "process 1 always lives"
