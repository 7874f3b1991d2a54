"""Worktree mode: a detached checkout of HEAD that borrows the user's objects and shares nothing else."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from loopwright.kernel import git
from loopwright.kernel.files import shown, storage
from loopwright.kernel.git import PrivateRepository, UserRepository
from loopwright.sandbox.excludes import SECRET_FOLDERS
from loopwright.sandbox.git_recorder import GitRecorder
from loopwright.sandbox.judge import user_tree
from loopwright.sandbox.model import Base, Notes, Place, Request

_LINK_MODE = b"160000 "


def why_not_worktree(request: Request, judge: PrivateRepository, repository: UserRepository | None) -> str | None:
    """Why HEAD alone would not be the project as it is, or None."""
    if repository is None:
        return "the project is not in a git repository"
    if repository.top.resolve() != request.project.resolve():
        return f"the project is not the top of its repository ({shown(repository.top)})"
    if repository.head is None:
        return "the repository has no commit yet"
    looking = user_tree(judge, repository)
    dirty = _uncommitted(looking, request.state_folders)
    if dirty:
        more = f" and {len(dirty) - 1} more" if len(dirty) > 1 else ""
        return f"there are changes that are not committed: {dirty[0]}{more}"
    for path in _submodules(looking):
        if any((request.project / path).glob("*")):
            return f"the submodule {shown(path)} would be empty"
    return None


def open_worktree(place: Place, judge: PrivateRepository, repository: UserRepository, notes: Notes) -> GitRecorder:
    """Check HEAD out into the place."""
    head = repository.head or ""
    judge.run("read-tree", head)
    removed = _drop_secrets(judge)
    if removed:
        notes.add(f"left out of the sandbox: {removed} files of secrets folders")
    check_out(judge)
    tree = judge.run("write-tree") if removed else judge.run("rev-parse", f"{head}^{{tree}}")
    give_steps_a_repository(place, judge, repository)
    empty = _submodules(judge)
    if empty:
        notes.add(f"submodules are empty in the sandbox: {', '.join(map(shown, empty[:5]))}")
    base = Base(repository.head, tree.decode().strip(), is_commit=True)
    return GitRecorder(judge, base, place.folder / "inner-git")


def check_out(judge: PrivateRepository) -> None:
    """Everything in the index into the work tree, by several processes: creating files is what takes the time."""
    workers = max(2, min(8, 4 * (os.cpu_count() or 1)))
    config = (f"checkout.workers={workers}", "checkout.thresholdForParallelism=100")
    judge.run("checkout-index", "--all", "--index", "--force", "--quiet", config=config)


def _uncommitted(looking: PrivateRepository, state_folders: tuple[str, ...]) -> list[str]:
    """What `git status` would show, our own state left out."""
    outside = [f":(exclude,top){folder}" for folder in state_folders]
    listed = looking.run(
        "status", "--porcelain=v1", "-z", "--untracked-files=normal", "--no-renames",
        "--ignore-submodules=dirty", "--", ".", *outside,
    )  # fmt: skip
    return [shown(entry[3:]) for entry in listed.split(b"\0") if entry]


def _submodules(repository: PrivateRepository) -> list[Path]:
    rows = repository.run("ls-files", "--stage", "-z").split(b"\0")
    return [Path(os.fsdecode(row.split(b"\t", 1)[1])) for row in rows if row.startswith(_LINK_MODE)]


def _drop_secrets(judge: PrivateRepository) -> int:
    listed = judge.run("ls-files", "-z", "--", *SECRET_FOLDERS)
    if listed:
        judge.run("update-index", "--force-remove", "-z", "--stdin", stdin=listed)
    return listed.count(b"\0")


def give_steps_a_repository(place: Place, judge: PrivateRepository, repository: UserRepository) -> None:
    """A `.git` that steps may do with as they like; the judge's own is elsewhere."""
    with storage(place.objects):
        place.objects.mkdir()
        names = [place.objects / str(number) for number in range(len(repository.object_stores))]
        for name, store in zip(names, repository.object_stores, strict=True):
            name.symlink_to(store)
    git.make_private(
        place.repo / ".git",
        place.repo,
        object_stores=names,
        object_format=repository.object_format,
        settings=repository.settings,
        head=repository.head,
    )
    with storage(place.repo):
        shutil.copy2(judge.git_dir / "index", place.repo / ".git" / "index")
