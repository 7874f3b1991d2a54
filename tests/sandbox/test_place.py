"""Places of sandboxes: one that died half made or half removed is known as ours, and cleared away."""

from __future__ import annotations

import pytest

from loopwright.sandbox import place


class Died(BaseException):
    """kill -9, as far as a test can play it."""


def die(*arguments):
    raise Died


def test_one_that_died_while_it_was_removed_is_found_and_cleared_away(tmp_path, monkeypatch):
    owned = place.claim(tmp_path, "run")
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
    (left,) = place.leftovers(tmp_path)
    place.clear(left)
    place.drop_stale_locks(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_one_that_died_while_it_was_laid_out_is_found_and_its_name_can_be_used_again(tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(place.Path, "touch", die)
        with pytest.raises(Died):
            place.claim(tmp_path, "run")
    assert [folder.name for folder in tmp_path.iterdir() if folder.name != ".locks"] == [".run.unborn"]
    owned = place.claim(tmp_path, "run-2")
    assert [folder.name for folder in place.leftovers(tmp_path)] == [".run.unborn"]
    for left in place.leftovers(tmp_path):
        place.clear(left)
    owned.close(keep=False)
    assert [folder.name for folder in tmp_path.iterdir() if folder.name != ".locks"] == []


def test_a_strangers_folder_is_never_taken_for_a_leftover(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / ".mine").mkdir()
    assert place.leftovers(tmp_path) == []


def test_work_by_hand_stays_until_it_is_let_go(tmp_path):
    owned = place.claim(tmp_path, "loop-1")
    folder = owned.place.folder
    place.keep_unfinished(folder, "loop-of-ann")
    assert place.is_unfinished(folder)
    assert place.unfinished(tmp_path) == {}, "somebody works there still"
    assert place.kept(tmp_path) == []
    owned.close(keep=False)
    assert place.unfinished(tmp_path) == {folder: "loop-of-ann"}
    assert place.leftovers(tmp_path) == []
    again = place.claim(tmp_path, "loop-1")
    assert again.place.folder != folder
    place.keep_unfinished(again.place.folder, "loop-of-ann")
    place.stop_keeping(again.place.folder)
    assert not place.is_unfinished(again.place.folder)
    again.close(keep=False)
    assert not again.place.folder.exists()


def test_one_that_a_person_asked_to_keep_is_nobodys_unfinished_work(tmp_path):
    owned = place.claim(tmp_path, "run-1")
    owned.close(keep=True)
    assert place.kept(tmp_path) == [owned.place.folder]
    assert place.unfinished(tmp_path) == {}
