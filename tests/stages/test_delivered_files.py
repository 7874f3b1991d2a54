"""Every shape of a change is delivered, undone, and finished after a kill at any point. No link is followed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest

from loopwright.errors import GitFailed
from loopwright.kernel import beneath
from loopwright.kernel.digest import sha256
from loopwright.stages import delivered_files
from loopwright.stages.delivered_files import UnfinishedDelivery, carry_out, digest_of, obstacle, plan_moves
from loopwright.workflow.roll_forward import DeliveryPlan

LINK = "-> "
OUT = "-> ../outside"
TREES = {
    "edit": ({"a": "1"}, {"a": "2"}),
    "new file in new folders": ({"a": "1"}, {"a": "1", "x/y/z": "2"}),
    "last file of a folder": ({"x/y/z": "2", "a": "1"}, {"a": "1"}),
    "link to folder": ({"lib": OUT}, {"lib/key": "2", "lib/b/c": "3"}),
    "link to file": ({"lib": OUT}, {"lib": "2"}),
    "link to link": ({"lib": OUT}, {"lib": "-> elsewhere"}),
    "folder to link": ({"lib/key": "2", "lib/b/c": "3"}, {"lib": OUT}),
    "folder to file": ({"lib/key": "2"}, {"lib": "3"}),
    "file to folder": ({"lib": "2"}, {"lib/key": "3"}),
    "file to link": ({"key": "2"}, {"key": "-> ../outside/key"}),
    "a link becomes a folder and a folder a link": ({"a": OUT, "b/key": "1"}, {"a/key": "1", "b": OUT}),
    "a folder moves below its own name": ({"x/a": "1" * 99}, {"x/x/a": "1" * 99}),
    "a file moves into a folder of its name": ({"x": "1" * 99}, {"x/x": "1" * 99}),
    "case of a file": ({"Readme": "1" * 99}, {"README": "1" * 99}),
    "case of a folder": ({"Lib/a": "1" * 99}, {"lib/a": "1" * 99}),
    "mode": ({"a": "#!"}, {"a": "+x#!"}),
    "a name with a newline and one that is not UTF-8": ({"a": "1"}, {"b\n": "1", "c\udcff": "2"}),
}  # fmt: skip


def put(top: Path, tree: dict[str, str]) -> None:
    for name, text in tree.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text.startswith(LINK):
            path.symlink_to(text.removeprefix(LINK))
        else:
            path.write_text(text.removeprefix("+x"))
            path.chmod(0o755 if text.startswith("+x") else 0o644)


def seen(top: Path) -> dict[str, str]:
    """The tree on disk, with its empty folders."""
    tree: dict[str, str] = {}
    for path in top.rglob("*"):
        name = str(path.relative_to(top))
        if path.is_symlink():
            tree[name] = f"{LINK}{path.readlink()}"
        elif path.is_file():
            tree[name] = ("+x" if path.stat().st_mode & 0o100 else "") + path.read_text()
        elif not any(path.iterdir()):
            tree[name] = "(empty)"
    return tree


def patch_of(top: Path, before: dict[str, str], after: dict[str, str]) -> bytes:
    def git(*argv: str) -> bytes:
        quiet = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.ignoreCase=false")
        return subprocess.run(["git", *quiet, *argv], cwd=top, check=True, capture_output=True).stdout

    top.mkdir()
    put(top, before)
    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "before")
    git("rm", "-rq", ".")
    top.mkdir(exist_ok=True)
    put(top, after)
    git("add", "-A")
    return git("diff", "--cached", "--binary", "--no-renames", "HEAD")


@pytest.fixture
def outside(tmp_path):
    """A folder next to the checkout, with a private key."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "key").write_text("PRIVATE")
    return folder


class Delivery:
    """A checkout, and a delivery into it."""

    def __init__(self, folder: Path, before: dict[str, str], patch: bytes) -> None:
        self.project, self.objects = folder / "project", folder / "objects"
        self.project.mkdir()
        self.objects.mkdir()
        put(self.project, before)
        planned = plan_moves(self.project, patch)
        assert obstacle(self.project, planned.moves) is None
        for data in planned.contents:
            (self.objects / sha256(data)).write_bytes(data)
        self.plan = DeliveryPlan(patch_sha256="", head="", moves=planned.moves)

    def start_over(self, tree: dict[str, str]) -> None:
        shutil.rmtree(self.project)
        self.project.mkdir()
        put(self.project, tree)

    def carry_out(self, *, undoing: bool = False) -> UnfinishedDelivery | None:
        return carry_out(self.project, self.objects, msgspec.structs.replace(self.plan, undoing=undoing))


class Killed(BaseException):
    """The process ends here."""


def kill_at(monkeypatch, number: int) -> None:
    """Let every change of the disk from this one on end the process."""
    count = 0

    def dying(name):
        real = getattr(os, name)

        def call(*args, **options):
            nonlocal count
            count += 1
            if count >= number:
                raise Killed
            return real(*args, **options)

        return call

    for name in ("replace", "unlink", "rmdir", "mkdir", "symlink", "fchmod", "fsync"):
        monkeypatch.setattr(beneath.os, name, dying(name))


