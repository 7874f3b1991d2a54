"""Loopwright's private git folder for one sandbox: uses the user's objects and ignore rules, and runs no program."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from loopwright.kernel import git
from loopwright.kernel.files import shown, special_kind, storage
from loopwright.kernel.git import PrivateRepository, UserRepository
from loopwright.sandbox.copy_files import CACHES
from loopwright.sandbox.model import FreshRequest, SandboxFolders


def make_judge(place: SandboxFolders, repository: UserRepository | None, request: FreshRequest) -> PrivateRepository:
    """Create the git folder for a sandbox of this repository, or of a project without a repository."""
    if repository is None:
        judge = git.make_private(place.judge, place.repo)
    else:
        judge = git.make_private(
            place.judge,
            place.repo,
            object_stores=repository.object_stores,
            object_format=repository.object_format,
            settings=repository.settings,
            head=repository.head.commit if repository.head else None,
        )
    rules = repository.exclude.read_bytes() if repository is not None and repository.exclude.is_file() else b""
    with storage(judge.git_dir):
        (judge.git_dir / "info" / "exclude").write_bytes(rules + b"\n")
        # Attributes in the tree may name filter programs, or mark a text as binary so that a patch hides it. These
        # attributes override them.
        (judge.git_dir / "info" / "attributes").write_bytes(b"* -filter !diff\n")
    # Provided folders, Loopwright's state and tool caches are never part of a change.
    ignore(judge, [*(f"/{path.strip('/')}" for path in (*request.provide, *request.state_folders)), *CACHES])
    return judge


def ignore(judge: PrivateRepository, patterns: Iterable[str]) -> None:
    """Leave untracked files that match out of every change."""
    path = judge.git_dir / "info" / "exclude"
    with storage(path), path.open("ab") as rules:
        rules.write(os.fsencode("".join(f"{pattern}\n" for pattern in patterns)))


def user_tree(judge: PrivateRepository, repository: UserRepository) -> PrivateRepository:
    """The user's work tree and index, read without the user's config and without writing to them."""
    return PrivateRepository(judge.git_dir, repository.top, index=repository.git_dir / "index")


# Names that git refuses in any tree, because they would be a repository on this or another system.
_REFUSED = (b".git", b"git~1")


def move_aside_refused_files(work_tree: Path, aside: Path) -> list[str]:
    """Move such files away and return their names; the top-level `.git` is skipped."""
    left_out: list[str] = []
    top = os.fsencode(work_tree)
    for folder, entry in _walk(top):
        path = folder + b"/" + entry.name
        name = shown(path[len(top) + 1 :])
        if entry.name.lower() in _REFUSED:
            _move(path, aside, len(left_out))
            left_out.append(f"{name} (git can't record a repository inside a project)")
        elif kind := _special(entry):
            left_out.append(f"{name} ({kind})")
            if entry.name.startswith(b".git"):
                # Git would open this file to read its rules, and would wait for a writer.
                _move(path, aside, len(left_out))
    return left_out


def _walk(top: bytes) -> Iterator[tuple[bytes, os.DirEntry[bytes]]]:
    pending = [top]
    while pending:
        folder = pending.pop()
        with suppress(OSError):
            for entry in list(os.scandir(folder)):
                if folder == top and entry.name == b".git":
                    continue
                if entry.is_dir(follow_symlinks=False) and entry.name.lower() not in _REFUSED:
                    pending.append(entry.path)
                else:
                    yield folder, entry


def _special(entry: os.DirEntry[bytes]) -> str | None:
    if entry.is_file(follow_symlinks=False) or entry.is_symlink():
        return None
    return special_kind(entry.stat(follow_symlinks=False).st_mode)


def _move(path: bytes, aside: Path, number: int) -> None:
    aside.mkdir(exist_ok=True)
    Path(os.fsdecode(path)).rename(aside / str(number))
