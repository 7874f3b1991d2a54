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
from loopwright.sandbox.open import Sandbox
from loopwright.workspace.names import STATE_FOLDERS

# A checkout with more files than this is not looked at file by file for every turn.
_MOST_FILES = 50_000
_NAMED = 5
# What programs keep for themselves, whoever started them.
_CACHES = (".cache", ".npm", ".local/share", ".local/state", ".config/configstore", ".pnpm-store", ".yarn")
# Of git's own folder only what makes git run something: the rest moves with every `git status`.
_OF_GIT = (".git/config", ".git/hooks")

_Seen = dict[str, tuple[int, int, int]]


class Outside:
    """A look before the turn, to be compared with one after it."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._is_home = sandbox.confinement.used == "bubblewrap"
        self._top = sandbox.place.home if self._is_home else sandbox.view.project
        self._is_watched = self._is_home or sandbox.confinement.used == "none"
        self._before = self._look()

    def written(self) -> tuple[str, ...]:
        """The files that are new or others than before, or gone; none where nobody could say."""
        after = self._look()
        if self._before is None or after is None:
            return ()
        before, prefix = self._before, "~/" if self._is_home else ""
        changed = [name for name in before.keys() | after.keys() if before.get(name) != after.get(name)]
        return tuple(prefix + shown(name) for name in sorted(changed))

    def _look(self) -> _Seen | None:
        if not self._is_watched:
            return None
        seen: _Seen = {}
        for name, found in _files(self._top, "", _CACHES if self._is_home else STATE_FOLDERS):
            seen[name] = (found.st_mtime_ns, found.st_size, found.st_ino)
            if len(seen) > _MOST_FILES:
                return None
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


def _files(top: Path, below: str, left_out: tuple[str, ...]) -> Iterator[tuple[str, os.stat_result]]:
    """Regular files and links; what can't be read is not there."""
    try:
        entries = list(os.scandir(top / below))
    except OSError:
        return
    for entry in entries:
        name = f"{below}/{entry.name}" if below else entry.name
        if name in left_out or (name.startswith(".git/") and not name.startswith(_OF_GIT)):
            continue
        try:
            found = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        if stat.S_ISDIR(found.st_mode):
            yield from _files(top, name, left_out)
        elif stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode):
            yield name, found