@pytest.mark.parametrize("shape", TREES)
def test_every_shape_is_delivered_undone_and_finished_after_a_kill(tmp_path, outside, shape, monkeypatch):
    before, after = TREES[shape]
    patch = patch_of(tmp_path / "work", before, after)
    delivery, kills = Delivery(tmp_path, before, patch), 0
    assert [path for path in delivery.objects.iterdir() if "PRIVATE" in path.read_text()] == []
    for undoing in (False, True):
        for number in range(1, 200):
            delivery.start_over(after if undoing else before)
            with monkeypatch.context() as patching:
                kill_at(patching, number)
                try:
                    delivery.carry_out(undoing=undoing)
                    is_over = True
                except Killed:
                    is_over, kills = False, kills + 1
            delivery.carry_out(undoing=undoing)
            assert seen(delivery.project) == (before if undoing else after), number
            delivery.carry_out(undoing=undoing)
            assert seen(delivery.project) == (before if undoing else after), "a second time changes nothing"
            if is_over:
                break
    assert kills >= 4
    assert seen(outside) == {"key": "PRIVATE"}


@pytest.mark.parametrize(
    ("shape", "more", "left"),
    [
        ("folder to link", {"lib/mine": "1"}, "lib/mine"),
        ("folder to file", {"lib/b/mine": "1"}, "lib/b/mine"),
        ("new file in new folders", {"x": "1"}, "x"),
        ("new file in new folders", {"x": OUT}, "x"),
        ("new file in new folders", {"x/y": OUT}, "x/y"),
        ("new file in new folders", {"x/y/z/mine": "1"}, "x/y/z/mine"),
    ],
)
def test_what_a_person_put_in_the_way_is_named_and_nothing_changes(tmp_path, outside, shape, more, left):
    before, after = TREES[shape]
    patch = patch_of(tmp_path / "work", before, after)
    project = tmp_path / "project"
    project.mkdir()
    put(project, before)
    put(project, more)
    assert obstacle(project, plan_moves(project, patch).moves) == left
    assert seen(project) == before | more
    assert seen(outside) == {"key": "PRIVATE"}


def test_an_undo_is_blocked_by_files_in_a_folder_that_replaced_a_link(tmp_path, outside):
    delivery = Delivery(tmp_path, TREES["link to folder"][0], patch_of(tmp_path / "work", *TREES["link to folder"]))
    delivery.carry_out()
    (delivery.project / "lib" / "mine").write_text("1")
    assert obstacle(delivery.project, delivery.plan.moves, undoing=True) == "lib/mine"


def test_a_file_behind_a_link_of_the_person_is_neither_read_nor_changed(tmp_path, outside):
    patch = patch_of(tmp_path / "work", {"lib/key": "PRIVATE"}, {"lib/key": "2"})
    project = tmp_path / "project"
    project.mkdir()
    put(project, {"lib": OUT})
    assert digest_of(project, "lib/key") == ""
    with pytest.raises(GitFailed):
        plan_moves(project, patch)
    assert seen(outside) == {"key": "PRIVATE"}


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "a//b", "", ".", "a\0b"])
def test_a_name_that_could_leave_the_folder_is_refused(tmp_path, name):
    for act in (lambda: beneath.read_entry(tmp_path, name), lambda: beneath.remove_entry(tmp_path, name)):
        with pytest.raises(ValueError, match="not a name"):
            act()


THREE = ({"a": "1", "b": "1", "gone": "1"}, {"a": "2", "b": "2", "new/c": "2"})


@pytest.mark.parametrize("undoing", [False, True])
@pytest.mark.parametrize(
    ("mine", "changed"), [({"b": "mine"}, "b"), ({"new": "mine"}, "new/c")], ids=["file", "in the way"]
)
def test_a_file_that_a_person_changed_after_a_kill_stays_and_the_others_are_restored(tmp_path, mine, changed, undoing):
    delivery = Delivery(tmp_path, THREE[0], patch_of(tmp_path / "work", *THREE))
    start, end = reversed(THREE) if undoing else THREE
    # A kill came after the first file.
    delivery.start_over({**{name: text for name, text in start.items() if "/" not in name}, "a": end["a"], **mine})
    stopped = delivery.carry_out(undoing=undoing)
    if undoing and changed == "new/c":
        assert stopped is None, "the file is gone already"
        return
    assert stopped == UnfinishedDelivery((changed,))
    assert f"these files were changed meanwhile: {changed}" in stopped.sentence()
    assert seen(delivery.project)["a"] == start["a"]
    assert seen(delivery.project) | mine == seen(delivery.project), "nothing of the person is lost"


def test_a_file_that_a_person_changes_during_the_delivery_stays_and_nothing_is_delivered(tmp_path, monkeypatch):
    delivery, real = Delivery(tmp_path, THREE[0], patch_of(tmp_path / "work", *THREE)), delivered_files.write_entry

    def racing(project, name, entry):
        (delivery.project / "b").write_text("mine")
        real(project, name, entry)

    with monkeypatch.context() as patching:
        patching.setattr(delivered_files, "write_entry", racing)
        assert delivery.carry_out() == UnfinishedDelivery(("b",))
    assert seen(delivery.project) == THREE[0] | {"b": "mine"}
