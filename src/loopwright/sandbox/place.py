"""Where sandboxes are: a root that is ours alone, one folder per sandbox, and no leftovers.

A kernel lock in each folder tells a sandbox in use from one whose owner died.
"""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

import msgspec

from loopwright.errors import SandboxCreateFailed
from loopwright.kernel import process
from loopwright.kernel.files import make_folder, remove_tree, shown, storage, write_durably
from loopwright.kernel.locks import HeldLock, is_held, try_lock
from loopwright.sandbox.model import SandboxFolders

_LOCKS = ".locks"
_KEPT = "kept"
# A person works in the sandbox: processes that Loopwright did not start belong to that person.
_SHARED = "shared"
# Only folders with this file are ours to remove: a root may hold a person's own folders too.
_OURS = "loopwright-sandbox"
_UNBORN = ".unborn"


class OwnedPlace(msgspec.Struct, frozen=True):
    """A sandbox folder that this process owns while it holds the lock."""

    place: SandboxFolders
    lock: HeldLock

    def close(self, *, keep: bool) -> None:
        """Remove the folder, or keep it for a person if that was requested now or before."""
        if keep:
            (self.place.folder / _KEPT).touch()
        elif not (self.place.folder / _KEPT).exists():
            _take_away(self.place.folder)
        _drop_lock(self.place.folder, self.lock)


def default_root() -> Path:
    """The user's folder below the system's temporary folder."""
    return Path(tempfile.gettempdir()).resolve() / f"loopwright-{os.getuid()}"


def prepare_root(root: Path, project: Path) -> Path:
    """Create the root if it is missing; refuse a root that is not safe to use."""
    root = Path(os.path.abspath(root))  # noqa: PTH100 -- a link at the root itself must be detected, not followed
    try:
        real, project = root.resolve(), project.resolve()
    except (OSError, RuntimeError) as problem:
        raise SandboxCreateFailed(
            f"the sandbox root {shown(root)} is a broken link", hint="choose another root with --sandbox-root"
        ) from problem
    if real == project or project in real.parents:
        raise SandboxCreateFailed(
            f"the sandbox root {shown(root)} is inside the project, so a copy would contain itself",
            hint="choose a folder outside the project with --sandbox-root or sandbox.root",
        )
    make_folder(real.parent)
    with storage(root):
        try:
            root.mkdir(mode=0o700)
        except FileExistsError:
            _require_private(root)
    return real


def _require_private(root: Path) -> None:
    status = root.lstat()
    problem = None
    if stat.S_ISLNK(status.st_mode) or not stat.S_ISDIR(status.st_mode):
        problem = "is not a regular folder"
    elif status.st_uid != os.getuid():
        problem = "belongs to another user"
    elif stat.S_IMODE(status.st_mode) & 0o022:
        problem = "is writable by other users"
    if problem:
        raise SandboxCreateFailed(
            f"the sandbox root {shown(root)} {problem}",
            hint="remove it, or choose another root with --sandbox-root",
        )


def claim(root: Path, name: str) -> OwnedPlace:
    """A new, empty place with this name, or with a number added when the name is taken."""
    for number in range(1, 10_000):
        folder = root / (name if number == 1 else f"{name}-{number}")
        # Take the lock first: a folder without a lock counts as a dead owner's.
        lock = try_lock(_lock_of(folder))
        if lock is None:
            continue
        if os.path.lexists(folder):
            _drop_lock(folder, lock)
            continue
        try:
            with storage(folder):
                _lay_out(folder)
        except BaseException:
            lock.release()
            raise
        return OwnedPlace(SandboxFolders(folder), lock)
    raise SandboxCreateFailed(f"too many sandboxes named {name}", hint="run `loopwright doctor --fix`")


def _lay_out(folder: Path) -> None:
    """Under another name until it is whole: one that we died at is known by that name, never taken for a stranger's."""
    unborn = SandboxFolders(_unborn(folder))
    remove_tree(unborn.folder)
    unborn.folder.mkdir(mode=0o700)
    (unborn.folder / _OURS).touch()
    for part in (unborn.repo, unborn.tmp, unborn.home):
        part.mkdir()
    unborn.folder.rename(folder)


