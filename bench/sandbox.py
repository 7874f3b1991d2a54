"""Opening a sandbox of a large repository and recording the patch, compared with git and cp.

Nothing is removed before the end, so this needs some space. ext4 without a journal does not reuse the inodes of deleted
files for up to five minutes, and creating files is many times slower while it searches for other inodes. The same
happens shortly after another run, or when another process deletes many files.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from big_repository import FILES, change_files, make_repository, name_of
from loopwright.kernel.process import Cancellation
from loopwright.sandbox.confine import choose
from loopwright.sandbox.model import Confinement, FreshRequest, Mode, SandboxView
from loopwright.sandbox.open import opened
from loopwright.sandbox.place import prepare_root
from loopwright.sandbox.port import Isolation
from loopwright.sandbox.unconfined import Unconfined
from measure import Way, duration, medians, run, settled
from report import Row, at_most, not_measured, verdict
from workspace import bare_environment

_ROUNDS = 7
_CHANGED = 20
_SPACE_GB = 20
_PARALLEL = ("-c", "checkout.workers=8", "-c", "checkout.thresholdForParallelism=100")


def measure(folder: Path) -> Iterator[Row]:
    if shutil.disk_usage(folder).free < _SPACE_GB * 10**9:
        yield not_measured(f"sandboxes of {FILES} files", "see the module", f"less than {_SPACE_GB} GB are free")
        return
    env = bare_environment(folder / "home")
    project = folder / "project"
    make_repository(project, env)
    yield from _worktree(folder, project, env)
    with (project / name_of(FILES - 1)).open("a", encoding="utf-8") as file:
        file.write("NOT_COMMITTED = True\n")
    yield _copy(folder, project, env)


def _worktree(folder: Path, project: Path, env: Mapping[str, str]) -> Iterator[Row]:
    ways = [
        Way("git worktree", lambda: _by_git(folder, project, env, ())),
        Way("with 8 workers", lambda: _by_git(folder, project, env, _PARALLEL)),
        Way("loopwright", lambda: _by_us(folder, project, Mode.WORKTREE)),
    ]
    plain, parallel, ours = medians("worktree", ways, _ROUNDS)
    what = f"worktree of {FILES} files + patch"
    fastest = min(plain, parallel)
    both = f"plain: {duration(plain)}; 8 workers: {duration(parallel)}"
    yield _row(f"{what}, git's fastest way", "<= 1.2 x git worktree", ours, fastest, ours <= 1.2 * fastest, both)
    yield _row(f"{what}, git's plain way", "< 1 x git worktree", ours, plain, ours < plain, f"plain: {duration(plain)}")


def _row(what: str, limit: str, ours: float, theirs: float, held: bool, baseline: str) -> Row:
    return Row(what, limit, f"{ours / theirs:.2f} x", verdict(held), duration(ours), baseline)


def _copy(folder: Path, project: Path, env: Mapping[str, str]) -> Row:
    ways = [
        Way("cp -a", lambda: _by_cp(folder, project, env)),
        Way("loopwright", lambda: _by_us(folder, project, Mode.COPY)),
    ]
    theirs, ours = medians("copy", ways, _ROUNDS)
    return at_most(f"copy of {FILES} files + patch", ours, theirs, 1.3, against="cp -a")


def _by_git(folder: Path, project: Path, env: Mapping[str, str], config: tuple[str, ...]) -> float:
    target = _fresh(folder) / "worktree"

    def work() -> None:
        run(("git", *config, "worktree", "add", "-q", "--detach", target, "HEAD"), cwd=project, env=env)
        change_files(target, _CHANGED)
        _require_patch(run(("git", "diff", "--binary"), cwd=target, env=env))

    return settled(work)


def _by_cp(folder: Path, project: Path, env: Mapping[str, str]) -> float:
    target = _fresh(folder)
    entries = sorted(entry for entry in project.iterdir() if entry.name != ".git")
    return settled(lambda: run(("cp", "-a", "-t", target, *entries), cwd=folder, env=env))


def _by_us(folder: Path, project: Path, expected: Mode) -> float:
    """Open, change, record; in mode `auto`, so that the choice of the mode is included."""
    request = FreshRequest(project=project, sandbox_root=prepare_root(_fresh(folder), project), mode="auto")
    patch = bytearray()

    def work() -> None:
        with opened(request, "bench", confine=_unconfined, keep=True, cancellation=Cancellation()) as sandbox:
            if sandbox.mode is not expected:
                raise SystemExit(f"expected a {expected}, got a {sandbox.mode}: {'; '.join(sandbox.notes)}")
            change_files(sandbox.place.repo, _CHANGED)
            sandbox.recorder.record(patch.extend)

    taken = settled(work)
    _require_patch(bytes(patch))
    return taken


def _fresh(folder: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=folder))


def _unconfined(view: SandboxView) -> tuple[Isolation, Confinement]:
    return choose("none", (Unconfined(),), view, "bash", {})


def _require_patch(patch: bytes) -> None:
    found = patch.count(b"diff --git ")
    if found != _CHANGED:
        raise SystemExit(f"{_CHANGED} files were changed, the patch has {found}")
