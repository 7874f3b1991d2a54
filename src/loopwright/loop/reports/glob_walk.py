"""Globs below one folder: `*`, `?` and `[…]` inside of a part, `**` for any number of parts.

Links are followed only to places inside of the folder, and never while `**` or `*` looks for folders.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from loopwright.errors import SettingsInvalid

MOST_STEPS = 200_000
# Whole trees of other people's files, which have reports of their own.
_NEVER = frozenset({"node_modules", "__pycache__"})
_HINT = "name a path below the project's folder, such as `test-results/**/*.xml`"


class Walk:
    """Looks below one folder, and stops after so many names, over all patterns."""

    def __init__(self, folder: Path) -> None:
        self._top = folder.resolve()
        self._steps = 0

    @property
    def cut_short(self) -> bool:
        """Whether there was more to look at than is looked at."""
        return self._steps > MOST_STEPS

    def matches(self, pattern: str) -> Iterator[Path]:
        """What a pattern means, without links in the paths; files are not told from others, some may come twice."""
        todo = [(self._top, self._parts(pattern))]
        done: set[tuple[Path, int]] = set()
        while todo:
            folder, parts = todo.pop()
            # Two `**` reach the same folder in many ways; once is enough.
            if (folder, len(parts)) in done or self.cut_short:
                continue
            done.add((folder, len(parts)))
            head, rest = parts[0], parts[1:]
            if head == "**":
                todo.append((folder, rest))
                todo.extend((path, parts) for path in self._folders(folder, "*"))
            elif not any(sign in head for sign in "*?["):
                reached = self._inside(folder / head)
                todo.extend((path, rest) for path in reached if rest)
                yield from () if rest else reached
            elif rest:
                todo.extend((path, rest) for path in self._folders(folder, head))
            else:
                yield from (path for entry in self._entries(folder, head) for path in self._inside(Path(entry.path)))

    def _parts(self, pattern: str) -> tuple[str, ...]:
        below = pattern.removeprefix(f"{self._top}/")
        parts = [part for part in below.split("/") if part not in ("", ".")]
        if below.startswith("/") or ".." in parts or "\0" in below or not parts:
            raise SettingsInvalid(f"'{pattern}' is not a place below the project's folder", hint=_HINT)
        return (*parts, "*") if parts[-1] == "**" else tuple(parts)

    def _inside(self, path: Path) -> tuple[Path, ...]:
        """Where a path leads, when there is something and it is inside of the top folder."""
        self._steps += 1
        try:
            real = path.resolve(strict=True)
        except (OSError, RuntimeError):
            return ()  # not there, not for us, or a loop of links
        return (real,) if real.is_relative_to(self._top) else ()

    def _folders(self, folder: Path, part: str) -> Iterator[Path]:
        for entry in self._entries(folder, part):
            if entry.name not in _NEVER and _is_folder(entry):
                yield Path(entry.path)

    def _entries(self, folder: Path, part: str) -> Iterator[os.DirEntry[str]]:
        """Matching names; hidden ones only where the pattern shows that it means them."""
        try:
            entries = os.scandir(folder)
        except OSError:
            return
        with entries:
            for entry in entries:
                self._steps += 1
                if self.cut_short:
                    return
                hidden = entry.name.startswith(".") and not part.startswith(".")
                if not hidden and fnmatchcase(entry.name, part):
                    yield entry


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False
