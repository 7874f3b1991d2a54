"""Opens a sandbox: chooses its mode, copies or checks out the project, and sets up recorder and isolation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from loopwright.errors import GitFailed, LoopwrightError, SandboxCreateFailed, SandboxEscape
from loopwright.evidence.model import BaseRecord
from loopwright.evidence.trees import NOT_SECRET, SECRET_FOLDERS, holds_secrets, load_base
from loopwright.kernel import git
from loopwright.kernel.files import remove_tree, shown, storage
from loopwright.kernel.git import PrivateRepository, UserRepository
from loopwright.kernel.process import Cancellation, stopping_on
from loopwright.sandbox.copy_files import Excludes, copy_project, list_project
from loopwright.sandbox.gate import resolve_inside
from loopwright.sandbox.git_recorder import GitRecorder
from loopwright.sandbox.judge import make_judge
from loopwright.sandbox.model import (
    BaseTree,
    FreshRequest,
    Mode,
    Notes,
    RecordedRequest,
    SandboxFolders,
    SandboxView,
)
from loopwright.sandbox.open_copy import open_copy
from loopwright.sandbox.open_worktree import (
    check_out,
    create_step_repository,
    open_worktree,
    why_impossible,
    why_unfit,
)
from loopwright.sandbox.place import claim
from loopwright.sandbox.port import Confine, Recorder, Sandbox, SandboxRequest


def open_recorded(
    request: RecordedRequest,
    place: SandboxFolders,
    judge: PrivateRepository | None,
    repository: UserRepository | None,
    notes: Notes,
) -> Recorder:
    """The recorded base, byte for byte, or an error with the reason."""
    base = request.base
    commit_index = place.folder / "commit-index"
    if judge is not None and load_base(judge, base, request.base_patch, commit_index=commit_index):
        check_out(judge)
        if request.mode is Mode.WORKTREE and repository is not None:
            _create_recorded_repository(request, place, judge, repository, commit_index)
        return GitRecorder(
            judge,
            BaseTree(base.commit, base.tree, is_commit=base.is_commit),
            place.folder / "inner-git",
            base_patch=request.base_patch,
        )
    if judge is not None:
        (judge.git_dir / "index").unlink(missing_ok=True)
    if repository is not None:
        repository = request.now.repositories.discover(request.now.project)  # the copy is made of the current HEAD
    recorder = open_copy(request.now, place, judge, repository, notes)
    if recorder.base().tree != base.tree:
        raise SandboxCreateFailed(
            "the base of that run was not stored, and the project has changed since",
            hint="commit before a run that you want to repeat later",
        )
    return recorder


def _create_recorded_repository(
    request: RecordedRequest,
    place: SandboxFolders,
    judge: PrivateRepository,
    repository: UserRepository,
    commit_index: Path,
) -> None:
    """The steps' repository at the base's commit, unless the commit has secrets that the base has not."""
    base = request.base
    if not commit_index.exists():
        if holds_secrets(judge, base.commit):
            return
        if not base.is_commit and base.commit is not None:
            other = PrivateRepository(judge.git_dir, judge.work_tree, index=commit_index)
            other.run("read-tree", base.commit)
        else:
            commit_index = judge.git_dir / "index"
    create_step_repository(place, repository, base.commit, commit_index)
    if request.is_listed and base.commit is not None and not base.is_commit:
        _list_files_of_base(judge, base, PrivateRepository(place.repo / ".git", place.repo))


def _list_files_of_base(judge: PrivateRepository, base: BaseRecord, steps: PrivateRepository) -> None:
    """Let `git ls-files` of a step list the files of the base."""
    commit = f"{base.commit}^{{tree}}"
    fields = judge.run("diff-tree", "-r", "--raw", "-z", "--no-renames", "--diff-filter=AD", commit, base.tree)
    listed = fields.split(b"\0")
    pairs = list(zip(listed[0::2], listed[1::2], strict=False))
    gone = [path + b"\0" for meta, path in pairs if meta.endswith(b"D")]
    new = [path + b"\0" for meta, path in pairs if meta.endswith(b"A") and b" 160000 " not in meta]
    if gone:
        steps.run("update-index", "--force-remove", "-z", "--stdin", stdin=b"".join(gone))
    if new:
        # Only the names: the steps' repository does not have the content.
        named = ("--pathspec-from-file=-", "--pathspec-file-nul")
        steps.run("--literal-pathspecs", "add", "--intent-to-add", "--force", *named, stdin=b"".join(new))


@contextmanager
def opened(
    sandbox_request: SandboxRequest, name: str, *, confine: Confine, keep: bool, cancellation: Cancellation
) -> Iterator[Sandbox]:
    """Open a sandbox for the block, and remove it afterwards unless `keep` is set. A stop raises `Stopped`."""
    request = sandbox_request.now if isinstance(sandbox_request, RecordedRequest) else sandbox_request
    owned = claim(request.sandbox_root, request.project, name)
    ready = False
    try:
        with stopping_on(cancellation):
            sandbox = _open(sandbox_request, request, owned.place, confine)
        ready = True
        yield sandbox
    finally:
        owned.close(keep=keep and ready)


def project_tree(request: FreshRequest, name: str, cancellation: Cancellation) -> str:
    """The tree that a sandbox of the project would have now. A clean project is not checked out for that."""
    with _current_tree(request, name, cancellation) as (_, tree):
        return tree


def changed_since(recorded: RecordedRequest, name: str, cancellation: Cancellation) -> tuple[str, ...]:
    """The files of the project that differ now from a recorded base, without Loopwright's own; "." if unknown."""
    base = recorded.base
    with _current_tree(recorded.now, name, cancellation) as (judge, tree):
        if tree == base.tree:
            return ()
        if judge is None:
            return (".",)
        at_base = PrivateRepository(judge.git_dir, judge.work_tree, index=judge.git_dir / "base-index")
        if not load_base(at_base, base, recorded.base_patch):
            return (".",)
        others = (*(f":(exclude,top){folder}" for folder in recorded.now.state_folders), *NOT_SECRET)
        changed = judge.run("diff-tree", "-r", "-z", "--name-only", "--no-renames", base.tree, tree, "--", ".", *others)
        return tuple(shown(path) for path in changed.split(b"\0") if path)


