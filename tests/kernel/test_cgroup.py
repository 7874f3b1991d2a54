"""Control groups, on a machine that allows them; on other machines `new_group` returns None."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from loopwright.kernel import cgroup


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
