"""Files that a turn wrote outside its sandbox: which are found, and what a person is told."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from loopwright.runner import outside as module
from loopwright.runner.outside import OutsideSnapshot, outside_notes
from loopwright.workspace.names import STATE_FOLDERS


@pytest.fixture
def sandbox(tmp_path):
    """A sandbox with a temporary home, and the project's checkout."""

    def make(used):
        home, project = tmp_path / "home", tmp_path / "project"
        for folder in (home, project / ".git" / "hooks"):
            folder.mkdir(parents=True, exist_ok=True)
        return SimpleNamespace(
            confinement=SimpleNamespace(used=used),
            place=SimpleNamespace(home=home),
            view=SimpleNamespace(project=project),
        )

    return make


def test_new_changed_and_deleted_files_of_the_temporary_home_are_found(sandbox):
    made = sandbox("bubblewrap")
    home, project = made.place.home, made.view.project
    for name in ("same", "changed", "deleted"):
        (home / name).write_text("1")
    snapshot = OutsideSnapshot(made)
    (home / "changed").write_text("22")
    (home / "deleted").unlink()
    (home / "a" / "b").mkdir(parents=True)
    (home / "a" / "b" / "new").write_text("")
    (home / "link").symlink_to("nowhere")
    os.mkfifo(home / "fifo")
    (project / "not looked at").write_text("")
    assert snapshot.written() == ("~/a/b/new", "~/changed", "~/deleted", "~/link")


@pytest.mark.parametrize("cache", [".cache", ".npm", ".local/share", ".bash_history"])
def test_caches_of_programs_do_not_count(sandbox, cache):
    made = sandbox("bubblewrap")
    snapshot = OutsideSnapshot(made)
    folder = made.place.home / cache
    folder.mkdir(parents=True)
    (folder / "x").write_text("")
    (made.place.home / "sub" / cache).mkdir(parents=True)
    (made.place.home / "sub" / cache / "x").write_text("")
    assert snapshot.written() == (f"~/sub/{cache}/x",), "only at the top of the home"


@pytest.mark.parametrize(("used", "is_confined"), [("none", True), ("bubblewrap", False), ("landlock", False)])
def test_without_confinement_the_checkout_is_looked_at(sandbox, used, is_confined):
    made = sandbox(used)
    project = made.view.project
    (project / ".git" / "config").write_text("1")
    snapshot = OutsideSnapshot(made, is_confined=is_confined)
    (made.place.home / "x").write_text("")
    (project / "new").write_text("")
    (project / ".git" / "index").write_text("")
    (project / ".git" / "config").write_text("22")
    (project / ".git" / "hooks" / "deep").mkdir()
    (project / ".git" / "hooks" / "deep" / "post-commit").write_text("")
    for folder in STATE_FOLDERS:
        (project / folder).mkdir(parents=True, exist_ok=True)
        (project / folder / "x").write_text("")
    assert snapshot.written() == (".git/config", ".git/hooks/deep/post-commit", "new")


def test_a_hooks_file_in_place_of_its_folder_counts_and_a_missing_one_does_not(sandbox):
    made = sandbox("none")
    (made.view.project / ".git" / "hooks").rmdir()
    snapshot = OutsideSnapshot(made)
    assert snapshot.written() == ()
    (made.view.project / ".git" / "hooks").write_text("")
    (made.view.project / ".git" / "config").write_text("")
    assert snapshot.written() == (".git/config", ".git/hooks")


def test_landlock_allows_no_writes_outside_so_nothing_is_compared(sandbox):
    made = sandbox("landlock")
    snapshot = OutsideSnapshot(made)
    (made.view.project / "x").write_text("")
    assert snapshot.written() == ()


@pytest.mark.parametrize("change", ["mode", "time", "replaced"])
def test_a_change_without_new_content_is_a_change(sandbox, change):
    made = sandbox("bubblewrap")
    file = made.place.home / "f"
    file.write_text("1")
    snapshot = OutsideSnapshot(made)
    if change == "mode":
        file.chmod(0o755)
    elif change == "time":
        os.utime(file, ns=(0, 0))
    else:
        (made.place.home / "g").write_text("1")
        (made.place.home / "g").replace(file)
    assert snapshot.written() == ("~/f",)


def test_what_can_not_be_read_is_skipped_and_the_rest_is_compared(sandbox, monkeypatch):
    made = sandbox("bubblewrap")
    home = made.place.home
    for name in ("a", "b"):
        (home / name).mkdir()
    scandir = os.scandir

    class Gone:
        name = "0"

        def stat(self, *, follow_symlinks):
            raise FileNotFoundError

    def failing(path):
        if str(path).endswith("/b"):
            raise PermissionError
        return [Gone(), *scandir(path)]

    with monkeypatch.context() as patched:
        patched.setattr(os, "scandir", failing)
        snapshot = OutsideSnapshot(made)
        (home / "a" / "x").write_text("")
        (home / "b" / "x").write_text("")
        (home / "x").write_text("")
        assert snapshot.written() == ("~/a/x", "~/x")


def test_as_many_files_as_the_limit_are_compared_and_no_more(sandbox, monkeypatch):
    monkeypatch.setattr(module, "_MOST_FILES", 3)
    made = sandbox("bubblewrap")
    for name in "abc":
        (made.place.home / name).write_text("")
    snapshot = OutsideSnapshot(made)
    (made.place.home / "a").unlink()
    assert snapshot.written() == ("~/a",)
    for name in "ad":
        (made.place.home / name).write_text("")
    snapshot = OutsideSnapshot(made)
    (made.place.home / "a").unlink()
    assert snapshot.written() == ()


def test_a_folder_is_not_entered_once_there_are_too_many_files(sandbox, monkeypatch):
    monkeypatch.setattr(module, "_MOST_FILES", 1)
    made = sandbox("bubblewrap")
    for name in ("a/1", "b/1", "b/2"):
        (made.place.home / name).parent.mkdir(exist_ok=True)
        (made.place.home / name).write_text("")
    assert [name for name, _ in module._below(made.place.home, ())] == ["b/1", "b/2"]


def test_the_first_hundred_are_kept(sandbox):
    made = sandbox("bubblewrap")
    snapshot = OutsideSnapshot(made)
    for number in range(102):
        (made.place.home / f"{number:03}").write_text("")
    written = snapshot.written()
    assert (len(written), written[0], written[-1]) == (100, "~/000", "~/099")


def test_names_are_shown_without_control_characters(sandbox):
    made = sandbox("bubblewrap")
    snapshot = OutsideSnapshot(made)
    (made.place.home / "a\x1b[2J").write_text("")
    (name,) = snapshot.written()
    assert "\x1b" not in name


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ((), ()),
        (("~/a",), ("the agent wrote files outside its sandbox: ~/a; they are not kept",)),
        (("a", "b"), ("your checkout changed during a turn without confinement: a, b",)),
        (tuple("abcde"), ("your checkout changed during a turn without confinement: a, b, c, d, e",)),
        (
            ("~/a", "~/b", "~/c", "~/d", "~/e", "~/f", "~/g"),
            ("the agent wrote files outside its sandbox: ~/a, ~/b, ~/c, ~/d, ~/e and 2 more; they are not kept",),
        ),
    ],
)
def test_a_person_reads_the_first_names(written, words):
    assert outside_notes(written) == words
