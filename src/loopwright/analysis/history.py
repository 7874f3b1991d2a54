"""Commits read from git as a stream: who follows whom, when, what the message says, which files.

Asks git for names and not for lines: comparing contents is what makes `git log --numstat` slow, and needs every blob.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Final

import msgspec

from loopwright.analysis.messages import LONGEST_MESSAGE, ReadMessage, read_message
from loopwright.analysis.preregistered import NUMBERS
from loopwright.errors import GitFailed, WrongUsage
from loopwright.kernel.files import shown
from loopwright.kernel.git_history import History

DAY: Final = 86_400
Progress = Callable[[int], None]
# Two NULs stand between commits and nowhere else: no field is empty (the message has a dot before it), and neither a
# message nor a name can hold a NUL.
_FORMAT: Final = "--format=tformat:%x00%H %ct %P%x00.%B"
_PLAIN: Final = ("log", "-z", "--no-renames", "--no-show-signature", "--encoding=UTF-8")
_REPORT_EVERY: Final = 2000


class Commit(msgspec.Struct, frozen=True, gc=False):
    """One commit, newest information only: no author, no lines."""

    id: str
    parents: tuple[str, ...]
    time: int
    said: ReadMessage
    files: tuple[bytes, ...]
    is_wide: bool = False


class Window(msgspec.Struct, frozen=True):
    """Which part of a history: a revision or range, and seconds since 1970 that commits lie between."""

    revision: str = "HEAD"
    since: int | None = None
    until: int | None = None

    def arguments(self) -> tuple[str, ...]:
        """The same for git."""
        since = () if self.since is None else (f"--max-age={self.since}",)
        return since if self.until is None else (*since, f"--min-age={self.until}")


class Past(msgspec.Struct, frozen=True):
    """What was read, newest first; the digest is that of git's own output."""

    commits: tuple[Commit, ...]
    tips: tuple[str, ...]
    digest: str
    notes: tuple[str, ...]


def read_past(history: History, window: Window, on_progress: Progress | None = None) -> Past:
    """Read the window; a clone that lacks folder listings gives commits without files, and says so."""
    tips = _resolved(history, window.revision)
    notes = ["the history is cut off: this is a shallow clone"] if history.is_shallow else []
    if not tips:
        return Past((), (), hashlib.sha256().hexdigest(), (*notes, "there are no commits yet"))
    try:
        reader = _read(history, window, tips, "--name-only", on_progress)
    except GitFailed:
        if not history.is_partial:
            raise
        notes.append("file names are unknown: this partial clone has no folder listings, and nothing was fetched")
        reader = _read(history, window, tips, "--no-patch", on_progress)
    return Past(tuple(reader.commits), tips, reader.hexdigest(), tuple(notes))


def _resolved(history: History, revision: str) -> tuple[str, ...]:
    if revision.startswith("-"):
        raise WrongUsage(f"'{shown(revision)}' is not a revision or a range", hint="for example: --range v1.0..HEAD")
    tips = history.resolve(revision)
    if not tips and revision != "HEAD":
        raise WrongUsage(
            f"'{shown(revision)}' is not a revision or a range of this repository",
            hint="see them with: git log --oneline",
        )
    return tips


def _read(history: History, window: Window, tips: tuple[str, ...], names: str, on_progress: Progress | None) -> _Reader:
    reader = _Reader(on_progress)
    history.stream(*_PLAIN, names, _FORMAT, *window.arguments(), *tips, "--", on_output=reader.feed)
    reader.finish()
    return reader


class _Reader:
    """Turns git's bytes into commits as they come."""

    def __init__(self, on_progress: Progress | None) -> None:
        self.commits: list[Commit] = []
        self._parts: list[bytes] = []
        self._digest = hashlib.sha256()
        self._names: dict[bytes, bytes] = {}
        self._on_progress = on_progress
        self._reported = 0

    def feed(self, data: bytes) -> None:
        self._digest.update(data)
        self._parts.append(data)
        # A commit of a million files comes in many pieces, which are put together once.
        if b"\0\0" not in b"".join((*(part[-1:] for part in self._parts[-2:-1]), data)):
            return
        records = b"".join(self._parts).split(b"\0\0")
        self._parts = [records.pop()]
        for record in records:
            self._take(record)
        if self._on_progress is not None and len(self.commits) - self._reported >= _REPORT_EVERY:
            self._reported = len(self.commits)
            self._on_progress(self._reported)

    def finish(self) -> None:
        self._take(b"".join(self._parts).removesuffix(b"\0"))
        self._parts = []

    def hexdigest(self) -> str:
        return self._digest.hexdigest()

    def _take(self, record: bytes) -> None:
        # The very first record follows a single NUL.
        header, _, rest = record.removeprefix(b"\0").partition(b"\0")
        if not header:
            return
        message, _, listed = rest.partition(b"\0")
        name, time, *parents = header.decode("ascii", "replace").split(" ")
        parents = [parent for parent in parents if parent]
        said = read_message(message[1 : LONGEST_MESSAGE + 1].decode("utf-8", "replace"), is_merge=len(parents) > 1)
        # Git puts one line break before the first name.
        names = listed[1:].split(b"\0") if listed else []
        is_wide = len(names) > NUMBERS.wide_files
        known = self._names
        files = () if is_wide else tuple(known.setdefault(file, file) for file in names)
        seconds = int(time) if time.isdigit() else 0
        self.commits.append(Commit(name, tuple(parents), seconds, said, files, is_wide))
