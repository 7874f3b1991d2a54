"""Reads commits from git as a stream (parents, time, message, files), and times as people and exports write them.

Asks git for names but not for lines: comparing contents makes `git log --numstat` slow, and needs every blob. An
ambiguous time is refused.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from loopwright.analysis.messages import LONGEST_MESSAGE, ReadMessage, read_message
from loopwright.analysis.preregistered import NUMBERS
from loopwright.errors import GitFailed, WrongUsage
from loopwright.kernel.clock import stamp
from loopwright.kernel.files import shown
from loopwright.kernel.git_history import History

_FORMATS: Final = ("%d/%b/%y %I:%M %p", "%d/%b/%Y %I:%M %p", "%a, %d %b %Y %H:%M:%S %z", "%b %d, %Y", "%d %b %Y")
_SPAN: Final = re.compile(r"(\d{1,5})[ .]?(day|week|month|year)s?(?:[ .]ago)?", re.IGNORECASE)
_DAYS: Final = {"day": 1, "week": 7, "month": 30, "year": 365}
# Smaller numbers are seconds, larger ones milliseconds; between 1973 and 5138 the two can't be confused.
_MILLISECONDS_FROM: Final = 1e11
_FIRST, _LAST = 1e8, 2.5e14


def read_moment(value: object) -> int | None:
    """ISO 8601, a few common formats, or a number; UTC if there is no zone; None if the format is unknown."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return _from_number(float(value))
    text = str(value).strip()
    if re.fullmatch(r"\d{9,14}(?:\.\d+)?", text):
        return _from_number(float(text))
    moment = _from_iso(text.removesuffix(" UTC").replace("/", "-", 2 if re.match(r"\d{4}/", text) else 0))
    for form in _FORMATS if moment is None else ():
        moment = moment or _from_form(text, form)
    return moment


def read_bound(text: str, now: datetime) -> int | None:
    """The value of `--since` and `--until`: a time, or a span before now such as `90 days`."""
    span = _SPAN.fullmatch(text.strip())
    if span is None:
        return read_moment(text)
    days = int(span[1]) * _DAYS[span[2].lower()]
    return max(0, int((now - timedelta(days=min(days, 365 * 1900))).timestamp()))


def moment_text(seconds: int) -> str:
    """Seconds as text, in the format of every file that Loopwright writes."""
    try:
        return stamp(datetime.fromtimestamp(seconds, UTC))
    except (OverflowError, ValueError, OSError):
        # Git allows any time in a commit.
        return f"{seconds} s after 1970"


def _from_number(number: float) -> int | None:
    if not _FIRST <= number <= _LAST:
        return None
    return int(number / 1000 if number >= _MILLISECONDS_FROM else number)


def _from_iso(text: str) -> int | None:
    try:
        return _seconds(datetime.fromisoformat(text))
    except ValueError:
        return None


def _from_form(text: str, form: str) -> int | None:
    try:
        return _seconds(datetime.strptime(text, form))  # noqa: DTZ007 -- _seconds adds the zone
    except ValueError:
        return None


def _seconds(moment: datetime) -> int | None:
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return int(aware.timestamp()) if aware.year >= 1970 else None


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
