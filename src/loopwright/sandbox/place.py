"""The folders of sandboxes: a root that belongs to the user, one folder per sandbox, and no leftovers.

All projects of a user may share a root. Each sandbox names its project, and a project removes only its own sandboxes.
A kernel lock for each folder shows whether the sandbox is in use or its owner died.
"""

from __future__ import annotations

import os
import secrets
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
# Names the project that the sandbox belongs to. A root may also hold a person's own folders, without this file.
_MARKER = "loopwright-sandbox"
_INCOMPLETE = ".unborn"


class OwnedPlace(msgspec.Struct, frozen=True):
    """A sandbox folder that this process owns while it holds the lock."""

    place: SandboxFolders
    lock: HeldLock

    def close(self, *, keep: bool) -> None:
        """Remove the folder, or keep it for a person if that was requested now or before."""
        if keep:
            (self.place.folder / _KEPT).touch()
        elif not (self.place.folder / _KEPT).exists():
            _remove_folder(self.place.folder)
        _drop_lock(self.place.folder, self.lock)


def random_name() -> str:
    """A name for a sandbox that says nothing about its purpose, and that no agent can know in advance.

    Code in a sandbox can find out the folder's name.
    """
    return secrets.token_hex(6)


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


def claim(root: Path, project: Path, name: str) -> OwnedPlace:
    """A new, empty folder of this project with this name; a number is added if the name exists."""
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
                _create_folder(folder, project)
        except BaseException:
            lock.release()
            raise
        return OwnedPlace(SandboxFolders(folder), lock)
    raise SandboxCreateFailed(f"too many sandboxes named {name}", hint="run `loopwright doctor --fix`")


def _create_folder(folder: Path, project: Path) -> None:
    """Create the folder under another name until it is complete, so that a crash on the way is recognized."""
    incomplete = SandboxFolders(_incomplete(folder))
    remove_tree(incomplete.folder)
    incomplete.folder.mkdir(mode=0o700)
    (incomplete.folder / _MARKER).write_bytes(os.fsencode(project.resolve()))
    for part in (incomplete.repo, incomplete.tmp, incomplete.home):
        part.mkdir()
    incomplete.folder.rename(folder)


def _remove_folder(folder: Path) -> None:
    """Remove a sandbox under the name of an incomplete one, so that a crash on the way is recognized."""
    if folder.name.endswith(_INCOMPLETE):
        remove_tree(folder)
    elif folder.is_dir() and not folder.is_symlink():
        incomplete = _incomplete(folder)
        remove_tree(incomplete)
        with storage(folder):
            folder.rename(incomplete)
        remove_tree(incomplete)


def _incomplete(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}{_INCOMPLETE}")


def leftovers(root: Path, project: Path) -> list[Path]:
    """This project's sandboxes whose owner died, without those that a person asked to keep."""
    return [folder for folder in _unused(root, project) if not (folder / _KEPT).exists()]


def orphans(root: Path) -> list[Path]:
    """Sandboxes that are not in use and whose project is unknown or no longer exists. Only a person removes them."""
    marked = [folder for folder in _folders(root) if (folder / _MARKER).is_file() and not is_in_use(folder)]
    return [folder for folder in marked if (owner := _owner(folder)) is None or not owner.is_dir()]


def is_in_use(folder: Path) -> bool:
    """Whether a living process uses this sandbox or is about to create it."""
    return is_held(_lock_of(folder))


def kept(root: Path, project: Path) -> list[Path]:
    """This project's sandboxes that a person asked to keep and that are not in use, the oldest first."""
    folders = [folder for folder in _unused(root, project) if (folder / _KEPT).exists()]
    return sorted(folders, key=lambda folder: (folder / _KEPT).stat().st_mtime_ns)


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


def work_tree_in(folder: Path) -> Path:
    """The copy of the project in a sandbox's folder."""
    return SandboxFolders(folder).repo


def is_unfinished(folder: Path) -> bool:
    """Whether the sandbox holds manual work that is stored nowhere else."""
    try:
        return bool((folder / _KEPT).read_bytes())
    except FileNotFoundError:
        return False


def unfinished(root: Path, project: Path) -> dict[Path, str]:
    """This project's sandboxes with manual work that is stored nowhere else, each with the name of that work."""
    works = {folder: (folder / _KEPT).read_bytes().decode("utf-8", "replace") for folder in kept(root, project)}
    return {folder: work for folder, work in works.items() if work}


def remove_kept(folder: Path) -> None:
    """Remove a kept sandbox. Its run is over, so running processes there belong to a person and are not ended."""
    lock = try_lock(_lock_of(folder))
    if lock is not None:
        try:
            _remove_folder(folder)
        finally:
            _drop_lock(folder, lock)


def clear(folder: Path) -> None:
    """End the processes of a dead owner's sandbox, and remove the sandbox."""
    lock = try_lock(_lock_of(folder))
    if lock is None:
        return
    try:
        end_processes(folder)
        _remove_folder(folder)
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


def _unused(root: Path, project: Path) -> list[Path]:
    return [folder for folder in _folders(root) if _belongs_to(folder, project) and not is_in_use(folder)]


def _folders(root: Path) -> list[Path]:
    """Every sandbox in a root, of all projects, in use or not."""
    if not root.is_dir():
        return []
    candidates = (path for path in root.iterdir() if not path.is_symlink())
    return sorted(path for path in candidates if (path / _MARKER).is_file() or _is_incomplete(path))


def _belongs_to(folder: Path, project: Path) -> bool:
    owner = _owner(folder)
    # An incomplete or partly removed folder may have lost its marker. It contains nothing to keep.
    return owner == project.resolve() if owner is not None else _is_incomplete(folder)


def _owner(folder: Path) -> Path | None:
    """The project that a sandbox names; None for a sandbox without a name, such as one of an older version."""
    try:
        return Path(os.fsdecode(name)) if (name := (folder / _MARKER).read_bytes()) else None
    except OSError:
        return None


def _is_incomplete(path: Path) -> bool:
    return path.name.startswith(".") and path.name.endswith(_INCOMPLETE)


def _lock_of(folder: Path) -> Path:
    name = folder.name.removesuffix(_INCOMPLETE).removeprefix(".") if folder.name.endswith(_INCOMPLETE) else folder.name
    return folder.parent / _LOCKS / f"{name}.lock"
