"""What a turn left outside of its sandbox: no part of the work and nothing that is kept, but a person should know.

Seen is what can be seen: where bubblewrap confines, all that was written into the home that it shows (it goes with the
sandbox); where nothing confines, the files of the user's own checkout. Landlock lets no file be written outside.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from loopwright.kernel.files import shown
from loopwright.sandbox.port import Sandbox
from loopwright.workspace.names import STATE_FOLDERS

# A checkout with more files than this is not looked at file by file for every turn.
_MOST_FILES = 50_000
_NAMED = 5
_KEPT = 100
# What programs keep for themselves, whoever started them.
_CACHES = (
    ".cache", ".npm", ".local/share", ".local/state", ".config/configstore", ".pnpm-store", ".yarn", ".cargo",
    ".rustup", "go", ".m2", ".gradle", ".ivy2", ".sbt", ".nuget", ".dotnet", ".bun", ".deno", ".gem", ".bundle",
    ".bash_history", ".python_history", ".node_repl_history", ".wget-hsts", ".lesshst",
)  # fmt: skip
# Of git's own folder only what makes git run something: the rest moves with every `git status`.
_GIT, _OF_GIT = ".git", (".git/config", ".git/hooks")

_Seen = dict[str, tuple[int, int, int, int, int]]


class OutsideSnapshot:
    """A look before the turn, to be compared with one after it."""

    def __init__(self, sandbox: Sandbox, *, is_confined: bool = True) -> None:
        used = sandbox.confinement.used if is_confined else "none"
        self._is_home = used == "bubblewrap"
        self._top = sandbox.place.home if self._is_home else sandbox.view.project
        self._is_watched = self._is_home or used == "none"
        self._before = self._look()

    def written(self) -> tuple[str, ...]:
        """The files that are new or others than before, or gone: the first of them; none where nobody could say."""
        if not self._is_watched or len(self._before) > _MOST_FILES:
            return ()
        after, before, prefix = self._look(), self._before, "~/" if self._is_home else ""
        changed = (name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        return tuple(prefix + shown(name) for name in sorted(changed)[:_KEPT])

    def _look(self) -> _Seen:
        """As many as are looked at, and one more where there are more. Git's own first: they run what is in them."""
        seen: _Seen = {}
        if not self._is_watched:
            return seen
        left_out = _CACHES if self._is_home else (*STATE_FOLDERS, _GIT)
        for name, found in (*_files(self._top, _OF_GIT), *_below(self._top, left_out)):
            seen[name] = (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_mode)
        return seen


def in_words(written: tuple[str, ...]) -> tuple[str, ...]:
    """What a person is told of it, in a line; nothing where there is nothing to tell."""
    if not written:
        return ()
    named = ", ".join(written[:_NAMED])
    more = f" and {len(written) - _NAMED} more" if len(written) > _NAMED else ""
    if written[0].startswith("~/"):
        return (f"the agent wrote outside of its sandbox: {named}{more}; none of that is kept",)
    return (f"your checkout changed while the agent worked unconfined, by it or by somebody else: {named}{more}",)


def _files(top: Path, names: tuple[str, ...]) -> Iterator[tuple[str, os.stat_result]]:
    for name in names:
        try:
            found = (top / name).lstat()
        except OSError:
            continue
        if stat.S_ISDIR(found.st_mode):
            yield from ((f"{name}/{below}", one) for below, one in _below(top / name, ()))
        else:
            yield name, found


def _below(top: Path, left_out: tuple[str, ...]) -> Iterator[tuple[str, os.stat_result]]:
    """Regular files and links, however deep; what can't be read is not there."""
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
                found = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if name in left_out:
                continue
            if stat.S_ISDIR(found.st_mode):
                folders.append(name)
            elif stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode):
                number += 1
                yield name, found
