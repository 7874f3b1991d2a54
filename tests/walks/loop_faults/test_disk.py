"""A disk that is full or read-only: the old state stays whole, the cause is named, and with room the loop goes on."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess

import pytest

from loopwright.loop import events as e
from loopwright.loop.store import LoopStore
from loopwright.wiring.build import build_context

pytestmark = pytest.mark.faults

ROLES = {"planner": "init", "builder": "develop", "debugger": "debug", "tests": "validate"}


@pytest.fixture
def disk(scene):
    """The workspace's own folder on a small disk of its own."""
    own = scene.project.own
    kept = scene.folder / "kept"
    shutil.move(own, kept)
    own.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", own], check=True)
    try:
        shutil.copytree(kept, own, dirs_exist_ok=True)
        yield own
    finally:
        scene.kill(scene.processes())
        subprocess.run(["umount", "-l", own], check=True)


def fill(disk):
    """Leave no block free; half a block at the end of a file may be left."""
    with contextlib.suppress(OSError), (disk / "ballast").open("wb", buffering=0) as ballast:
        while ballast.write(b"x" * 4096):
            pass


def look_at(scene):
    """What can be seen while nothing can be written."""
    shown = scene.run("loop", "show", scene.loop_id, "--json")
    assert shown.exit_code == 0, shown.stderr
    document = shown.json()
    del document["progress"]
    assert document == scene.document()
    assert scene.run("loop", "list", "--json").json()["loops"][0]["loop_id"] == scene.loop_id
    assert scene.run("loop", "logs", scene.loop_id).exit_code == 0
    json.loads(scene.files["state"].read_bytes())
    assert scene.replayed() is not None


@pytest.mark.needs("root")
@pytest.mark.parametrize("role", ROLES)
def test_a_full_disk_during_an_action_is_named_and_the_loop_continues_once_there_is_space(scene, disk, count, role):
    scene.let(role, f"cat /dev/zero > {disk}/ballast 2> /dev/null")
    done = scene.run("loop", "start", scene.loop_id)
    assert done.exit_code == 1, done.stdout + done.stderr
    assert done.stderr.startswith("STORAGE_FAILED: ")
    assert "No space left" in done.stderr
    assert "→" in done.stderr
    assert scene.processes() == []
    assert scene.moment() == ROLES[role]
    look_at(scene)
    (disk / "ballast").unlink()
    scene.finish()
    scene.check_the_end({ROLES[role]: 1})
    count(**{"full disks": 1})


@pytest.mark.needs("root")
@pytest.mark.parametrize("kind", ["full", "read-only"])
def test_on_a_disk_that_takes_nothing_commands_are_refused_and_the_old_state_stays_whole(scene, disk, count, kind):
    assert scene.run("loop", "task", "add", scene.loop_id, "one").exit_code == 0
    context = build_context(scene.project.root, {})
    with LoopStore(context.layout, context.clock).changing(scene.loop_id) as opened:
        opened.apply(e.LoopStarted(), "ann")  # as one whose worker died
    before = {name: path.read_bytes() for name, path in scene.files.items()}
    if kind == "full":
        fill(disk)
    else:
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    for command in (("task", "add", scene.loop_id, "x" * 5000), ("start", scene.loop_id), ("stop", scene.loop_id)):
        done = scene.run("loop", *command)
        assert done.exit_code == 1, done.stdout
        assert done.stderr.startswith("STORAGE_FAILED: ")
        assert ("No space left" if kind == "full" else "read-only") in done.stderr.lower().replace(
            "no space", "No space"
        )
        if scene.files["events"].read_bytes() != before["events"]:
            assert "is in the loop's log" in done.stderr, "what counts all the same is said to count"
            break
        assert {name: path.read_bytes() for name, path in scene.files.items()} == before
    look_at(scene)
    if kind == "full":
        (disk / "ballast").unlink()
    else:
        subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
    look_at(scene)
    if scene.document()["status"] == "failed":
        assert scene.run("loop", "retry", scene.loop_id).exit_code == 0
    scene.finish()
    scene.check_the_end({"init": 1})  # the loop had its task, and asked no agent for tasks
    count(**{f"{kind} disks": 1})
