"""Trees of recorded runs, with real git: the base is loaded by whatever is left of it, or not at all."""

from __future__ import annotations

import shutil

import pytest

from loopwright.evidence.model import BaseRecord
from loopwright.evidence.trees import diff_trees, drop_secrets, load_base, tree_with_patch, write_tree
from loopwright.evidence.verify import verify_run
from loopwright.kernel.digest import sha256
from loopwright.kernel.git import discover, make_private

SECRET = ".claude/private/secrets/key"
ABSENT = "1" * 40


class Scene:
    """A user's repository with one commit, and a judge that borrows its objects."""

    def __init__(self, project, folder):
        self.project = project
        self.project.write(SECRET, "s")
        self.project.write("c.txt", "c\n")
        self.commit = self.project.commit("with a secret")
        self.judge = self.make_judge(folder / "judge")
        self.patch = folder / "a.patch"
        # The base has no secrets, and its tree is in no store but the author's.
        author = self.make_judge(folder / "author")
        author.run("read-tree", self.commit)
        drop_secrets(author)
        self.tree = write_tree(author)
        blob = author.run("hash-object", "-w", "--stdin", stdin=b"\0new\n").decode().strip()
        author.run("update-index", "--add", "--cacheinfo", f"100644,{blob},sub/new.bin")
        self.changed = write_tree(author)
        self.change, self.names = diff_trees(author, self.tree, self.changed)
        author.run("read-tree", "--empty")
        self.whole, _ = diff_trees(author, write_tree(author), self.tree)

    def make_judge(self, folder):
        user = discover(self.project.root)
        folder.mkdir()
        stores, kind = user.object_stores, user.object_format
        return make_private(folder / "git", folder, object_stores=stores, object_format=kind)

    def base(self, commit, tree=None, *, is_commit=True):
        return BaseRecord(commit=commit, tree=tree or self.tree, is_commit=is_commit)


@pytest.fixture
def scene(make_project, tmp_path):
    return Scene(make_project({"README": "a project\n", "b.txt": "b\n"}), tmp_path)


def stored_tree(scene):
    return scene.project.git("rev-parse", "HEAD^{tree}").strip()


@pytest.mark.parametrize(
    ("commit", "tree", "patch", "loads"),
    [
        ("here", "stored", None, True),
        ("absent", "stored", None, True),
        ("here", "derived", None, True),
        ("here", "changed", "change", True),
        ("here", "derived", "change", False),
        ("here", "changed", None, False),
        ("none", "stored", None, True),
        ("none", "derived", None, False),
        ("none", "derived", "whole", True),
        ("none", "derived", "empty", False),
        ("absent", "stored", "change", True),
        ("absent", "changed", "change", False),
        ("absent", "changed", None, False),
    ],
)
def test_a_base_is_loaded_from_its_tree_its_commit_or_its_patch(scene, commit, tree, patch, loads):
    commits = {"here": scene.commit, "absent": ABSENT, "none": None}
    trees = {"stored": stored_tree(scene), "derived": scene.tree, "changed": scene.changed}
    if patch is not None:
        scene.patch.write_bytes({"change": scene.change, "whole": scene.whole, "empty": b""}[patch])
    scene.judge.run("read-tree", scene.commit)  # what an earlier load left in the index
    assert load_base(scene.judge, scene.base(commits[commit], trees[tree]), scene.patch) == loads
    if loads:
        assert write_tree(scene.judge) == trees[tree]


@pytest.mark.parametrize("with_secrets", [True, False])
def test_the_index_of_a_commit_is_kept_if_the_commit_has_no_secrets(scene, tmp_path, with_secrets):
    commit = scene.commit if with_secrets else scene.project.git("rev-parse", "HEAD~1").strip()
    scene.patch.write_bytes(scene.change)
    index = tmp_path / "index"
    load_base(scene.judge, scene.base(commit), scene.patch, commit_index=index)
    assert index.exists() != with_secrets
    if not with_secrets:
        shutil.copyfile(index, scene.judge.git_dir / "index")
        assert write_tree(scene.judge) == scene.project.git("rev-parse", f"{commit}^{{tree}}").strip()


