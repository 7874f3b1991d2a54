"""Copies a project's files: excludes applied, links kept as links, special files left out and named."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from pathlib import Path

import msgspec

from loopwright.errors import SandboxCreateFailed
from loopwright.kernel import process
from loopwright.kernel.files import shown, special_kind, storage
from loopwright.sandbox import copy_worker
from loopwright.sandbox.excludes import Excludes

_FEW = 200


class Listing(msgspec.Struct):
    """What a project holds, paths relative to its top."""

    folders: list[bytes] = msgspec.field(default_factory=list)
    files: list[bytes] = msgspec.field(default_factory=list)
    links: list[bytes] = msgspec.field(default_factory=list)
    special: list[str] = msgspec.field(default_factory=list)


def list_project(top: Path, excludes: Excludes) -> Listing:
    """Walk the project once; nothing is opened and no link is followed."""
    listing = Listing()
    ahead: list[bytes] = [b""]
    root = os.fsencode(top)
    while ahead:
        process.go_on()
        folder = ahead.pop()
        try:
            entries = list(os.scandir(root + b"/" + folder))
        except PermissionError as problem:
            raise _unreadable(folder, problem) from problem
        except FileNotFoundError:
            continue
        for entry in entries:
            path = folder + entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if excludes.keeps_out(os.fsdecode(path), is_folder):
                continue
            if is_folder:
                listing.folders.append(path)
                ahead.append(path + b"/")
            elif entry.is_symlink():
                listing.links.append(path)
            elif entry.is_file(follow_symlinks=False):
                listing.files.append(path)
            else:
                kind = special_kind(entry.stat(follow_symlinks=False).st_mode) or "special file"
                listing.special.append(f"{shown(path)} ({kind})")
    return listing


def copy_project(source: Path, target: Path, listing: Listing) -> None:
    """Copy what was listed; `SandboxCreateFailed` names what could not be."""
    with storage(target):
        target.mkdir(parents=True, exist_ok=True)
        for folder in listing.folders:
            (target / os.fsdecode(folder)).mkdir(exist_ok=True)
        for link in listing.links:
            _copy_link(os.fsencode(source) + b"/" + link, os.fsencode(target) + b"/" + link)
    problems = _copy_contents(source, target, listing.files)
    if problems:
        raise SandboxCreateFailed(
            "the project can't be copied: " + "; ".join(sorted(problems)[:5]),
            hint="make these readable and the disk large enough, or name them in sandbox.exclude",
        )
    # Last and from below: a folder may not be writable, and filling it changes its time.
    for folder in reversed(listing.folders):
        with storage(target), suppress(FileNotFoundError):
            found = os.lstat(os.fsencode(source) + b"/" + folder)
            place = os.fsencode(target) + b"/" + folder
            os.utime(place, ns=(found.st_atime_ns, found.st_mtime_ns))
            os.chmod(place, found.st_mode & 0o777)  # noqa: PTH101 -- bytes


def _copy_link(source: bytes, target: bytes) -> None:
    """To the letter: pathlib would tidy `./a` and `a/` up, and the link would differ from the project's."""
    with suppress(FileNotFoundError):
        os.symlink(os.readlink(source), target)  # noqa: PTH115, PTH211 -- bytes


def _copy_contents(source: Path, target: Path, files: list[bytes]) -> list[str]:
    if len(files) < _FEW:
        lines = copy_worker.copy_all(os.fsencode(source), os.fsencode(target), files, process.go_on)
        return [shown(line) for line in lines]
    workers = min(4, os.cpu_count() or 1)
    with ThreadPoolExecutor(workers) as pool:
        parts = [(copy_context(), files[number::workers]) for number in range(workers)]
        shares = [pool.submit(here.run, _copy_share, source, target, part) for here, part in parts]
        return [line for share in shares for line in share.result()]


def _copy_share(source: Path, target: Path, files: list[bytes]) -> list[str]:
    argv = (sys.executable, "-I", "-S", copy_worker.__file__, str(source), str(target))
    env = {process.MARK_VARIABLE: process.mark_of(str(target.parent))}
    done = process.capture(argv, cwd=Path("/"), env=env, stdin=b"\0".join(files), timeout_s=24 * 3600)
    if done.exit_code == 0:
        return []
    lines = [shown(line) for line in done.stdout.splitlines()]
    return lines or [f"the copy program ended with {done.exit_code}: {shown(done.stderr[-300:])}"]


def _unreadable(folder: bytes, problem: OSError) -> SandboxCreateFailed:
    return SandboxCreateFailed(
        f"the project can't be copied: {shown(folder) or 'its top folder'}: {problem.strerror}",
        hint="make it readable, or name it in sandbox.exclude",
    )
