"""Copy mode: the project's current files, committed or not."""

from __future__ import annotations

import shutil

from loopwright.errors import GitFailed
from loopwright.kernel import git_index
from loopwright.kernel.files import storage
from loopwright.kernel.git import PrivateRepository, UserRepository
from loopwright.sandbox.copy_files import Excludes, copy_project, exclude_patterns, list_project
from loopwright.sandbox.git_recorder import GitRecorder, stage_all
from loopwright.sandbox.judge import ignore, user_tree
from loopwright.sandbox.model import BaseTree, FreshRequest, Notes, SandboxFolders
from loopwright.sandbox.plain_recorder import PlainRecorder
from loopwright.sandbox.port import Recorder


def open_copy(
    request: FreshRequest,
    place: SandboxFolders,
    judge: PrivateRepository | None,
    repository: UserRepository | None,
    notes: Notes,
) -> Recorder:
    """Copy the project, and record its content as the base."""
    patterns = exclude_patterns(request.state_folders, request.exclude)
    listing = list_project(request.project, Excludes(patterns))
    if listing.special:
        more = f" and {len(listing.special) - 5} more" if len(listing.special) > 5 else ""
        notes.add(f"left out of the copy: {', '.join(listing.special[:5])}{more}")
    copy_project(request.project, place.repo, listing)
    if judge is None:
        return PlainRecorder(
            place.repo, place.folder / "before", (*patterns, *(f"/{path}" for path in request.provide))
        )
    # Excluded files may exist in the project. If a step creates them again, they would conflict with the patch.
    ignore(judge, patterns)
    if repository is not None and repository.top.resolve() == request.project.resolve():
        _borrow_index(judge, repository)
    tree = _stage(judge)
    commit = repository.head.commit if repository is not None and repository.head is not None else None
    return GitRecorder(judge, BaseTree(commit, tree, is_commit=False), place.folder / "inner-git")


def _stage(judge: PrivateRepository) -> str:
    stage_all(judge)
    try:
        return judge.run("write-tree").decode().strip()
    except GitFailed:
        # The borrowed index may name objects that a partial clone lacks: read every file instead.
        (judge.git_dir / "index").unlink(missing_ok=True)
        stage_all(judge)
        return judge.run("write-tree").decode().strip()


def _borrow_index(judge: PrivateRepository, repository: UserRepository) -> None:
    """Let git skip files that its index knows to be unchanged, which are most files."""
    index = judge.git_dir / "index"
    user_index = repository.git_dir / "index"
    if not user_index.is_file():
        return
    try:
        changed = _changed(user_tree(judge, repository))
        with storage(index):
            shutil.copyfile(user_index, index)
            for shared in user_index.parent.glob("sharedindex.*"):
                shutil.copyfile(shared, judge.git_dir / shared.name)
        judge.run("update-index", "--no-split-index", "--no-untracked-cache", "--index-version", "2")
        git_index.move(index, judge.work_tree, lambda path: path not in changed, repository.object_format)
        _drop_links(judge)
    except (GitFailed, OSError, ValueError):
        # This only costs time: without an index git reads every file.
        index.unlink(missing_ok=True)


def _changed(user_view: PrivateRepository) -> set[bytes]:
    rows = user_view.run("diff-files", "-z", "--name-only", "--ignore-submodules=all").split(b"\0")
    return {row for row in rows if row}


def _drop_links(judge: PrivateRepository) -> None:
    """Remove submodule entries: in a copy a submodule's files are ordinary files."""
    staged = judge.run("ls-files", "--stage", "-z").split(b"\0")
    links = [row.split(b"\t", 1)[1] for row in staged if row.startswith(b"160000 ")]
    if links:
        judge.run("update-index", "--force-remove", "-z", "--stdin", stdin=b"\0".join(links) + b"\0")
