"""The work of a loop apart from what the project had before, as a patch.

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
from loopwright.evidence.trees import diff_trees, load_base
from loopwright.kernel import git
from loopwright.kernel.files import make_folder, shown, write_durably
from loopwright.kernel.git import PrivateRepository
from loopwright.loop.model import Tree
from loopwright.loop.work_files import patch_path, start_path

# The patch that a person applies.
PATCH = "changes.patch"


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


def hand_over(tree: Tree | None, progress: Path, project: Path) -> bool:
    """Write the patch, and return whether there is one. An empty patch and the patch of an earlier try are removed."""
    if tree is None or not tree.has_changes:
        (progress / PATCH).unlink(missing_ok=True)
        return False
    own = own_work(tree, progress, project)
    patch = own.patch if own is not None else patch_path(progress, tree.patch_sha256).read_bytes()
    write_durably(progress / PATCH, patch)
    return True


@contextmanager
def both_trees(tree: Tree, progress: Path, project: Path, *others: Tree) -> Iterator[PrivateRepository]:
    """For the block, a repository with the base and the work, and other work. The work is in its index."""
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
        works = [(work.tree, patch_path(progress, work.patch_sha256)) for work in (*others, tree)]
        for name, patch in ((tree.base_tree, start), *works):
            if not load_base(judge, BaseRecord(commit=tree.commit, tree=name, is_commit=False), patch):
                raise StorageFailed(
                    f"{shown(patch)} does not lead to the tree that was recorded",
                    hint="the commit that the work started from must exist, and its kept patch must be unchanged",
                )
        yield judge
