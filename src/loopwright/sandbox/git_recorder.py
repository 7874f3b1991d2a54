"""Records the changes in a sandbox with a private git folder that no step can reach."""

from __future__ import annotations

import errno
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from loopwright.errors import GitFailed, StorageFailed
from loopwright.evidence.trees import AS_PATCH, SECRET_FOLDERS, write_tree
from loopwright.kernel import git_index, process
from loopwright.kernel.files import shown
from loopwright.kernel.git import PrivateRepository, git_failure
from loopwright.sandbox.model import BaseTree
from loopwright.sandbox.port import Changes
from loopwright.sandbox.tidy import move_aside_refused_files

_BIG_FILE = 32 << 20
_LARGEST = 1 << 30


class GitRecorder:
    """The base and the changes as git trees."""

    def __init__(self, repository: PrivateRepository, base: BaseTree, aside: Path) -> None:
        self._git = repository
        self._object_format = "sha256" if len(base.tree) == 64 else "sha1"
        self._base = base
        self._aside = aside
        self._tree = base.tree
        self._compared: tuple[str, str] | None = None
        self._rows: tuple[tuple[bytes, bool], ...] = ()

    def base(self) -> BaseTree:
        """The base of the sandbox."""
        return self._base

    def record(self, write: Callable[[bytes], None]) -> Changes:
        """Stage everything, write the tree, and write the patch from the base to the tree."""
        changes = self.stage()
        if self._tree != self._base.tree:
            self._diff(self._base.tree, self._tree, write)
        return changes

    def stage(self) -> Changes:
        """Stage everything and write the tree."""
        left_out = move_aside_refused_files(self._git.work_tree, self._aside)
        index = self._git.git_dir / "index"
        # A failure here only costs time.
        with suppress(OSError, ValueError, struct.error):
            git_index.trust_unchanged_files(index, self._git.work_tree, self._object_format)
        stage_all(self._git)
        self._tree = write_tree(self._git)
        if self._tree != self._base.tree and (large := self._keep_large_files_out()):
            left_out += large
            self._tree = write_tree(self._git)
        return Changes(self._tree, tuple(left_out))

    def rebase_on_recorded(self) -> None:
        """Use the recorded tree as the base of the next changes."""
        self._base = BaseTree(self._base.commit, self._tree, is_commit=False)

    def changed_files(self) -> tuple[str, ...]:
        """Every changed path, including both sides of a rename."""
        return tuple(shown(path) for path, _ in self._counted())

    def changes_by_path(self) -> dict[str, bool]:
        """Every changed path, and whether it is new."""
        listed = self._git.run("diff-tree", "-r", "-z", "--name-status", "--no-renames", self._base.tree, self._tree)
        fields = listed.split(b"\0")
        return {shown(path): kind == b"A" for kind, path in zip(fields[0::2], fields[1::2], strict=False)}

    def files_since_commit(self) -> tuple[str, ...]:
        """Every path in which the base differs from its commit; all paths if there is no commit."""
        if self._base.commit is None:
            listed = self._git.run("ls-tree", "-r", "-z", "--name-only", self._base.tree)
        else:
            commit = f"{self._base.commit}^{{tree}}"
            listed = self._git.run("diff-tree", "-r", "-z", "--name-only", "--no-renames", commit, self._base.tree)
        return tuple(shown(path) for path in listed.split(b"\0") if path)

    def binary_files(self) -> tuple[bytes, ...]:
        """Changed paths whose content the patch encodes, so that no rule can read it."""
        return tuple(path for path, has_lines in self._counted() if not has_lines)

    def content(self, path: bytes) -> bytes:
        """A file's bytes in the recorded tree."""
        try:
            return self._git.run("cat-file", "blob", f"{self._tree}:{os.fsdecode(path)}")
        except GitFailed:
            return b""  # the file was deleted

    def committed(self, path: str) -> bytes:
        """A file's bytes in the base's commit; empty if the commit does not contain the file."""
        try:
            return self._git.run("cat-file", "blob", f"{self._base.commit}:{path}") if self._base.commit else b""
        except GitFailed:
            return b""

    def lines_containing(self, text: str) -> bytes:
        """The lines of the base that contain this text."""
        argv = self._git.argv("grep", "-h", "-I", "-F", "--no-color", "-e", text, self._base.tree)
        return process.capture(argv, cwd=self._git.work_tree, env=self._git.env()).stdout

    def write_base_patch(self, write: Callable[[bytes], None], limit: int) -> bool:
        """Write the difference between the base's commit and the base; False if it exceeds the limit."""
        commit = f"{self._base.commit}^{{tree}}"
        if sum(size for *_, size in self._sized("diff-tree", "-r", commit, self._base.tree)) > limit:
            return False
        size = 0

        def bounded(data: bytes) -> None:
            nonlocal size
            size += len(data)
            if size <= limit:
                write(data)

        self.write_uncommitted_patch(bounded)
        return size <= limit

    def write_whole_patch(self, write: Callable[[bytes], None]) -> None:
        """Write the difference between the base's commit and the recorded tree; everything if there is no commit."""
        self._diff_from_commit(self._tree, write)

    def write_uncommitted_patch(self, write: Callable[[bytes], None]) -> None:
        """Write the difference between the base's commit and the base; everything if there is no commit."""
        self._diff_from_commit(self._base.tree, write)

    def _diff_from_commit(self, tree: str, write: Callable[[bytes], None]) -> None:
        start = f"{self._base.commit}^{{tree}}" if self._base.commit else self._git.run("mktree").decode().strip()
        # HEAD contains the secrets folders and this tree does not. As a deletion, the patch would show their content.
        excluded = [f":(exclude,top){folder}" for folder in SECRET_FOLDERS]
        self._diff(start, tree, write, "--", ".", *excluded)

    def _keep_large_files_out(self) -> list[str]:
        """Leave files out that are too large for a patch: restore the base's entry, and name the file."""
        named = []
        for old_mode, old_blob, path, size in self._sized("diff-index", "--cached", self._base.tree):
            if size > _LARGEST:
                if old_mode == b"000000":
                    self._git.run("update-index", "--force-remove", "-z", "--stdin", stdin=path + b"\0")
                else:
                    row = old_mode + b" " + old_blob + b"\t" + path + b"\0"
                    self._git.run("update-index", "-z", "--index-info", stdin=row)
                named.append(f"{shown(path)} ({size:,} bytes are too large for a patch)")
        return named

    def _sized(self, *compare: str) -> Iterator[tuple[bytes, bytes, bytes, int]]:
        """Old mode, old blob, path and new size of each file that differs."""
        fields = self._git.run(*compare, "--raw", "-z", "--no-renames", "--no-abbrev").split(b"\0")
        rows = [(meta.split(b" "), path) for meta, path in zip(fields[0::2], fields[1::2], strict=False)]
        blobs = b"".join(meta[3] + b"\n" for meta, _ in rows)
        sizes = self._git.run("cat-file", "--batch-check=%(objectsize)", stdin=blobs).splitlines() if rows else []
        for (meta, path), size in zip(rows, sizes, strict=True):
            yield meta[0].lstrip(b":"), meta[2], path, int(size) if size.isdigit() else 0

    def _counted(self) -> tuple[tuple[bytes, bool], ...]:
        """Every changed path, and whether git counts lines in it; computed once per pair of trees."""
        pair = (self._base.tree, self._tree)
        if pair != self._compared:
            rows: list[list[bytes]] = []
            if self._tree != self._base.tree:
                listed = self._git.run("diff-tree", "-r", "-z", "--numstat", "--no-renames", *pair)
                rows = [row.split(b"\t", 2) for row in listed.split(b"\0") if row]
            self._compared, self._rows = pair, tuple((row[2], row[0] != b"-") for row in rows)
        return self._rows

    def _diff(self, old: str, new: str, write: Callable[[bytes], None], *paths: str) -> None:
        argv = self._git.argv(*AS_PATCH, old, new, *paths)
        errors: list[bytes] = []
        ended = process.stream(
            process.Command(argv, self._git.work_tree, self._git.env(), "patch"),
            on_stdout=write,
            on_stderr=errors.append,
            timeout_s=None,
        )
        process.check_for_stop()
        if ended.exit_code != 0:
            raise git_failure(("diff-tree",), process.Captured(ended.exit_code, b"", b"".join(errors)))


def stage_all(git: PrivateRepository) -> None:
    """Stage the whole work tree. Large files go into one pack instead of loose files."""
    config = ("core.compression=1", f"core.bigFileThreshold={_BIG_FILE}", "advice.addEmbeddedRepo=false")
    try:
        git.run("add", "--all", "--", ".", config=config)
    except GitFailed as problem:
        # Git has no exit code for a full disk; with LC_ALL=C its message ends with the system's text.
        if os.strerror(errno.ENOSPC) in problem.message:
            raise StorageFailed(problem.message, hint="free some space, then try again") from problem
        raise
