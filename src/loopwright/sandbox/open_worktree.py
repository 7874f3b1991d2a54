"""Worktree mode: a detached checkout of HEAD that borrows the user's objects and shares nothing else."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import msgspec

from loopwright.evidence.trees import SECRET_FOLDERS, drop_secrets, write_tree
from loopwright.kernel import git
from loopwright.kernel.files import shown, storage
from loopwright.kernel.git import GitHead, PrivateRepository, UserRepository
from loopwright.sandbox.git_recorder import GitRecorder
from loopwright.sandbox.judge import user_tree
from loopwright.sandbox.model import BaseTree, FreshRequest, Notes, SandboxFolders

_LINK_MODE = b"160000 "
_SECRETS = tuple(folder.encode() for folder in SECRET_FOLDERS)


def why_impossible(request: FreshRequest, repository: UserRepository | None) -> str | None:
    """Why there can be no checkout of HEAD at all, or None."""
    if repository is None:
        return "the project is not in a git repository"
    if repository.top.resolve() != request.project.resolve():
        return f"the project is not the top of its repository ({shown(repository.top)})"
    if repository.head is None:
        return "the repository has no commit yet"
    return None


def why_unfit(request: FreshRequest, judge: PrivateRepository, repository: UserRepository) -> str | None:
    """Why HEAD alone is not the project as it is now, or None."""
    if _uses_filters(repository):
        return "files pass through filter programs of git, which are not run here"
    looking = user_tree(judge, repository)
    dirty = _uncommitted(looking)
    if dirty:
        more = f" and {len(dirty) - 1} more" if len(dirty) > 1 else ""
        return f"there are changes that are not committed: {dirty[0]}{more}"
    listed = _listed(looking)
    if listed.secrets:
        return "its history holds a secrets folder, which a checkout would bring along"
    for path in listed.links:
        if any((request.project / path).glob("*")):
            return f"the submodule {shown(path)} would be empty"
    return None


def open_worktree(
    place: SandboxFolders, judge: PrivateRepository, repository: UserRepository, head: GitHead, notes: Notes
) -> GitRecorder:
    """Check HEAD out into the place."""
    judge.run("read-tree", head.commit)
    listed = _listed(judge)
    tree = head.tree
    if listed.secrets:
        drop_secrets(judge)
        tree = write_tree(judge)
        notes.add(f"left out of the sandbox: {len(listed.secrets)} files of secrets folders")
    check_out(judge)
    if not listed.secrets:
        # With the objects of HEAD a step could read what was left out.
        give_steps_a_repository(place, judge, repository, head.commit)
    if listed.links:
        notes.add(f"submodules are empty in the sandbox: {', '.join(map(shown, listed.links[:5]))}")
    return GitRecorder(judge, BaseTree(head.commit, tree, is_commit=True), place.folder / "inner-git")


def holds_secrets(judge: PrivateRepository, commit: str | None) -> bool:
    """Whether a commit has a secrets folder: with its objects a step could read what was left out."""
    return commit is not None and bool(judge.run("ls-tree", "-r", "--name-only", "-z", commit, "--", *SECRET_FOLDERS))


def check_out(judge: PrivateRepository) -> None:
    """Everything in the index into the work tree, by several processes: creating files is what takes the time."""
    workers = max(2, min(8, 4 * (os.cpu_count() or 1)))
    config = (f"checkout.workers={workers}", "checkout.thresholdForParallelism=100")
    judge.run("checkout-index", "--all", "--index", "--force", "--quiet", config=config)


def _uses_filters(repository: UserRepository) -> bool:
    """Whether attributes name a filter (LFS, say): HEAD then holds stand-ins for the files in the checkout."""
    places = (repository.top / ".gitattributes", repository.exclude.with_name("attributes"))
    return any(b"filter=" in place.read_bytes() for place in places if place.is_file())


def _uncommitted(looking: PrivateRepository) -> list[str]:
    """What `git status` would show, but for what the judge ignores."""
    listed = looking.run(
        "status", "--porcelain=v1", "-z", "--untracked-files=normal", "--no-renames", "--ignore-submodules=dirty"
    )
    return [shown(entry[3:]) for entry in listed.split(b"\0") if entry]


class _Listed(msgspec.Struct, frozen=True):
    """What in an index needs care."""

    links: list[Path]
    secrets: list[bytes]


def _listed(repository: PrivateRepository) -> _Listed:
    links: list[Path] = []
    secrets: list[bytes] = []
    for row in repository.run("ls-files", "--stage", "-z").split(b"\0"):
        path = row[row.find(b"\t") + 1 :]
        if row.startswith(_LINK_MODE):
            links.append(Path(os.fsdecode(path)))
        elif path.startswith(_SECRETS):
            secrets.append(path)
    return _Listed(links, secrets)


def give_steps_a_repository(
    place: SandboxFolders,
    judge: PrivateRepository,
    repository: UserRepository,
    commit: str | None,
    *,
    is_clean: bool = True,
) -> None:
    """A `.git` at this commit that steps may do with as they like; the judge's own is elsewhere.

    What the sandbox has beyond the commit is not staged in it: the objects of that are the judge's alone.
    """
    with storage(place.objects):
        place.objects.mkdir()
        names = [place.objects / str(number) for number in range(len(repository.object_stores))]
        for name, store in zip(names, repository.object_stores, strict=True):
            name.symlink_to(store)
    inner = git.make_private(
        place.repo / ".git",
        place.repo,
        object_stores=names,
        object_format=repository.object_format,
        settings=repository.settings,
        head=commit,
    )
    if not is_clean and commit is not None:
        inner.run("read-tree", commit)
        return
    with storage(place.repo):
        shutil.copy2(judge.git_dir / "index", place.repo / ".git" / "index")
