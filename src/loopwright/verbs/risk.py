"""`loopwright risk`: whether the current change needs independent review."""

from __future__ import annotations

import tempfile
from pathlib import Path

import msgspec

from loopwright.errors import GitFailed, ToolMissing, UnknownRevision
from loopwright.kernel import git
from loopwright.kernel.files import shown
from loopwright.reflection.change import Change, OwnState
from loopwright.reflection.read_change import Read, parse_path_list, read_change
from loopwright.reflection.risk import RiskVerdict, evaluate_risk_floor
from loopwright.stages.context import Context
from loopwright.stages.reflecting import rules_of
from loopwright.workspace.layout import Layout


class RiskRequest(msgspec.Struct, frozen=True):
    """The change to judge: the working tree since a revision, only the index, or a list of paths."""

    folder: Path
    base: str | None = None
    staged: bool = False
    listed: bytes | None = None


class RiskReport(msgspec.Struct, frozen=True):
    """The verdict, the change, what the change was compared with, and notes for the reader."""

    verdict: RiskVerdict
    change: Change
    compared: str
    against: str | None
    notes: tuple[str, ...]


def risk(context: Context, request: RiskRequest) -> RiskReport:
    """Read the change and judge it by the rules of the workspace."""
    rules = rules_of(context)
    if request.listed is not None:
        files = parse_path_list(request.listed)
        read, compared, against = Read(Change(tuple(sorted(set(files))))), "the listed paths", None
    else:
        read, compared, against = _read(context, request)
    change = read.change
    verdict = evaluate_risk_floor(
        change.files,
        change.insertions,
        change.deletions,
        context.settings.values.risk.threshold,
        rules,
        change.kinds,
        change.lost,
    )
    return RiskReport(verdict, change, compared, against, read.notes)


def _read(context: Context, request: RiskRequest) -> tuple[Read, str, str | None]:
    repository = _repository(request.folder)
    head = repository.head.commit if repository.head else None
    against, described = _against(repository, head, request.base)
    index = context.environment.get("GIT_INDEX_FILE") if request.staged else None
    with tempfile.TemporaryDirectory(prefix="loopwright-risk-") as scratch:
        read = read_change(
            repository,
            Path(scratch),
            _own_state(context.layout, repository.top),
            against=against,
            staged=request.staged,
            # During a commit, git gives its hooks a separate index.
            index=repository.top / index if index else None,
        )
    what = "staged changes" if request.staged else "working tree, staged and untracked files"
    return read, f"{what}, with {described}", against


def _repository(folder: Path) -> git.UserRepository:
    if not git.is_installed():
        raise ToolMissing("git is not on PATH", hint="install git, or list the paths: … | loopwright risk --files -")
    repository = git.discover(folder)
    if repository is None:
        what = "a bare repository" if git.is_bare(folder) else "not in a git repository"
        raise GitFailed(
            f"{shown(folder.resolve())} is {what}: it has no working tree",
            hint="change to a checkout, or list the paths: git diff --name-only -z A B | loopwright risk --files -",
        )
    if not folder.resolve().is_relative_to(repository.top.resolve()):
        # With core.worktree the verdict would be about another folder, perhaps a clean copy.
        raise GitFailed(
            f"core.worktree points git to {shown(repository.top)} instead of {shown(folder.resolve())}",
            hint="change to that folder, or remove core.worktree from the config of the repository",
        )
    return repository


def _against(repository: git.UserRepository, head: str | None, base: str | None) -> tuple[str | None, str]:
    """The commit to compare with, and its description."""
    if base is None:
        return (head, f"HEAD ({head[:12]})") if head else (None, "nothing: there is no commit yet")
    named = git.resolve_commit(repository.top, base)
    if named is None:
        raise UnknownRevision(
            f"'{shown(base)}' is not a commit of this repository",
            hint="list the branches with `git branch --all`, or get more with `git fetch`",
        )
    if head is None:
        raise UnknownRevision("the repository has no commits yet", hint="leave out --base")
    met = git.merge_base(repository.top, named, head)
    if met is None:
        is_part = git.is_shallow(repository)
        raise UnknownRevision(
            f"HEAD and '{shown(base)}' have no commit in common" + (" in this shallow clone" if is_part else ""),
            hint="git fetch --unshallow (in CI: fetch-depth 0)" if is_part else "use a revision of the same history",
        )
    return met, f"{met[:12]}, where HEAD left {shown(base)}"


def _own_state(layout: Layout, top: Path) -> OwnState:
    """The folders of Loopwright, relative to the top of the repository."""
    try:
        below = layout.root.resolve().relative_to(top.resolve())
    except ValueError:
        return OwnState()
    folders = tuple((below / folder).as_posix() for folder in layout.state_folders())
    return OwnState(folders, ((below / layout.config.relative_to(layout.root)).as_posix(),))
