"""Reads commits from git as a stream: parents, time, message and files.

Asks git for names but not for lines: comparing contents makes `git log --numstat` slow, and needs every blob.
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
# Two NULs separate commits and occur nowhere else: no field is empty (the message has a dot before it), and neither a
# message nor a name can contain a NUL.
_FORMAT: Final = "--format=tformat:%x00%H %ct %P%x00.%B"
_PLAIN: Final = ("log", "-z", "--no-renames", "--no-show-signature", "--encoding=UTF-8")
_REPORT_EVERY: Final = 2000


class Commit(msgspec.Struct, frozen=True, gc=False):
    """One commit, without author and lines."""

    id: str
    parents: tuple[str, ...]
    time: int
    message: ReadMessage
    files: tuple[bytes, ...]
    is_wide: bool = False


class Window(msgspec.Struct, frozen=True):
    """A part of a history: a revision or range, and optional limits in seconds since 1970."""

    revision: str = "HEAD"
    since: int | None = None
    until: int | None = None

    def arguments(self) -> tuple[str, ...]:
        """The limits as git arguments."""
        since = () if self.since is None else (f"--max-age={self.since}",)
        return since if self.until is None else (*since, f"--min-age={self.until}")


class Past(msgspec.Struct, frozen=True):
    """The commits read, newest first, and the digest of git's output."""

    commits: tuple[Commit, ...]
    tips: tuple[str, ...]
    digest: str
    notes: tuple[str, ...]


def read_past(history: History, window: Window, on_progress: Progress | None = None) -> Past:
    """Read the window. A clone without folder listings gives commits without files, and a note."""
    tips = _resolved(history, window.revision)
    notes = ["the history is incomplete: this is a shallow clone"] if history.is_shallow else []
    if not tips:
        return Past((), (), hashlib.sha256().hexdigest(), (*notes, "there are no commits yet"))
    try:
        reader = _read(history, window, tips, "--name-only", on_progress)
    except GitFailed:
        if not history.is_partial:
            raise
        notes.append("file names are unknown: this partial clone has no folder listings")
        reader = _read(history, window, tips, "--no-patch", on_progress)
    return Past(tuple(reader.commits), tips, reader.hexdigest(), tuple(notes))


def _resolved(history: History, revision: str) -> tuple[str, ...]:
    if revision.startswith("-"):
        raise WrongUsage(f"'{shown(revision)}' is not a revision or a range", hint="for example: --range v1.0..HEAD")
    tips = history.resolve(revision)
    if not tips and revision != "HEAD":
        raise WrongUsage(
            f"'{shown(revision)}' is not a revision or a range of this repository",
            hint="list revisions with: git log --oneline",
        )
    return tips


def _read(history: History, window: Window, tips: tuple[str, ...], names: str, on_progress: Progress | None) -> _Reader:
    reader = _Reader(on_progress)
    history.stream(*_PLAIN, names, _FORMAT, *window.arguments(), *tips, "--", on_output=reader.feed)
    reader.finish()
    return reader


class _Reader:
    """Turns git's output into commits as it arrives."""

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
        # A commit with a million files arrives in many pieces, which are joined once.
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
        # The first record follows a single NUL.
        header, _, rest = record.removeprefix(b"\0").partition(b"\0")
        if not header:
            return
        message_text, _, listed = rest.partition(b"\0")
        name, time, *parents = header.decode("ascii", "replace").split(" ")
        parents = [parent for parent in parents if parent]
        text = message_text[1 : LONGEST_MESSAGE + 1].decode("utf-8", "replace")
        message = read_message(text, is_merge=len(parents) > 1)
        # Git prints one line break before the first name.
        names = listed[1:].split(b"\0") if listed else []
        is_wide = len(names) > NUMBERS.wide_files
        known = self._names
        files = () if is_wide else tuple(known.setdefault(file, file) for file in names)
        seconds = int(time) if time.isdigit() else 0
        self.commits.append(Commit(name, tuple(parents), seconds, message, files, is_wide))
