"""Copies a project's files, except excluded files."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from itertools import groupby
from pathlib import Path

import msgspec

from loopwright.errors import SandboxCreateFailed
from loopwright.evidence.trees import SECRET_FOLDERS
from loopwright.kernel import process
from loopwright.kernel.files import shown, special_kind, storage
from loopwright.sandbox import copy_worker

# Created by tools, so never part of a change, in any mode.
CACHES = ("node_modules/", "venv/", ".venv/", "venvsfrida_env/", "__pycache__/", ".pytest_cache/")
_NOT_COPIED = (
    ".claude/sandbox/", *CACHES, "analyzedata/outputs/", "analyzedata/scratch/", "*.i64", "*.idb", "*.dll", "*.exe",
    "*.pdb", ".env*",
)  # fmt: skip
# No setting can include these.
_NEVER_COPIED = (".git", ".git/", ".claude/state/", *SECRET_FOLDERS)
_TOKENS = re.compile(r"\\.|/\*\*/|\*\*/|/\*\*|\*|\?|\[!?[^\]]+\]|.", re.DOTALL)


class Excludes:
    """Decides whether a path is excluded. The last matching pattern decides, and `!` includes again.

    A pattern with an inner slash starts at the top. Everything below an excluded folder is excluded.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._groups = [_Group(includes, list(rules)) for includes, rules in groupby(patterns, _includes)]
        self._groups.reverse()

    def is_excluded(self, relative: str, is_folder: bool) -> bool:
        """Whether this entry, and everything below it, is excluded."""
        for group in self._groups:
            if group.matches(relative, is_folder):
                return not group.includes
        return False


class _Group:
    """Consecutive patterns with the same effect, as two expressions: one for folders, one for files."""

    def __init__(self, includes: bool, patterns: list[str]) -> None:
        self.includes = includes
        folders: list[str] = []
        files: list[str] = []
        for pattern in patterns:
            written = pattern.removeprefix("!")
            anchored = "/" in written.rstrip("/")
            expression = ("" if anchored else "(?:.*/)?") + _translated(written.strip("/"))
            folders.append(expression)
            if not written.endswith("/"):
                files.append(expression)
        self._folders = _any_of(folders)
        self._files = _any_of(files)

    def matches(self, relative: str, is_folder: bool) -> bool:
        return (self._folders if is_folder else self._files).fullmatch(relative) is not None


def _includes(pattern: str) -> bool:
    return pattern.startswith("!")


def exclude_patterns(state_folders: Iterable[str], configured: Iterable[str]) -> list[str]:
    """The default excludes, then the configured patterns, then the paths that no setting can include."""
    return [*_NOT_COPIED, *configured, *_NEVER_COPIED, *(f"/{folder}/" for folder in state_folders)]


def _translated(pattern: str) -> str:
    special = {"/**/": "/(?:.*/)?", "**/": "(?:.*/)?", "/**": "/.*", "*": "[^/]*", "?": "[^/]"}
    parts = []
    for token in _TOKENS.findall(pattern):
        if token in special:
            parts.append(special[token])
        elif token.startswith("\\") and len(token) > 1:
            parts.append(re.escape(token[1:]))
        elif token.startswith("[") and len(token) > 1:
            parts.append("[" + token[1:-1].replace("\\", "\\\\").replace("!", "^", 1) + "]")
        else:
            parts.append(re.escape(token))
    return "".join(parts)


def _any_of(expressions: list[str]) -> re.Pattern[str]:
    return re.compile(
        "|".join(f"(?:{expression})" for expression in expressions) if expressions else r"(?!)", re.DOTALL
    )


_FEW = 200


class Listing(msgspec.Struct):
    """The content of a project, as paths relative to its top."""

    folders: list[bytes] = msgspec.field(default_factory=list)
    files: list[bytes] = msgspec.field(default_factory=list)
    links: list[bytes] = msgspec.field(default_factory=list)
    special: list[str] = msgspec.field(default_factory=list)


def list_project(top: Path, excludes: Excludes) -> Listing:
    """Walk the project once. Opens no file and follows no link."""
    listing = Listing()
    pending: list[bytes] = [b""]
    root = os.fsencode(top)
    while pending:
        process.check_for_stop()
        folder = pending.pop()
        try:
            entries = list(os.scandir(root + b"/" + folder))
        except PermissionError as problem:
            raise _unreadable(folder, problem) from problem
        except FileNotFoundError:
            continue
        for entry in entries:
            path = folder + entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if excludes.is_excluded(os.fsdecode(path), is_folder):
                continue
            if is_folder:
                listing.folders.append(path)
                pending.append(path + b"/")
            elif entry.is_symlink():
                listing.links.append(path)
            elif entry.is_file(follow_symlinks=False):
                listing.files.append(path)
            else:
                kind = special_kind(entry.stat(follow_symlinks=False).st_mode) or "special file"
                listing.special.append(f"{shown(path)} ({kind})")
    return listing


def copy_project(source: Path, target: Path, listing: Listing) -> None:
    """Copy the listed files; `SandboxCreateFailed` names files that could not be copied."""
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
            hint="make these files readable and free disk space, or add them to sandbox.exclude",
        )
    # Set times and modes last and from below: filling a folder changes its time, and its mode may forbid writing.
    for folder in reversed(listing.folders):
        with storage(target), suppress(FileNotFoundError):
            status = os.lstat(os.fsencode(source) + b"/" + folder)
            path = os.fsencode(target) + b"/" + folder
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
            os.chmod(path, status.st_mode & 0o777)  # noqa: PTH101 -- bytes


def _copy_link(source: bytes, target: bytes) -> None:
    """Copy a link byte for byte. pathlib would normalize `./a` and `a/`, and the link would differ."""
    with suppress(FileNotFoundError):
        os.symlink(os.readlink(source), target)  # noqa: PTH115, PTH211 -- bytes


def _copy_contents(source: Path, target: Path, files: list[bytes]) -> list[str]:
    if len(files) < _FEW:
        lines = copy_worker.copy_all(os.fsencode(source), os.fsencode(target), files, process.check_for_stop)
        return [shown(line) for line in lines]
    workers = min(4, os.cpu_count() or 1)
    with ThreadPoolExecutor(workers) as pool:
        parts = [(copy_context(), files[number::workers]) for number in range(workers)]
        shares = [pool.submit(context.run, _copy_share, source, target, part) for context, part in parts]
        return [line for share in shares for line in share.result()]


def _copy_share(source: Path, target: Path, files: list[bytes]) -> list[str]:
    argv = (sys.executable, "-I", "-S", copy_worker.__file__, str(source), str(target))
    env = {process.MARK_VARIABLE: process.mark_of(str(target.parent))}
    done = process.capture(argv, cwd=Path("/"), env=env, stdin=b"\0".join(files), timeout_s=24 * 3600)
    if done.exit_code == 0:
        return []
    lines = [shown(line) for line in done.stdout.splitlines()]
    return lines or [f"the copy program exited with {done.exit_code}: {shown(done.stderr[-300:])}"]


def _unreadable(folder: bytes, problem: OSError) -> SandboxCreateFailed:
    return SandboxCreateFailed(
        f"the project can't be copied: {shown(folder) or 'its top folder'}: {problem.strerror}",
        hint="make it readable, or add it to sandbox.exclude",
    )
