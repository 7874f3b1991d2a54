"""Git trees of recorded runs: the base as it was, and the base with the patch on it."""

from __future__ import annotations

from pathlib import Path

from loopwright.evidence.model import BaseRecord
from loopwright.kernel.git import PrivateRepository


def load_base(judge: PrivateRepository, base: BaseRecord, base_patch: Path) -> bool:
    """Make the index the recorded base; False when the base was never kept, or is gone."""
    if judge.succeeds("cat-file", "-e", f"{base.tree}^{{tree}}"):
        judge.run("read-tree", base.tree)
        return True
    if base.commit is None or not base_patch.is_file():
        return False
    if not judge.succeeds("cat-file", "-e", f"{base.commit}^{{commit}}"):
        return False
    judge.run("read-tree", base.commit)
    apply_patch(judge, base_patch)
    return write_tree(judge) == base.tree


def tree_with_patch(judge: PrivateRepository, patch: Path) -> str:
    """The tree that the patch makes of what is in the index."""
    apply_patch(judge, patch)
    return write_tree(judge)


def write_tree(judge: PrivateRepository) -> str:
    """The name of the tree in the index; in a partial clone not every blob of it has to be here."""
    return judge.run("write-tree", "--missing-ok").decode().strip()


def apply_patch(judge: PrivateRepository, patch: Path) -> None:
    """Apply to the index alone; an empty patch is nothing to do."""
    if patch.stat().st_size:
        judge.run("apply", "--cached", "--binary", "--whitespace=nowarn", "--", str(patch.absolute()))
