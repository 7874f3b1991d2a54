"""Says what changed in a sandbox, by a git folder of our own that no step can reach."""

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
from loopwright.sandbox.tidy import set_aside_what_git_refuses

_BIG_FILE = 32 << 20
_LARGEST = 1 << 30


class GitRecorder:
    """Base and changes as git trees."""

    def __init__(self, repository: PrivateRepository, base: BaseTree, aside: Path) -> None:
        self._git = repository
        self._object_format = "sha256" if len(base.tree) == 64 else "sha1"
        self._base = base
        self._aside = aside
        self._tree = base.tree
        self._compared: tuple[str, str] | None = None
        self._rows: tuple[tuple[bytes, bool], ...] = ()

    def base(self) -> BaseTree:
        """What the sandbox started from."""
        return self._base

    def record(self, write: Callable[[bytes], None]) -> Changes:
        """Stage everything, name the tree, and write the patch from the base to it."""
        changes = self.stage()
        if self._tree != self._base.tree:
            self._diff(self._base.tree, self._tree, write)
        return changes

    def stage(self) -> Changes:
        """Stage everything, and name the tree."""
        left_out = set_aside_what_git_refuses(self._git.work_tree, self._aside)
        index = self._git.git_dir / "index"
        # Only time is lost when that can't be done.
        with suppress(OSError, ValueError, struct.error):
            git_index.trust_unchanged_files(index, self._git.work_tree, self._object_format)
        stage_all(self._git)
        self._tree = write_tree(self._git)
        if self._tree != self._base.tree and (large := self._keep_large_files_out()):
            left_out += large
            self._tree = write_tree(self._git)
        return Changes(self._tree, tuple(left_out))

    def go_on_from_here(self) -> None:
        """What is recorded now is the base of what comes next."""
        self._base = BaseTree(self._base.commit, self._tree, is_commit=False)

    def changed_files(self) -> tuple[str, ...]:
        """Every path that differs, both sides of a rename included."""
        return tuple(shown(path) for path, _ in self._counted())

    def changes_by_path(self) -> dict[str, bool]:
        """Every path that differs, and whether it is new."""
        listed = self._git.run("diff-tree", "-r", "-z", "--name-status", "--no-renames", self._base.tree, self._tree)
        fields = listed.split(b"\0")
        return {shown(path): kind == b"A" for kind, path in zip(fields[0::2], fields[1::2], strict=False)}

    def files_since_commit(self) -> tuple[str, ...]:
        """Every path in which the base differs from its commit; all of them where there is none."""
        if self._base.commit is None:
            listed = self._git.run("ls-tree", "-r", "-z", "--name-only", self._base.tree)
        else:
            commit = f"{self._base.commit}^{{tree}}"
            listed = self._git.run("diff-tree", "-r", "-z", "--name-only", "--no-renames", commit, self._base.tree)
        return tuple(shown(path) for path in listed.split(b"\0") if path)

    def binary_files(self) -> tuple[bytes, ...]:
        """New content that the patch holds in a coded form, where no rule could read it."""
        return tuple(path for path, has_lines in self._counted() if not has_lines)

    def content(self, path: bytes) -> bytes:
        """A file's bytes as they are in the recorded tree."""
        try:
            return self._git.run("cat-file", "blob", f"{self._tree}:{os.fsdecode(path)}")
        except GitFailed:
            return b""  # it was deleted

    def committed(self, path: str) -> bytes:
        """A file's bytes in the base's commit; nothing where it is not there."""
        try:
            return self._git.run("cat-file", "blob", f"{self._base.commit}:{path}") if self._base.commit else b""
        except GitFailed:
            return b""

    def lines_with(self, text: str) -> bytes:
        """The lines of the base that hold this text."""
        argv = self._git.argv("grep", "-h", "-I", "-F", "--no-color", "-e", text, self._base.tree)
        return process.capture(argv, cwd=self._git.work_tree, env=self._git.env()).stdout

    def write_base_patch(self, write: Callable[[bytes], None], limit: int) -> bool:
        """What the base has that its commit has not; False when that is more than the limit."""
        commit = f"{self._base.commit}^{{tree}}"
        if sum(size for *_, size in self._sized("diff-tree", "-r", commit, self._base.tree)) > limit:
            return False
        size = 0

        def bounded(data: bytes) -> None:
            nonlocal size
            size += len(data)
            if size <= limit:
                write(data)

        self.write_start(bounded)
        return size <= limit

    def write_whole_patch(self, write: Callable[[bytes], None]) -> None:
        """What the recorded tree has that the base's commit has not; without a commit that is everything."""
        self._diff_from_commit(self._tree, write)

    def write_start(self, write: Callable[[bytes], None]) -> None:
        """What the base has that its commit has not; without a commit that is everything."""
        self._diff_from_commit(self._base.tree, write)

    def _diff_from_commit(self, tree: str, write: Callable[[bytes], None]) -> None:
        start = f"{self._base.commit}^{{tree}}" if self._base.commit else self._git.run("mktree").decode().strip()
        # A secrets folder is in HEAD and not here: as a deletion its content would be in the patch.
        outside = [f":(exclude,top){folder}" for folder in SECRET_FOLDERS]
        self._diff(start, tree, write, "--", ".", *outside)

    def _keep_large_files_out(self) -> list[str]:
        """A patch can't carry a file of gigabytes: put the base's entry back, and name the file."""
        named = []
        for old_mode, old_blob, path, size in self._sized("diff-index", "--cached", self._base.tree):
            if size > _LARGEST:
                if old_mode == b"000000":
                    self._git.run("update-index", "--force-remove", "-z", "--stdin", stdin=path + b"\0")
                else:
                    row = old_mode + b" " + old_blob + b"\t" + path + b"\0"
                    self._git.run("update-index", "-z", "--index-info", stdin=row)
                named.append(f"{shown(path)} ({size:,} bytes are too many for a patch)")
        return named

    def _sized(self, *compare: str) -> Iterator[tuple[bytes, bytes, bytes, int]]:
        """Old mode, old blob, path and new size of each file that differs in this comparison."""
        fields = self._git.run(*compare, "--raw", "-z", "--no-renames", "--no-abbrev").split(b"\0")
        rows = [(meta.split(b" "), path) for meta, path in zip(fields[0::2], fields[1::2], strict=False)]
        asked = b"".join(meta[3] + b"\n" for meta, _ in rows)
        sizes = self._git.run("cat-file", "--batch-check=%(objectsize)", stdin=asked).splitlines() if rows else []
        for (meta, path), size in zip(rows, sizes, strict=True):
            yield meta[0].lstrip(b":"), meta[2], path, int(size) if size.isdigit() else 0

    def _counted(self) -> tuple[tuple[bytes, bool], ...]:
        """Every path that differs, and whether git counts lines in it; asked once for the two trees."""
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
    """Everything in the work tree into the index; large contents go to one pack, not to loose files."""
    config = ("core.compression=1", f"core.bigFileThreshold={_BIG_FILE}", "advice.addEmbeddedRepo=false")
    try:
        git.run("add", "--all", "--", ".", config=config)
    except GitFailed as problem:
        # Git has no code for a full disk; under LC_ALL=C its sentence ends with the system's own.
        if os.strerror(errno.ENOSPC) in problem.message:
            raise StorageFailed(problem.message, hint="free some space, then try again") from problem
        raise
