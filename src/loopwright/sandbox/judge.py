"""Our own git folder for one sandbox: it borrows the user's objects, obeys their ignore rules, runs nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable

from loopwright.kernel import git
from loopwright.kernel.files import storage
from loopwright.kernel.git import PrivateRepository, UserRepository
from loopwright.sandbox.model import Place


def make_judge(place: Place, repository: UserRepository | None, provide: Iterable[str]) -> PrivateRepository:
    """Lay out the judge for a sandbox of this repository, or of a project without one."""
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
    # A provided folder is the machine's, never part of a change.
    rules += b"".join(b"\n/" + os.fsencode(path.strip("/")) for path in provide)
    with storage(judge.git_dir):
        (judge.git_dir / "info" / "exclude").write_bytes(rules + b"\n")
        # Attributes in the tree may name filter programs; ours win, and name none.
        (judge.git_dir / "info" / "attributes").write_bytes(b"* -filter\n")
    return judge


def user_tree(judge: PrivateRepository, repository: UserRepository) -> PrivateRepository:
    """The user's work tree and index, seen without their config and without writing either."""
    return PrivateRepository(judge.git_dir, repository.top, index=repository.git_dir / "index")
