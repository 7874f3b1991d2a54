"""Git trees of recorded runs: the base, and the base with the patch applied."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from loopwright.evidence.model import BaseRecord
from loopwright.kernel import git_index
from loopwright.kernel.files import shown
from loopwright.kernel.git import PrivateRepository

# These folders never enter a sandbox, so they are never part of a run's base.
SECRET_FOLDERS = (".claude/private/secrets/",)
# The files of hidden checks are such a folder for each workflow. They are in a commit if a person commits all files.
_WORKFLOWS = ".loopwright/workflows/"
_SECRET = re.compile(rb"\.claude/private/secrets/|\.loopwright/workflows/[^/]+/hidden/")
# An index without these bytes has no secret file.
SECRET_MARKERS = (*map(str.encode, SECRET_FOLDERS), b"/hidden/")
# The arguments of git that leave secret files out.
NOT_SECRET = (
    *(f":(exclude,top){folder}" for folder in SECRET_FOLDERS), f":(exclude,top,glob){_WORKFLOWS}*/hidden/**",
)  # fmt: skip

# Creates the same patch with any git settings of the user.
AS_PATCH = (
    "diff-tree", "-r", "-p", "-M", "--binary", "--full-index", "--no-ext-diff", "--no-textconv", "--no-color",
    "--src-prefix=a/", "--dst-prefix=b/",
)  # fmt: skip


def load_base(
    judge: PrivateRepository, base: BaseRecord, base_patch: Path, *, commit_index: Path | None = None
) -> bool:
    """Load the recorded base into the index; False if the base was never stored or is missing.

    `commit_index` receives the index of the commit alone, if the base is more than that and the commit has no secrets.
    """
    # Try first instead of asking, because each question is a process. A base with a patch is not in any commit.
    has_patch = base_patch.is_file()
    if not has_patch and judge.succeeds("read-tree", base.tree):
        return True
    if base.commit is None and not has_patch:
        return False
    if base.commit is None:
        judge.run("read-tree", "--empty")
    elif judge.succeeds("read-tree", base.commit):
        if not drop_secrets(judge) and commit_index is not None:
            shutil.copyfile(_index(judge), commit_index)
    else:
        return has_patch and judge.succeeds("read-tree", base.tree)
    if has_patch:
        apply_patch(judge, base_patch)
    return write_tree(judge) == base.tree


def tree_with_patch(judge: PrivateRepository, patch: Path) -> str:
    """The tree after applying the patch to the index."""
    apply_patch(judge, patch)
    return write_tree(judge)


def diff_trees(judge: PrivateRepository, old: str, new: str) -> tuple[bytes, tuple[str, ...]]:
    """The patch from one tree to another, and all paths that differ."""
    listed = judge.run("diff-tree", "-r", "-z", "--name-only", old, new)
    return judge.run(*AS_PATCH, old, new), tuple(shown(path) for path in listed.split(b"\0") if path)


def drop_secrets(judge: PrivateRepository) -> bool:
    """Remove secrets folders from the index, because no base contains them; return whether there were any."""
    if not git_index.may_contain(_index(judge), *SECRET_MARKERS):
        return False
    listed = judge.run("ls-files", "-z", *SECRET_FOLDERS, _WORKFLOWS).split(b"\0")
    secrets = [path + b"\0" for path in listed if is_secret(path)]
    if secrets:
        judge.run("update-index", "--force-remove", "-z", "--stdin", stdin=b"".join(secrets))
    return bool(secrets)


def is_secret(path: bytes) -> bool:
    """Whether a path is in a folder that never enters a sandbox."""
    return _SECRET.match(path) is not None


def holds_secrets(judge: PrivateRepository, commit: str | None) -> bool:
    """Whether a commit contains such a folder: with its objects a step could read files that were left out."""
    if commit is None:
        return False
    listed = judge.run("ls-tree", "-r", "--name-only", "-z", commit, "--", *SECRET_FOLDERS, _WORKFLOWS)
    return any(map(is_secret, listed.split(b"\0")))


def _index(judge: PrivateRepository) -> Path:
    return judge.git_dir / "index"


def write_tree(judge: PrivateRepository) -> str:
    """Write the index as a tree and return its id. In a partial clone some blobs may be missing."""
    return judge.run("write-tree", "--missing-ok").decode().strip()


def apply_patch(judge: PrivateRepository, patch: Path) -> None:
    """Apply the patch to the index only; skip an empty patch."""
    if patch.stat().st_size:
        judge.run("apply", "--cached", str(patch.absolute()))
