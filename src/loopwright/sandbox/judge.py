"""Loopwright's private git folder for one sandbox: uses the user's objects and ignore rules, and runs no program."""

from __future__ import annotations

import os
from collections.abc import Iterable

from loopwright.kernel import git
from loopwright.kernel.files import storage
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
