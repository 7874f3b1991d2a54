"""Says what changed in a sandbox, by a git folder of our own that no step can reach."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from loopwright.errors import GitFailed, StorageFailed
from loopwright.kernel import process
from loopwright.kernel.files import shown
from loopwright.kernel.git import PrivateRepository, git_failure
from loopwright.sandbox.model import Base
from loopwright.sandbox.port import Changes

_DIFF = ("--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/")
_BIG_FILE = 32 << 20


class GitRecorder:
    """Base and changes as git trees."""

    def __init__(self, repository: PrivateRepository, base: Base, aside: Path) -> None:
        self._git = repository
        self._base = base
        self._aside = aside
        self._tree = base.tree

    def base(self) -> Base:
        """What the sandbox started from."""
        return self._base

    def record(self, write: Callable[[bytes], None]) -> Changes:
        """Stage everything, name the tree, and write the patch from the base to it."""
        left_out = _hide_inner_repositories(self._git.work_tree, self._aside)
        stage_all(self._git)
        self._tree = self._git.run("write-tree").decode().strip()
        if self._tree != self._base.tree:
            self._diff(self._base.tree, self._tree, write)
        return Changes(self._tree, tuple(left_out))

    def changed_files(self) -> tuple[str, ...]:
        """Every path that differs, both sides of a rename included."""
        if self._tree == self._base.tree:
            return ()
        listed = self._git.run("diff-tree", "-r", "-z", "--name-only", "--no-renames", self._base.tree, self._tree)
        return tuple(shown(path) for path in listed.split(b"\0") if path)

    def binary_files(self) -> tuple[bytes, ...]:
        """New content that the patch holds in a coded form, where no rule could read it."""
        listed = self._git.run("diff-tree", "-r", "-z", "--numstat", "--no-renames", self._base.tree, self._tree)
        rows = (row.split(b"\t", 2) for row in listed.split(b"\0") if row)
        return tuple(row[2] for row in rows if len(row) == 3 and row[0] == b"-")

    def content(self, path: bytes) -> bytes:
        """A file's bytes as they are in the recorded tree."""
        spec = self._tree.encode() + b":" + path
        asked = self._git.run("cat-file", "--batch", stdin=spec + b"\n") if b"\n" not in path else b""
        head, _, body = asked.partition(b"\n")
        return body[:-1] if head.split()[1:2] == [b"blob"] else b""

    def lines_with(self, text: str) -> bytes:
        """The lines of the base that hold this text."""
        argv = self._git.argv("grep", "-h", "-I", "-F", "--no-color", "-e", text, self._base.tree)
        return process.capture(argv, cwd=self._git.work_tree, env=self._git.env()).stdout

    def write_base_patch(self, write: Callable[[bytes], None], limit: int) -> bool:
        """What the base has that its commit has not; False when that is more than the limit."""
        size = 0

        def bounded(data: bytes) -> None:
            nonlocal size
            size += len(data)
            if size <= limit:
                write(data)

        commit = f"{self._base.commit}^{{tree}}"
        self._diff(commit, self._base.tree, bounded)
        return size <= limit

    def _diff(self, old: str, new: str, write: Callable[[bytes], None]) -> None:
        argv = self._git.argv("diff-tree", "-r", "-p", "-M", "--binary", "--full-index", *_DIFF, old, new)
        errors: list[bytes] = []
        cancellation = process.Cancellation()
        try:
            ended = process.stream(
                process.Command(argv, self._git.work_tree, self._git.env(), "patch"),
                on_stdout=write,
                on_stderr=errors.append,
                timeout_s=None,
                cancellation=cancellation,
            )
        finally:
            cancellation.close()
        if ended.exit_code != 0:
            raise git_failure(("diff-tree",), process.Captured(ended.exit_code, b"", b"".join(errors)))


def stage_all(git: PrivateRepository) -> None:
    """Everything in the work tree into the index; large contents go to one pack, not to loose files."""
    config = ("core.compression=1", f"core.bigFileThreshold={_BIG_FILE}", "advice.addEmbeddedRepo=false")
    try:
        git.run("add", "--all", "--", ".", config=config)
    except GitFailed as problem:
        if "No space left" in problem.message:
            raise StorageFailed(problem.message, hint="free some space, then try again") from problem
        raise


def _hide_inner_repositories(work_tree: Path, aside: Path) -> list[str]:
    """Take `.git` folders that steps made out of the way: git would record a link instead of the files."""
    found: list[str] = []
    for parent, folders, files in os.walk(work_tree):
        if parent == str(work_tree):
            folders[:] = [name for name in folders if name != ".git"]
            continue
        if ".git" in folders or ".git" in files:
            if ".git" in folders:
                folders.remove(".git")
            aside.mkdir(exist_ok=True)
            shutil.move(os.path.join(parent, ".git"), aside / str(len(found)))  # noqa: PTH118 -- any bytes
            found.append(f"{shown(os.path.relpath(parent, work_tree))}/.git (a repository inside the project)")
    return found
