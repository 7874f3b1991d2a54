"""Folders of sandboxes: an incomplete or partly removed sandbox is recognized and removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.sandbox import place

PROJECT, OTHER = Path("/projects/mine"), Path("/projects/other")


class Died(BaseException):
    """kill -9, as far as a test can play it."""


def die(*arguments):
    raise Died


def test_a_partly_removed_sandbox_is_found_and_removed(tmp_path, monkeypatch):
    owned = place.claim(tmp_path, PROJECT, "run")
    (owned.place.repo / "file").write_text("x")
    removed = []

    def remove_some(folder):
        if folder.exists():
            removed.append(folder)
            (folder / ".loopwright-sandbox").unlink(missing_ok=True)
            for path in folder.glob(".*"):
                path.unlink()
            raise Died

    with monkeypatch.context() as patched:
        patched.setattr(place, "remove_tree", remove_some)
        with pytest.raises(Died):
            owned.close(keep=False)
    owned.lock.release()
    assert removed
    (left,) = place.leftovers(tmp_path, PROJECT)
    place.clear(left)
    place.drop_stale_locks(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_incomplete_sandbox_is_found_and_its_name_can_be_used_again(tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(place.Path, "write_bytes", die)
        with pytest.raises(Died):
            place.claim(tmp_path, PROJECT, "run")
    assert [folder.name for folder in tmp_path.iterdir() if folder.name != ".locks"] == [".run.unborn"]
    owned = place.claim(tmp_path, PROJECT, "run-2")
    assert [folder.name for folder in place.leftovers(tmp_path, PROJECT)] == [".run.unborn"]
    for left in place.leftovers(tmp_path, PROJECT):
        place.clear(left)
    owned.close(keep=False)
    assert [folder.name for folder in tmp_path.iterdir() if folder.name != ".locks"] == []


def test_an_unrelated_folder_is_never_mistaken_for_a_leftover(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / ".mine").mkdir()
    assert place.leftovers(tmp_path, PROJECT) == []


def test_manual_work_stays_until_it_is_no_longer_kept(tmp_path):
    owned = place.claim(tmp_path, PROJECT, "loop-1")
    folder = owned.place.folder
    place.keep_unfinished(folder, "loop-of-ann")
    assert place.is_unfinished(folder)
    assert place.unfinished(tmp_path, PROJECT) == {}, "the sandbox is still in use"
    assert place.kept(tmp_path, PROJECT) == []
    owned.close(keep=False)
    assert place.unfinished(tmp_path, PROJECT) == {folder: "loop-of-ann"}
    assert place.leftovers(tmp_path, PROJECT) == []
    again = place.claim(tmp_path, PROJECT, "loop-1")
    assert again.place.folder != folder
    place.keep_unfinished(again.place.folder, "loop-of-ann")
    place.stop_keeping(again.place.folder)
    assert not place.is_unfinished(again.place.folder)
    again.close(keep=False)
    assert not again.place.folder.exists()


def test_a_kept_sandbox_is_not_unfinished_work(tmp_path):
    owned = place.claim(tmp_path, PROJECT, "run-1")
    owned.close(keep=True)
    assert place.kept(tmp_path, PROJECT) == [owned.place.folder]
    assert place.unfinished(tmp_path, PROJECT) == {}


def dead(root, project, name, *, is_kept=False):
    """A sandbox whose owner died."""
    owned = place.claim(root, project, name)
    if is_kept:
        (owned.place.folder / "kept").touch()
    owned.lock.release()
    return owned.place.folder


def test_a_project_sees_only_its_own_sandboxes(tmp_path):
    mine, mine_kept = dead(tmp_path, PROJECT, "r"), dead(tmp_path, PROJECT, "k", is_kept=True)
    other, other_kept = dead(tmp_path, OTHER, "r"), dead(tmp_path, OTHER, "k", is_kept=True)
    assert {other.name, other_kept.name} == {"r-2", "k-2"}
    assert place.leftovers(tmp_path, PROJECT) == [mine]
    assert place.kept(tmp_path, PROJECT) == [mine_kept]
    assert place.leftovers(tmp_path, OTHER) == [other]
    assert place.kept(tmp_path, OTHER) == [other_kept]


def test_a_project_is_known_by_whatever_path_it_is_reached(tmp_path):
    project, link = tmp_path / "project", tmp_path / "link"
    project.mkdir()
    link.symlink_to(project)
    (tmp_path / "root").mkdir()
    folder = dead(tmp_path / "root", link, "r")
    assert place.leftovers(tmp_path / "root", project) == [folder]


def test_a_sandbox_of_no_project_is_an_orphan_and_is_not_removed(tmp_path):
    project, root = tmp_path / "project", tmp_path / "root"
    project.mkdir()
    root.mkdir()
    dead(root, project, "living")
    gone = dead(root, OTHER, "gone", is_kept=True)
    old = dead(root, project, "made-by-an-older-version")
    (old / "loopwright-sandbox").write_bytes(b"")
    in_use = place.claim(root, OTHER, "in-use")
    assert place.orphans(root) == [gone, old]
    assert old not in place.leftovers(root, project)
    in_use.close(keep=False)