@contextmanager
def _current_tree(
    request: FreshRequest, name: str, cancellation: Cancellation
) -> Iterator[tuple[PrivateRepository | None, str]]:
    """For the block, the tree that a sandbox would have now, and the repository with its objects."""
    owned = claim(request.sandbox_root, request.project, name)
    try:
        with stopping_on(cancellation):
            repository, judge = _judge(request, owned.place, Notes())
            tree = _committed_tree(request, repository, judge)
            yield judge, tree or _by_mode(request, owned.place, judge, repository, Notes())[1].base().tree
    finally:
        owned.close(keep=False)


def _committed_tree(
    request: FreshRequest, repository: UserRepository | None, judge: PrivateRepository | None
) -> str | None:
    """The tree of HEAD, if the project's files are exactly that."""
    with suppress(LoopwrightError, OSError):  # then the sandbox itself decides
        if judge is not None and request.mode != Mode.COPY and why_impossible(request, repository) is None:
            head = repository.head if repository is not None else None
            if repository is not None and head is not None and why_unfit(request, judge, repository) is None:
                return head.tree
    return None


def _judge(
    request: FreshRequest, place: SandboxFolders, notes: Notes, *, is_recorded: bool = False
) -> tuple[UserRepository | None, PrivateRepository | None]:
    """The user's repository, and the private one that records changes; neither without git."""
    repository: UserRepository | None = None
    if not git.is_installed():
        return None, None
    try:
        repositories = request.repositories
        repository = repositories.known(request.project) if is_recorded else repositories.discover(request.project)
    except GitFailed as problem:
        notes.add(problem.message)
    return repository, make_judge(place, repository, request)


def _open(sandbox_request: SandboxRequest, request: FreshRequest, place: SandboxFolders, confine: Confine) -> Sandbox:
    notes = Notes()
    # Isolation first, in the empty folder: it decides how folders are provided.
    isolation, confinement = confine(SandboxView(place, request.project, request.sandbox_root))
    repository, judge = _judge(request, place, notes, is_recorded=isinstance(sandbox_request, RecordedRequest))
    if isinstance(sandbox_request, RecordedRequest):
        mode, recorder = sandbox_request.mode, open_recorded(sandbox_request, place, judge, repository, notes)
    else:
        mode, recorder = _by_mode(request, place, judge, repository, notes)
    _provide(request, place, isolation.mounts)
    stores = repository.object_stores if repository is not None and mode is Mode.WORKTREE else ()
    view = SandboxView(place, request.project, request.sandbox_root, request.provide, stores)
    return Sandbox(place, mode, recorder, view, isolation, confinement, tuple(notes.lines))


