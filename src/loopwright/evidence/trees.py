"""Git trees of recorded runs: the base as it was, and the base with the patch on it."""

from __future__ import annotations

from pathlib import Path

from loopwright.evidence.model import BaseRecord
from loopwright.kernel.files import shown
from loopwright.kernel.git import PrivateRepository

# They never enter a sandbox, so they are never part of what a run started from.
SECRET_FOLDERS = (".claude/private/secrets/",)

# A patch that says the same whatever the user's git is set to.
AS_PATCH = (
    "diff-tree", "-r", "-p", "-M", "--binary", "--full-index", "--no-ext-diff", "--no-textconv", "--no-color",
    "--src-prefix=a/", "--dst-prefix=b/",
)  # fmt: skip


def load_base(judge: PrivateRepository, base: BaseRecord, base_patch: Path) -> bool:
    """Make the index the recorded base; False when the base was never kept, or is gone."""
    # Tried rather than asked about first: each question is a process. What has a patch is in nobody's commit.
    has_patch = base_patch.is_file()
    if not has_patch and judge.succeeds("read-tree", base.tree):
        return True
    if base.commit is None and not has_patch:
        return False
    if base.commit is None:
        judge.run("read-tree", "--empty")
    elif judge.succeeds("read-tree", base.commit):
        drop_secrets(judge)
    else:
        return has_patch and judge.succeeds("read-tree", base.tree)
    if has_patch:
        apply_patch(judge, base_patch)
    return write_tree(judge) == base.tree


def tree_with_patch(judge: PrivateRepository, patch: Path) -> str:
    """The tree that the patch makes of what is in the index."""
    apply_patch(judge, patch)
    return write_tree(judge)


def diff_trees(judge: PrivateRepository, old: str, new: str) -> tuple[bytes, tuple[str, ...]]:
    """The patch from one tree to another, and every path that differs."""
    listed = judge.run("diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new)
    return judge.run(*AS_PATCH, old, new), tuple(shown(path) for path in listed.split(b"\0") if path)


def drop_secrets(judge: PrivateRepository) -> int:
    """Take secrets folders out of the index: they are part of no base; how many files that were."""
    listed = judge.run("ls-files", "-z", "--", *SECRET_FOLDERS)
    if listed:
        judge.run("update-index", "--force-remove", "-z", "--stdin", stdin=listed)
    return listed.count(b"\0")


def write_tree(judge: PrivateRepository) -> str:
    """The name of the tree in the index; in a partial clone not every blob of it has to be here."""
    return judge.run("write-tree", "--missing-ok").decode().strip()


def apply_patch(judge: PrivateRepository, patch: Path) -> None:
    """Apply to the index alone; an empty patch is nothing to do."""
    if patch.stat().st_size:
        judge.run("apply", "--cached", "--binary", "--whitespace=nowarn", "--", str(patch.absolute()))
