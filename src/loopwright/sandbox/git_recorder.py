"""Records the changes in a sandbox with a private git folder that no step can reach."""

from __future__ import annotations

import errno
import os
import struct
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from loopwright.errors import GitFailed, SandboxCreateFailed, StorageFailed
from loopwright.evidence.trees import AS_PATCH, NOT_SECRET, write_tree
from loopwright.kernel import git_index, process
from loopwright.kernel.files import shown, storage
from loopwright.kernel.git import PrivateRepository, git_failure
from loopwright.sandbox.judge import move_aside_refused_files
from loopwright.sandbox.model import BaseTree
from loopwright.sandbox.port import Changes, Recorder

_BIG_FILE = 32 << 20
_LARGEST = 1 << 30
_MISSING = b"000000"


class _Row(msgspec.Struct, frozen=True):
    """A path that differs from the base, and whether git counts lines in it."""

    path: bytes
    old_mode: bytes
    old_blob: bytes
    new_blob: bytes
    has_lines: bool


class GitRecorder:
    """The base and the changes as git trees."""

    def __init__(
        self, repository: PrivateRepository, base: BaseTree, aside: Path, *, base_patch: Path | None = None
    ) -> None:
        self._git = repository
        self._object_format = "sha256" if len(base.tree) == 64 else "sha1"
        self._base = base
        self._aside = aside
        # The patch from the commit to the base, if it is known.
        self._base_patch = base_patch
        self._tree = base.tree
        self._rows: tuple[_Row, ...] = ()

    def base(self) -> BaseTree:
        """The base of the sandbox."""
        return self._base

    def record(self, write: Callable[[bytes], None], *, staged: Changes | None = None) -> Changes:
        """Stage everything, write the tree, and write the patch from the base to the tree."""
        changes = staged or self.stage()
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
        self._rows = self._compare()
        if large := self._keep_large_files_out():
            left_out += large
            self._rows = self._compare()
        self._tree = write_tree(self._git) if self._rows else self._base.tree
        return Changes(self._tree, tuple(left_out))

    def rebase_on_recorded(self) -> None:
        """Use the recorded tree as the base of the next changes."""
        self._base = BaseTree(self._base.commit, self._tree, is_commit=False)
        self._base_patch = None
        self._rows = ()

    def changed_files(self) -> tuple[str, ...]:
        """Every changed path, including both sides of a rename."""
        return tuple(shown(row.path) for row in self._rows)

    def changes_by_path(self) -> dict[str, bool]:
        """Every changed path, and whether it is new."""
        return {shown(row.path): row.old_mode == _MISSING for row in self._rows}

    def base_files(self) -> tuple[str, ...]:
        """Every path of the base."""
        listed = self._git.run("ls-tree", "-r", "-z", "--name-only", self._base.tree)
        return tuple(shown(path) for path in listed.split(b"\0") if path)

    def untracked(self) -> tuple[str, ...]:
        """Files that the index does not have, also ignored ones; of new folders only the folder, with a slash."""
        listed = self._git.run("ls-files", "-z", "--others", "--directory")
        return tuple(shown(path) for path in listed.split(b"\0") if path)

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
        return tuple(row.path for row in self._rows if not row.has_lines)

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
        if self._base_patch is not None and self._base_patch.is_file():
            return _write_file(self._base_patch, write, limit)
        commit = f"{self._base.commit}^{{tree}}"
        raw = self._git.run("diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", commit, self._base.tree)
        blobs = [meta.split(b" ")[3] for meta in raw.split(b"\0")[:-1:2]]
        if sum(self._sizes(blobs)) > limit:
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
        self._diff(start, tree, write, "--", ".", *NOT_SECRET)

    def _compare(self) -> tuple[_Row, ...]:
        """What differs between the base and the index."""
        listed = self._git.run(
            "diff-index", "--cached", "--raw", "--numstat", "-z", "--no-renames", "--no-abbrev", self._base.tree
        )
        # First two fields for each path, then one for each: the lines that git counts, and the path again.
        fields = listed.split(b"\0")[:-1]
        described = sum(field.startswith(b":") for field in fields[0::2])
        counted = (field.split(b"\t", 2) for field in fields[2 * described :])
        without_lines = {path for added, _, path in counted if added == b"-"}
        pairs = zip(fields[0 : 2 * described : 2], fields[1 : 2 * described : 2], strict=True)
        return tuple(_row(meta.split(b" "), path, path not in without_lines) for meta, path in pairs)

    def _keep_large_files_out(self) -> list[str]:
        """Leave files out that are too large for a patch: restore the base's entry, and name the file."""
        # A blob has another size than its file only by its line ends or its encoding.
        rows = [row for row in self._rows if self._file_size(row.path) > _LARGEST // 8]
        named = []
        for row, size in zip(rows, self._sizes([row.new_blob for row in rows]), strict=True):
            if size > _LARGEST:
                if row.old_mode == _MISSING:
                    self._git.run("update-index", "--force-remove", "-z", "--stdin", stdin=row.path + b"\0")
                else:
                    entry = row.old_mode + b" " + row.old_blob + b"\t" + row.path + b"\0"
                    self._git.run("update-index", "-z", "--index-info", stdin=entry)
                named.append(f"{shown(row.path)} ({size:,} bytes are too large for a patch)")
        return named

    def _file_size(self, path: bytes) -> int:
        try:
            return os.lstat(os.fsencode(self._git.work_tree) + b"/" + path).st_size
        except OSError:
            return 0

    def _sizes(self, blobs: list[bytes]) -> list[int]:
        """The sizes of blobs; 0 for a blob that is missing, as for a deleted file."""
        if not blobs:
            return []
        listed = self._git.run("cat-file", "--batch-check=%(objectsize)", stdin=b"".join(b + b"\n" for b in blobs))
        return [int(size) if size.isdigit() else 0 for size in listed.splitlines()]

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


def with_git(recorder: Recorder) -> GitRecorder:
    """The recorder of a sandbox that was made with git; `SandboxCreateFailed` for any other."""
    if not isinstance(recorder, GitRecorder):
        raise SandboxCreateFailed("the sandbox was made without git, which tells what changed", hint="install git")
    return recorder


def _row(meta: list[bytes], path: bytes, has_lines: bool) -> _Row:
    return _Row(path, meta[0].lstrip(b":"), meta[2], meta[3], has_lines)


def _write_file(path: Path, write: Callable[[bytes], None], limit: int) -> bool:
    """Write a file's bytes; False, and nothing written, if it exceeds the limit."""
    if path.stat().st_size > limit:
        return False
    with storage(path), path.open("rb") as file:
        while piece := file.read(1 << 20):
            write(piece)
    return True


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