def test_a_file_beside_the_secrets_is_not_dropped(scene):
    scene.project.write(".claude/private/secrets.md", "about\n")
    scene.project.write('.claude/private/sécrets/"x', "x\n")
    for folder in (".claude/private/secrets/", '.claude/private/secrets/é "quoted"/'):
        scene.project.write(f"{folder}b", "b")
    scene.judge.run("read-tree", scene.project.commit("more"))
    assert drop_secrets(scene.judge)
    assert not drop_secrets(scene.judge)
    left = scene.judge.run("ls-files", "-z").decode().split("\0")
    assert [name for name in left if name.startswith(".claude")] == [
        ".claude/private/secrets.md", ".claude/private/sécrets/\"x",
    ]  # fmt: skip


def test_a_patch_with_binary_files_gives_the_tree_that_it_was_made_from(scene):
    scene.patch.write_bytes(scene.change)
    scene.judge.run("read-tree", scene.commit)
    drop_secrets(scene.judge)
    assert tree_with_patch(scene.judge, scene.patch) == scene.changed
    assert scene.names == ("sub/new.bin",)


def test_differing_paths_are_listed_whole_and_by_both_names_of_a_rename(scene):
    scene.project.git("mv", "b.txt", "sub\n é.txt")
    renamed = scene.project.commit("renamed")
    judge = scene.judge
    patch, names = diff_trees(judge, scene.commit, renamed)
    assert names == ("b.txt", "sub\\n é.txt")
    assert b"rename from b.txt" in patch


def test_a_tree_is_written_although_a_blob_is_missing(scene):
    scene.judge.run("update-index", "--add", "--cacheinfo", f"100644,{ABSENT},partial")
    assert len(write_tree(scene.judge)) == 40


def verdict(scene, store, record, scratch, **fields):
    """Verify a run with the scene's change as its patch."""
    patch = fields.pop("patch", scene.change)
    fields = {"base": scene.base(scene.commit), "result_tree": scene.changed} | fields
    record("one", patch_sha256=sha256(patch), **fields)
    (store.folder("one") / "changes.patch").write_bytes(patch)
    found = verify_run(store, "one", discover(scene.project.root), scratch)
    return list(found.mismatches), found.notes


def test_base_and_patch_give_the_recorded_tree(scene, store, record, tmp_path):
    assert verdict(scene, store, record, tmp_path / "scratch") == ([], ())


def test_a_repository_with_long_object_names_is_verified(make_project, store, record, tmp_path):
    project = make_project()
    shutil.rmtree(project.root / ".git")
    project.git("init", "--quiet", "--object-format=sha256")
    assert verdict(Scene(project, tmp_path), store, record, tmp_path / "scratch") == ([], ())


@pytest.mark.parametrize(
    ("fields", "mismatch"),
    [
        ({"result_tree": ABSENT}, "base + patch: recorded 1111111111111111111111111111111111111111, found "),
        ({"base": BaseRecord(commit=ABSENT, tree="2" * 40, is_commit=True)}, "the base commit 1111111111111111"),
        ({"patch": b"no patch"}, "base + patch: git apply failed"),
    ],
    ids=["another tree", "no base", "no patch"],
)
def test_a_base_or_patch_that_does_not_fit_is_a_mismatch(scene, store, record, tmp_path, fields, mismatch):
    (found,), notes = verdict(scene, store, record, tmp_path / "scratch", **fields)
    assert found.startswith(mismatch)
    assert notes == ()


def test_a_base_that_was_never_committed_is_a_note(scene, store, record, tmp_path):
    lost = BaseRecord(commit=None, tree="2" * 40, is_commit=False)
    mismatches, notes = verdict(scene, store, record, tmp_path / "scratch", base=lost)
    assert mismatches == []
    assert notes == ("the base was never committed, so the patch could not be applied again",)


@pytest.mark.parametrize("missing", ["base", "result_tree"])
def test_a_run_without_a_base_or_a_result_has_nothing_to_apply(scene, store, record, tmp_path, missing):
    assert verdict(scene, store, record, tmp_path / "scratch", **{missing: None}) == ([], ())


def test_a_run_without_a_patch_has_nothing_to_apply(scene, store, record, tmp_path):
    record("one", base=scene.base(scene.commit), result_tree=scene.changed)
    found = verify_run(store, "one", discover(scene.project.root), tmp_path / "scratch")
    assert (found.mismatches, found.notes) == ((), ())


def test_without_a_repository_a_patch_is_not_applied(scene, store, record, tmp_path):
    digest = sha256(b"content\n")
    base = scene.base(scene.commit)
    record("one", files={"changes.patch": digest}, patch_sha256=digest, base=base, result_tree=scene.changed)
    found = verify_run(store, "one", None, tmp_path / "scratch")
    assert found.notes == ("could not apply base and patch again: not in a git repository",)