def _take_away(folder: Path) -> None:
    """Remove a sandbox under the name of an incomplete one, so that a crash on the way is recognized."""
    if folder.name.endswith(_UNBORN):
        remove_tree(folder)
    elif folder.is_dir() and not folder.is_symlink():
        unborn = _unborn(folder)
        remove_tree(unborn)
        with storage(folder):
            folder.rename(unborn)
        remove_tree(unborn)


def _unborn(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}{_UNBORN}")


def leftovers(root: Path) -> list[Path]:
    """Sandboxes whose owner died, without those that a person asked to keep."""
    if not root.is_dir():
        return []
    return [folder for folder in _folders(root) if not (folder / _KEPT).exists() and not is_held(_lock_of(folder))]


def is_in_use(folder: Path) -> bool:
    """Whether a living process uses this sandbox or is about to create it."""
    return is_held(_lock_of(folder))


def kept(root: Path) -> list[Path]:
    """Sandboxes that a person asked to keep and that are not in use."""
    if not root.is_dir():
        return []
    return [folder for folder in _folders(root) if (folder / _KEPT).exists() and not is_held(_lock_of(folder))]


def share(folder: Path) -> None:
    """Mark the sandbox as shared with a person, so that their editor and shell are not ended."""
    with storage(folder):
        (folder / _SHARED).touch()


def end_processes(folder: Path) -> None:
    """End the processes that a dead owner started in it; in a shared sandbox only those with the owner's mark."""
    process.end_family(str(folder), by_place=not (folder / _SHARED).exists())


def keep_unfinished(folder: Path, work: str) -> None:
    """Keep the sandbox of a person's manual work until that work is stored elsewhere, even if its owner dies."""
    write_durably(folder / _KEPT, work.encode())


def stop_keeping(folder: Path) -> None:
    """Stop keeping the sandbox: its work is stored elsewhere or was discarded."""
    with storage(folder):
        (folder / _KEPT).unlink(missing_ok=True)


def is_unfinished(folder: Path) -> bool:
    """Whether the sandbox holds manual work that is stored nowhere else."""
    try:
        return bool((folder / _KEPT).read_bytes())
    except FileNotFoundError:
        return False


def unfinished(root: Path) -> dict[Path, str]:
    """Sandboxes with manual work that is stored nowhere else, each with the name of that work."""
    found = {folder: (folder / _KEPT).read_bytes().decode("utf-8", "replace") for folder in kept(root)}
    return {folder: work for folder, work in found.items() if work}


def remove_kept(folder: Path) -> None:
    """Remove a kept sandbox. Its run is over, so running processes there belong to a person and are not ended."""
    lock = try_lock(_lock_of(folder))
    if lock is not None:
        try:
            _take_away(folder)
        finally:
            _drop_lock(folder, lock)


def clear(folder: Path) -> None:
    """End the processes of a dead owner's sandbox, and remove the sandbox."""
    lock = try_lock(_lock_of(folder))
    if lock is None:
        return
    try:
        end_processes(folder)
        _take_away(folder)
    finally:
        _drop_lock(folder, lock)


def drop_stale_locks(root: Path) -> None:
    """Remove locks whose sandbox is missing and whose owner died."""
    for path in (root / _LOCKS).glob("*.lock") if (root / _LOCKS).is_dir() else ():
        folder = root / path.name.removesuffix(".lock")
        if not folder.exists() and (lock := try_lock(path)) is not None:
            _drop_lock(folder, lock)


def _drop_lock(folder: Path, lock: HeldLock) -> None:
    _lock_of(folder).unlink(missing_ok=True)
    lock.release()
    with suppress(OSError):  # other sandboxes may use the same root
        _lock_of(folder).parent.rmdir()


def _folders(root: Path) -> list[Path]:
    return sorted(path for path in root.iterdir() if not path.is_symlink() and _is_ours(path))


def _is_ours(path: Path) -> bool:
    return (path / _OURS).is_file() or (path.name.startswith(".") and path.name.endswith(_UNBORN))


def _lock_of(folder: Path) -> Path:
    name = folder.name.removesuffix(_UNBORN).removeprefix(".") if folder.name.endswith(_UNBORN) else folder.name
    return folder.parent / _LOCKS / f"{name}.lock"
