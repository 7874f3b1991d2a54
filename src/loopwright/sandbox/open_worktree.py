"""Worktree mode: a detached checkout of HEAD that borrows the user's objects and shares nothing else."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import msgspec

from loopwright.evidence.trees import SECRET_MARKERS, drop_secrets, is_secret, write_tree
from loopwright.kernel import git, git_index
from loopwright.kernel.files import shown, storage
from loopwright.kernel.git import GitHead, PrivateRepository, UserRepository
from loopwright.sandbox.git_recorder import GitRecorder
from loopwright.sandbox.judge import user_tree
from loopwright.sandbox.model import BaseTree, FreshRequest, Notes, SandboxFolders

_LINK_MODE = b"160000 "
_LINK_BYTES = (0o160000).to_bytes(4, "big")


def why_impossible(request: FreshRequest, repository: UserRepository | None) -> str | None:
    """Why HEAD can't be checked out at all, or None."""
    if repository is None:
        return "the project is not in a git repository"
    if repository.top.resolve() != request.project.resolve():
        return f"the project is not the top of its repository ({shown(repository.top)})"
    if repository.head is None:
        return "the repository has no commit yet"
    return None


def why_unfit(request: FreshRequest, judge: PrivateRepository, repository: UserRepository) -> str | None:
    """Why HEAD differs from the project's current files, or None."""
    if _uses_filters(repository):
        return "the project uses git filter programs, which Loopwright does not run"
    user_view = user_tree(judge, repository)
    dirty = _uncommitted(user_view)
    if dirty:
        more = f" and {len(dirty) - 1} more" if len(dirty) > 1 else ""
        return f"there are uncommitted changes: {dirty[0]}{more}"
    listed = _listed(user_view, repository.git_dir / "index")
    if listed.secrets:
        return "the history contains a secrets folder, which a checkout would include"
    for path in listed.links:
        if any((request.project / path).glob("*")):
            return f"the submodule {shown(path)} would be empty"
    return None


def open_worktree(
    place: SandboxFolders,
    judge: PrivateRepository,
    repository: UserRepository,
    head: GitHead,
    notes: Notes,
    *,
    is_fit: bool,
) -> GitRecorder:
    """Check out HEAD into the sandbox. A fit HEAD has no secrets folder, so one process does all of it."""
    if is_fit:
        judge.run("read-tree", "--reset", "-u", head.commit, config=_parallel())
    else:
        judge.run("read-tree", head.commit)
    listed = _listed(judge, judge.git_dir / "index")
    tree = head.tree
    if listed.secrets:
        drop_secrets(judge)
        tree = write_tree(judge)
        count = len(listed.secrets)
        notes.add(f"left out of the sandbox: {count} {'file' if count == 1 else 'files'} in secrets folders")
    if not is_fit:
        check_out(judge)
    if not listed.secrets:
        # With HEAD's objects a step could read the files that were left out.
        create_step_repository(place, repository, head.commit, judge.git_dir / "index")
    if listed.links:
        notes.add(f"submodules are empty in the sandbox: {', '.join(map(shown, listed.links[:5]))}")
    return GitRecorder(judge, BaseTree(head.commit, tree, is_commit=True), place.folder / "inner-git")


def check_out(judge: PrivateRepository) -> None:
    """Check out the index into the work tree."""
    judge.run("checkout-index", "--all", "--index", "--force", "--quiet", config=_parallel())


def _parallel() -> tuple[str, ...]:
    """Settings that check out with several processes, because creating files takes most of the time."""
    workers = max(2, min(8, 4 * (os.cpu_count() or 1)))
    return (f"checkout.workers={workers}", "checkout.thresholdForParallelism=100")


def _uses_filters(repository: UserRepository) -> bool:
    """Whether attributes name a filter such as LFS. Then HEAD holds pointers instead of the files' content."""
    files = (repository.top / ".gitattributes", repository.exclude.with_name("attributes"))
    return any(b"filter=" in file.read_bytes() for file in files if file.is_file())


def _uncommitted(user_view: PrivateRepository) -> list[str]:
    """What `git status` would show, except files that the judge ignores."""
    listed = user_view.run(
        "status", "--porcelain=v1", "-z", "--untracked-files=normal", "--no-renames", "--ignore-submodules=dirty"
    )
    return [shown(entry[3:]) for entry in listed.split(b"\0") if entry]


class _Listed(msgspec.Struct, frozen=True):
    """Entries of an index that need special care."""

    links: list[Path]
    secrets: list[bytes]


def _listed(repository: PrivateRepository, index: Path) -> _Listed:
    links: list[Path] = []
    secrets: list[bytes] = []
    if not git_index.may_contain(index, _LINK_BYTES, *SECRET_MARKERS):
        return _Listed(links, secrets)
    for row in repository.run("ls-files", "--stage", "-z").split(b"\0"):
        path = row[row.find(b"\t") + 1 :]
        if row.startswith(_LINK_MODE):
            links.append(Path(os.fsdecode(path)))
        elif is_secret(path):
            secrets.append(path)
    return _Listed(links, secrets)


def create_step_repository(
    place: SandboxFolders,
    repository: UserRepository,
    commit: str | None,
    index: Path,
) -> None:
    """Create a `.git` at this commit, with its index, that steps may use freely; the judge has its own.

    Content beyond the commit is not staged in it, because only the judge has those objects.
    """
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
        head=commit,
    )
    with storage(place.repo):
        shutil.copy2(index, place.repo / ".git" / "index")