def _by_mode(
    request: FreshRequest,
    place: SandboxFolders,
    judge: PrivateRepository | None,
    repository: UserRepository | None,
    notes: Notes,
) -> tuple[Mode, Recorder]:
    refusals: list[str] = []
    if request.mode != Mode.COPY:
        try:
            return Mode.WORKTREE, _worktree(request, place, judge, repository, notes)
        except (LoopwrightError, OSError) as problem:
            reason = _sentence(problem)
        refusals.append(f"worktree: {reason}")
        if request.mode == Mode.WORKTREE:
            raise _neither(refusals)
        notes.add(f"used a copy instead of a checkout: {reason}")
        _start_over(place)
    try:
        return Mode.COPY, open_copy(request, place, judge, repository, notes)
    except (LoopwrightError, OSError) as problem:
        refusals.append(f"copy: {_sentence(problem)}")
        raise _neither(refusals, getattr(problem, "hint", None)) from problem


def _worktree(
    request: FreshRequest,
    place: SandboxFolders,
    judge: PrivateRepository | None,
    repository: UserRepository | None,
    notes: Notes,
) -> Recorder:
    if judge is None:
        raise SandboxCreateFailed("git is not installed", hint="install git")
    reason = why_impossible(request, repository)
    if reason is not None or repository is None or repository.head is None:
        raise SandboxCreateFailed(reason or "no repository", hint="use --mode copy")
    unfit = why_unfit(request, judge, repository)
    if unfit is not None:
        if request.mode != Mode.WORKTREE:
            raise SandboxCreateFailed(unfit, hint="use --mode copy")
        notes.add(f"HEAD differs from the project's files: {unfit}")
    return open_worktree(place, judge, repository, repository.head, notes, is_fit=unfit is None)


def _start_over(place: SandboxFolders) -> None:
    remove_tree(place.repo)
    remove_tree(place.objects)
    (place.judge / "index").unlink(missing_ok=True)
    with storage(place.repo):
        place.repo.mkdir()


def _sentence(problem: BaseException) -> str:
    return problem.message if isinstance(problem, LoopwrightError) else str(problem)


def _neither(refusals: list[str], hint: str | None = None) -> SandboxCreateFailed:
    return SandboxCreateFailed(
        "no sandbox could be created: " + "; ".join(refusals),
        hint=hint or "commit your changes or use --mode copy, then `loopwright unlatch` and `loopwright run`",
    )


def _provide(request: FreshRequest, place: SandboxFolders, mounts: bool) -> None:
    """Provide folders outside git: as mount points, or as copies if the isolation can't mount."""
    for folder in request.provide:
        source = request.project / folder
        try:
            resolve_inside(request.project, folder)
            target = resolve_inside(place.repo, folder)
        except SandboxEscape as problem:
            raise SandboxCreateFailed(
                f"sandbox.provide: {problem.message}", hint="name only project folders in sandbox.provide"
            ) from problem
        if any((source / secret).exists() for secret in _secrets_below(folder)):
            raise SandboxCreateFailed(
                f"sandbox.provide names {shown(folder)}, which contains a secrets folder",
                hint="provide the other folders one by one",
            )
        if not source.exists():
            raise SandboxCreateFailed(
                f"sandbox.provide names {shown(folder)}, which is missing from the project",
                hint="create it (install the project's packages), or remove it from sandbox.provide",
            )
        if source.is_file():
            _provide_file(source, target, mounts)
        elif mounts:
            with storage(target):
                target.mkdir(parents=True, exist_ok=True)
        elif not target.exists():
            copy_project(source, target, list_project(source, Excludes(())))


def _secrets_below(folder: str) -> list[str]:
    """The secrets folders inside a provided folder, relative to it."""
    inside = folder.strip("/") + "/"
    return [secret.removeprefix(inside) for secret in SECRET_FOLDERS if secret.startswith(inside)]


def _provide_file(source: Path, target: Path, mounts: bool) -> None:
    with storage(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            target.write_bytes(b"" if mounts else source.read_bytes())
            target.chmod(source.stat().st_mode & 0o777)
