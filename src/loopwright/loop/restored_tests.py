"""The work of a loop with the project's tests as they were before it, made by git: modes and links stay right."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from loopwright.evidence.trees import AS_PATCH, SECRET_FOLDERS, write_tree
from loopwright.kernel.digest import sha256
from loopwright.kernel.files import make_folder, shown, write_durably
from loopwright.kernel.git import PrivateRepository
from loopwright.loop.model import Tree
from loopwright.loop.own_work import both_trees
from loopwright.loop.work_files import patch_path
from loopwright.workflow.seal import Judges

_FILES = (b"100644", b"100755")


class RestoredTests(msgspec.Struct, frozen=True):
    """A tree to run the tests on, and which of them the work had changed, deleted, or steered by a new file."""

    tree: Tree
    touched: tuple[str, ...]


class _Change(msgspec.Struct, frozen=True):
    path: bytes
    old_mode: bytes
    old_blob: bytes
    new_mode: bytes
    new_blob: bytes

    @property
    def name(self) -> str:
        return shown(self.path)

    @property
    def is_new(self) -> bool:
        return self.old_mode == b"000000"

    @property
    def undone(self) -> bytes:
        """The row that puts the index's entry back to what it was."""
        mode = b"0" if self.is_new else self.old_mode
        return mode + b" " + self.old_blob + b"\t" + self.path + b"\0"


def restore_tests(tree: Tree, progress: Path, project: Path, judges: Judges) -> RestoredTests | None:
    """None where the work left every test, and whatever steers the tests, as it was."""
    with both_trees(tree, progress, project) as judge:
        changes = [one for one in _changes(judge, tree) if judges.kind_of(one.name) != "none"]
        touched = [one for one in changes if not one.is_new and _is_judged_otherwise(judge, one, judges)]
        if _has_tests(judge, tree, judges):
            touched += [one for one in changes if one.is_new and judges.steers(one.name)]
        if not touched:
            return None
        # New tests go, too: what they need may be among what is put back, and the old ones alone are asked.
        rows = {one.path: one.undone for one in (*touched, *(one for one in changes if one.is_new))}
        judge.run("update-index", "-z", "--index-info", stdin=b"".join(rows.values()))
        restored = write_tree(judge)
        patch = _patch(judge, tree.commit, restored)
    path = patch_path(progress, sha256(patch))
    make_folder(path.parent)
    write_durably(path, patch)
    found = msgspec.structs.replace(tree, tree=restored, patch_sha256=sha256(patch))
    return RestoredTests(found, tuple(sorted(one.name for one in touched)))


def _changes(judge: PrivateRepository, tree: Tree) -> Iterator[_Change]:
    listed = judge.run("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", tree.base_tree, tree.tree)
    fields = listed.split(b"\0")
    for meta, path in zip(fields[0::2], fields[1::2], strict=False):
        old_mode, new_mode, old_blob, new_blob, _ = meta.lstrip(b":").split(b" ")
        yield _Change(path, old_mode, old_blob, new_mode, new_blob)


def _is_judged_otherwise(judge: PrivateRepository, change: _Change, judges: Judges) -> bool:
    """Whether what counts of a file changed: a new dependency in `pyproject.toml` steers no test."""
    if change.old_mode not in _FILES or change.new_mode not in _FILES:
        return True
    old, new = (judge.run("cat-file", "blob", blob.decode()) for blob in (change.old_blob, change.new_blob))
    return judges.part(change.name, old) != judges.part(change.name, new)


def _has_tests(judge: PrivateRepository, tree: Tree, judges: Judges) -> bool:
    """Whether there was a test before the work: where there was none, nothing new could steer one."""
    listed = judge.run("ls-tree", "-r", "-z", "--name-only", tree.base_tree)
    names = (shown(path) for path in listed.split(b"\0") if path)
    return any(judges.kind_of(name) != "none" and not judges.steers(name) for name in names)


def _patch(judge: PrivateRepository, commit: str | None, tree: str) -> bytes:
    start = f"{commit}^{{tree}}" if commit else judge.run("mktree").decode().strip()
    outside = [f":(exclude,top){folder}" for folder in SECRET_FOLDERS]
    return judge.run(*AS_PATCH, start, tree, "--", ".", *outside)
