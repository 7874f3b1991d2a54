"""Files that a turn wrote outside its sandbox. They are not part of the work and not kept, but a person should know.

With bubblewrap, these are files in the temporary home, which is deleted with the sandbox. Without confinement, they are
changed files of the user's own checkout. Landlock allows no writes outside.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from loopwright.kernel.files import shown
from loopwright.sandbox.port import Sandbox
from loopwright.wording.catalogue import few
from loopwright.workspace.names import STATE_FOLDERS

# A checkout with more files is not compared, because that would slow every turn down.
_MOST_FILES = 50_000
_KEPT = 100
# Caches and histories of programs.
_CACHES = (
    ".cache", ".npm", ".local/share", ".local/state", ".config/configstore", ".pnpm-store", ".yarn", ".cargo",
    ".rustup", "go", ".m2", ".gradle", ".ivy2", ".sbt", ".nuget", ".dotnet", ".bun", ".deno", ".gem", ".bundle",
    ".bash_history", ".python_history", ".node_repl_history", ".wget-hsts", ".lesshst",
)  # fmt: skip
# Files of git's own folder that make git run something. Other files change with every `git status`.
_GIT, _OF_GIT = ".git", (".git/config", ".git/hooks")

_Seen = dict[str, tuple[int, int, int, int, int]]


class OutsideSnapshot:
    """The files before a turn, to compare with the files after it."""

    def __init__(self, sandbox: Sandbox, *, is_confined: bool = True) -> None:
        used = sandbox.confinement.used if is_confined else "none"
        self._is_home = used == "bubblewrap"
        self._top = sandbox.place.home if self._is_home else sandbox.view.project
        self._is_watched = self._is_home or used == "none"
        self._before = self._look()

    def written(self) -> tuple[str, ...]:
        """The first new, changed or deleted files; empty if the files can't be compared."""
        if not self._is_watched or len(self._before) > _MOST_FILES:
            return ()
        after, before, prefix = self._look(), self._before, "~/" if self._is_home else ""
        changed = (name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        return tuple(prefix + shown(name) for name in sorted(changed)[:_KEPT])

    def _look(self) -> _Seen:
        """The files, up to one more than the limit. Git's own files come first, because git runs what they name."""
        seen: _Seen = {}
        if not self._is_watched:
            return seen
        left_out = _CACHES if self._is_home else (*STATE_FOLDERS, _GIT)
        for name, status in (*_files(self._top, _OF_GIT), *_below(self._top, left_out)):
            seen[name] = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_mode)
        return seen


def outside_notes(written: tuple[str, ...]) -> tuple[str, ...]:
    """A line for a person; empty if no file was written."""
    if not written:
        return ()
    if written[0].startswith("~/"):
        return (f"the agent wrote files outside its sandbox: {few(written)}; they are not kept",)
    return (f"your checkout changed during a turn without confinement: {few(written)}",)


def _files(top: Path, names: tuple[str, ...]) -> Iterator[tuple[str, os.stat_result]]:
    for name in names:
        try:
            status = (top / name).lstat()
        except OSError:
            continue
        if stat.S_ISDIR(status.st_mode):
            yield from ((f"{name}/{below}", status) for below, status in _below(top / name, ()))
        else:
            yield name, status


def _below(top: Path, left_out: tuple[str, ...]) -> Iterator[tuple[str, os.stat_result]]:
    """Regular files and links at any depth; unreadable entries are skipped."""
    number, folders = 0, [""]
    while folders and number <= _MOST_FILES:
        below = folders.pop()
        try:
            entries = sorted(os.scandir(top / below), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            name = f"{below}/{entry.name}" if below else entry.name
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if name in left_out:
                continue
            if stat.S_ISDIR(status.st_mode):
                folders.append(name)
            elif stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode):
                number += 1
                yield name, status
