"""The work of a loop apart from what the project had before: as a patch, and with the tests as they were before.

A loop starts from the project as it is. Uncommitted files of a person are kept once, next to the work, so that the work
alone can be reviewed and handed over.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from loopwright.errors import StorageFailed
from loopwright.evidence.model import BaseRecord
from loopwright.evidence.trees import AS_PATCH, SECRET_FOLDERS, diff_trees, load_base, write_tree
from loopwright.kernel import git
from loopwright.kernel.digest import sha256
from loopwright.kernel.files import make_folder, shown, write_durably
from loopwright.kernel.git import PrivateRepository
from loopwright.loop.model import Tree
from loopwright.loop.work_files import patch_path, start_path
from loopwright.workflow.seal import Judges


class OwnWork(msgspec.Struct, frozen=True):
    """The loop's own changes, and the paths that they touch."""

    patch: bytes
    files: tuple[str, ...]


def own_work(tree: Tree, progress: Path, project: Path) -> OwnWork | None:
    """The loop's changes to its base; None if the base was a commit, so that the whole patch is the loop's own."""
    if not start_path(progress, tree.base_tree).is_file():
        return None
    with both_trees(tree, progress, project) as judge:
        return OwnWork(*diff_trees(judge, tree.base_tree, tree.tree))


@contextmanager
def both_trees(tree: Tree, progress: Path, project: Path) -> Iterator[PrivateRepository]:
    """For the block, a repository with the base and the work. The work is in its index."""
    start = start_path(progress, tree.base_tree)
    with tempfile.TemporaryDirectory(prefix="loopwright-own-") as scratch:
        repository = git.discover(project)
        work_tree = Path(scratch) / "tree"
        make_folder(work_tree)
        judge = git.make_private(
            Path(scratch) / "git",
            work_tree,
            object_stores=repository.object_stores if repository is not None else (),
            object_format=repository.object_format if repository is not None else "sha1",
        )
        for name, patch in ((tree.base_tree, start), (tree.tree, patch_path(progress, tree.patch_sha256))):
            if not load_base(judge, BaseRecord(commit=tree.commit, tree=name, is_commit=False), patch):
                raise StorageFailed(
                    f"{shown(patch)} does not lead to the tree that was recorded",
                    hint="the commit that the work started from must exist, and its kept patch must be unchanged",
                )
        yield judge


_FILES = (b"100644", b"100755")


class RestoredTests(msgspec.Struct, frozen=True):
    """A tree to run the old tests on, and the test files that the work changed, deleted or influenced."""

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
        """The row that restores the entry in the index."""
        mode = b"0" if self.is_new else self.old_mode
        return mode + b" " + self.old_blob + b"\t" + self.path + b"\0"


def restore_tests(tree: Tree, progress: Path, project: Path, judges: Judges) -> RestoredTests | None:
    """The work with the old tests; None if the work changed no test and nothing that configures tests."""
    with both_trees(tree, progress, project) as judge:
        changes = [change for change in _changes(judge, tree) if judges.kind_of(change.name) != "none"]
        touched = [change for change in changes if not change.is_new and _is_judged_otherwise(judge, change, judges)]
        if _has_tests(judge, tree, judges):
            touched += [change for change in changes if change.is_new and judges.steers(change.name)]
        if not touched:
            return None
        # New tests are removed, too: they may need what is restored, and only the old tests are run.
        rows = {change.path: change.undone for change in (*touched, *(change for change in changes if change.is_new))}
        judge.run("update-index", "-z", "--index-info", stdin=b"".join(rows.values()))
        restored = write_tree(judge)
        patch = _patch(judge, tree.commit, restored)
    path = patch_path(progress, sha256(patch))
    make_folder(path.parent)
    write_durably(path, patch)
    found = msgspec.structs.replace(tree, tree=restored, patch_sha256=sha256(patch))
    return RestoredTests(found, tuple(sorted(change.name for change in touched)))


def _changes(judge: PrivateRepository, tree: Tree) -> Iterator[_Change]:
    listed = judge.run("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", tree.base_tree, tree.tree)
    fields = listed.split(b"\0")
    for meta, path in zip(fields[0::2], fields[1::2], strict=False):
        old_mode, new_mode, old_blob, new_blob, _ = meta.lstrip(b":").split(b" ")
        yield _Change(path, old_mode, old_blob, new_mode, new_blob)


def _is_judged_otherwise(judge: PrivateRepository, change: _Change, judges: Judges) -> bool:
    """Whether the part of the file that matters changed: a new dependency in `pyproject.toml` configures no test."""
    if change.old_mode not in _FILES or change.new_mode not in _FILES:
        return True
    old, new = (judge.run("cat-file", "blob", blob.decode()) for blob in (change.old_blob, change.new_blob))
    return judges.part(change.name, old) != judges.part(change.name, new)


def _has_tests(judge: PrivateRepository, tree: Tree, judges: Judges) -> bool:
    """Whether tests existed before the work. Without them, a new file could not influence any."""
    listed = judge.run("ls-tree", "-r", "-z", "--name-only", tree.base_tree)
    names = (shown(path) for path in listed.split(b"\0") if path)
    return any(judges.kind_of(name) != "none" and not judges.steers(name) for name in names)


def _patch(judge: PrivateRepository, commit: str | None, tree: str) -> bytes:
    start = f"{commit}^{{tree}}" if commit else judge.run("mktree").decode().strip()
    outside = [f":(exclude,top){folder}" for folder in SECRET_FOLDERS]
    return judge.run(*AS_PATCH, start, tree, "--", ".", *outside)
