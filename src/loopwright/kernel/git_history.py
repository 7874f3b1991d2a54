"""Reads a repository's history, as all git calls do: never with the user's config.

Works with ordinary, bare, shallow, linked and partial clones. Fetches nothing and writes nothing.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from loopwright.errors import GitFailed
from loopwright.kernel import git, process
from loopwright.kernel.files import shown, storage

_LONGEST_S = 6 * 3600


class History(msgspec.Struct, frozen=True):
    """A private repository that borrows the commits, and the kind of clone they come from."""

    git_dir: Path
    repository: git.PrivateRepository
    is_shallow: bool
    is_partial: bool

    def resolve(self, revision: str) -> tuple[str, ...]:
        """The commits of a revision or range, excluded commits with a caret; empty if unknown."""
        answer = git.query(f"--git-dir={self.git_dir}", "rev-parse", "--revs-only", revision, cwd=self.git_dir)
        return tuple(answer.stdout.decode().split()) if answer.exit_code == 0 else ()

    def run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """All output of git, for short answers."""
        return self.repository.run(*arguments, stdin=stdin)

    def stream(self, *arguments: str, on_output: process.Sink) -> None:
        """Pass git's output to `on_output` as it comes; `GitFailed` if git fails."""
        errors = bytearray()
        command = process.Command(
            self.repository.argv(*arguments),
            self.repository.work_tree,
            self.repository.env(),
            str(self.repository.git_dir.parent),
        )
        ended = process.stream(command, on_stdout=on_output, on_stderr=errors.extend, timeout_s=_LONGEST_S)
        if ended.exit_code != 0 or ended.ending is not process.Ending.EXITED:
            raise git.git_failure(arguments, process.Captured(ended.exit_code, b"", bytes(errors)))


def open_history(folder: Path, scratch: Path) -> History:
    """The history of the repository that contains this folder, or is this folder."""
    # Git is told to trust no bare repository that it finds by itself (`safe.bareRepository`).
    place = ("--git-dir=.",) if git.is_bare(folder) and not (folder / ".git").exists() else ()
    answer = git.query(
        *place, "rev-parse", "--path-format=absolute", "--absolute-git-dir", "--git-path", "objects",
        "--git-path", "shallow", "--show-object-format", cwd=folder,
    )  # fmt: skip
    lines = [os.fsdecode(line) for line in answer.stdout.split(b"\n")[:-1]]
    if answer.exit_code != 0 or len(lines) != 4:
        raise _no_repository(folder, answer)
    git_dir, objects, shallow, object_format = lines
    stores = git.object_stores(Path(objects))
    work_tree = scratch / "empty"
    with storage(work_tree):
        work_tree.mkdir()
    private = git.make_private(scratch / "git", work_tree, object_stores=stores, object_format=object_format)
    is_shallow = Path(shallow).is_file()
    if is_shallow:
        with storage(private.git_dir):
            (private.git_dir / "shallow").write_bytes(Path(shallow).read_bytes())
    return History(
        git_dir=Path(git_dir),
        repository=private,
        is_shallow=is_shallow,
        is_partial=any(next((store / "pack").glob("*.promisor"), None) for store in stores),
    )


def _no_repository(folder: Path, answer: process.Captured) -> GitFailed:
    if b"dubious ownership" in answer.stderr:
        return GitFailed(
            f"git refuses {shown(folder)}: the folder belongs to another user",
            hint=f"if you trust the folder: git config --global --add safe.directory {shown(folder)}",
        )
    if answer.exit_code == 0:
        return GitFailed(
            f"the path of the repository at {shown(folder)} contains a line break",
            hint="rename that folder; git can't print its path on one line",
        )
    return GitFailed(
        f"{shown(folder)} is not in a git repository",
        hint="name a repository with --project-root PATH, or create one: git init",
    )
