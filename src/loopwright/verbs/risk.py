"""`loopwright risk`: the least review that the current change must get."""

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
    """Which change: of the folder's repository since a revision, or of its index alone, or a list of paths."""

    folder: Path
    base: str | None = None
    staged: bool = False
    listed: bytes | None = None


class RiskReport(msgspec.Struct, frozen=True):
    """The verdict, the change that it is about, what that was compared with, and what a reader must know."""

    verdict: RiskVerdict
    change: Change
    compared: str
    against: str | None
    notes: tuple[str, ...]


def risk(context: Context, wanted: RiskRequest) -> RiskReport:
    """Read the change and judge it by the workspace's rules."""
    rules = rules_of(context)
    if wanted.listed is not None:
        files = parse_path_list(wanted.listed)
        read, compared, against = Read(Change(tuple(sorted(set(files))))), "the paths that were listed", None
    else:
        read, compared, against = _read(context, wanted)
    change = read.change
    verdict = evaluate_risk_floor(
        change.files,
        change.insertions,
        change.deletions,
        context.settings.values.risk.threshold,
        rules,
        change.kinds,
    )
    return RiskReport(verdict, change, compared, against, read.notes)


def _read(context: Context, wanted: RiskRequest) -> tuple[Read, str, str | None]:
    repository = _repository(wanted.folder)
    head = repository.head.commit if repository.head else None
    against, described = _against(repository, head, wanted.base)
    index = context.environment.get("GIT_INDEX_FILE") if wanted.staged else None
    with tempfile.TemporaryDirectory(prefix="loopwright-risk-") as scratch:
        read = read_change(
            repository,
            Path(scratch),
            _own_state(context.layout, repository.top),
            against=against,
            staged=wanted.staged,
            # While it commits, git hands its hooks an index of its own.
            index=repository.top / index if index else None,
        )
    what = "what is staged" if wanted.staged else "the work tree, what is staged and what is untracked"
    return read, f"{what}, with {described}", against


def _repository(folder: Path) -> git.UserRepository:
    if not git.is_installed():
        raise ToolMissing(
            "there is no git on PATH", hint="install git, or list the paths: … | loopwright risk --files -"
        )
    repository = git.discover(folder)
    if repository is None:
        what = "a bare repository" if git.is_bare(folder) else "not in a git repository"
        raise GitFailed(
            f"{shown(folder.resolve())} is {what}: there is no work tree to look at",
            hint="go to a checkout, or list the paths: git diff --name-only -z A B | loopwright risk --files -",
        )
    if not folder.resolve().is_relative_to(repository.top.resolve()):
        # core.worktree: the verdict would be about another folder, a clean copy perhaps.
        raise GitFailed(
            f"git is told to look at {shown(repository.top)} instead of {shown(folder.resolve())}",
            hint="go there, or take core.worktree out of the repository's config",
        )
    return repository


def _against(repository: git.UserRepository, head: str | None, base: str | None) -> tuple[str | None, str]:
    """The commit to compare with, and how to say so."""
    if base is None:
        return (head, f"HEAD ({head[:12]})") if head else (None, "nothing: there is no commit yet")
    named = git.resolve_commit(repository.top, base)
    if named is None:
        raise UnknownRevision(
            f"'{shown(base)}' names no commit here",
            hint="`git branch --all` lists what there is; `git fetch` gets more",
        )
    if head is None:
        raise UnknownRevision("there is no commit yet, so none in common", hint="leave --base out")
    met = git.merge_base(repository.top, named, head)
    if met is None:
        is_part = git.is_shallow(repository)
        raise UnknownRevision(
            f"HEAD and '{shown(base)}' have no commit in common" + (" in this shallow clone" if is_part else ""),
            hint="git fetch --unshallow (in CI: fetch-depth 0)" if is_part else "name a revision of the same history",
        )
    return met, f"{met[:12]}, where HEAD left {shown(base)}"


def _own_state(layout: Layout, top: Path) -> OwnState:
    """Our folders as the repository names them."""
    try:
        below = layout.root.resolve().relative_to(top.resolve())
    except ValueError:
        return OwnState()
    folders = tuple((below / folder).as_posix() for folder in layout.state_folders())
    return OwnState(folders, ((below / layout.config.relative_to(layout.root)).as_posix(),))
