"""What adapters of programs share: the prompt as input, untrusted JSON lines as output, sessions, failure reasons."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from loopwright.agents.port import Answer, NoAnswer, Ran, Reason, Turn, Usage
from loopwright.agents.private_files import write_private_file
from loopwright.agents.usage import FILE, read_usage
from loopwright.kernel.codec import json_object

_SHOWN = 200
_MOST_AT_ONCE = 8 << 20


def whole_lines(path: Path, start: int) -> bytes:
    """A file's content from `start` to its last whole line; empty for anything but a regular file."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        data = os.pread(handle, _MOST_AT_ONCE, start) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
    finally:
        os.close(handle)
    return data[: data.rfind(b"\n") + 1]


class Followed:
    """A file of lines that a program adds to while it works; earlier content is skipped."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        # lstat: the path may be a broken link.
        self._read_to = path.lstat().st_size if path is not None else 0

    def earlier(self) -> Iterator[dict[str, Any]]:
        """The records that the file held before; only the last ones of a long file."""
        if self._path is None:
            return
        start = max(0, self._read_to - _MOST_AT_ONCE)
        data = whole_lines(self._path, start)[: self._read_to - start]
        yield from (record for line in data.splitlines() if (record := json_object(line)) is not None)

    def new_records(self, find: Callable[[], Path | None]) -> Iterator[dict[str, Any]]:
        """The records since the last call; a missing file is looked for again."""
        if self._path is None:
            self._path = find()
        if self._path is None:
            return
        data = whole_lines(self._path, self._read_to)
        self._read_to += len(data)
        yield from (record for line in data.splitlines() if (record := json_object(line)) is not None)


def short(value: object) -> str:
    """The first line of a value, shortened for a person."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    line = text.strip().partition("\n")[0]
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"


def called(name: object, given: object, about: tuple[str, ...]) -> str:
    """A tool call for a person: its name, and the first of these fields that the call has."""
    fields = given if isinstance(given, dict) else {}
    return f"{name} {short(next((fields[key] for key in about if key in fields), ''))}".strip()


def count(record: object, name: str) -> int:
    """A number in a record; 0 where it is missing or invalid."""
    number = record.get(name) if isinstance(record, dict) else None
    return number if isinstance(number, int) and not isinstance(number, bool) and number >= 0 else 0


PROMPT = "prompt.md"
# A shell's exit code for a missing program.
NOT_FOUND = 127
BY_STATUS = {401: Reason.NOT_LOGGED_IN, 403: Reason.NOT_LOGGED_IN, 429: Reason.RATE_LIMITED}
# Takes the turn in this session, or in a new one; also says whether the program has begun with the turn.
TakeIn = Callable[[str | None], tuple[Answer | NoAnswer, bool]]


def with_prompt(turn: Turn, argv: tuple[str, ...], defaults: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The command with the turn's prompt as its input; `defaults` are variables for a user who set none."""
    path = turn.mailbox / PROMPT
    write_private_file(path, turn.prompt.encode())
    set_them = "".join(f': "${{{name}={value}}}"; export {name}; ' for name, value in (defaults or {}).items())
    return ("sh", "-c", f'{set_them}exec "$@" < "$0"', str(path), *argv)


def take_in_session(turn: Turn, take: TakeIn) -> Answer | NoAnswer:
    """Take a turn; a session that the program does not know is replaced by a new one."""
    answer, has_begun = take(turn.session)
    if turn.session is not None and not has_begun and isinstance(answer, NoAnswer):
        answer, _ = take(None)
    return answer


class FollowsSession(Protocol):
    """A stream that also reads its session's file, which says more than the program's events."""

    def look(self) -> None:
        """Read what was added since the last look."""
        ...


class RunningStreams:
    """The streams of running turns, by mailbox: the meter asks from its own thread."""

    def __init__(self) -> None:
        self._streams: dict[Path, FollowsSession] = {}

    @contextmanager
    def of(self, mailbox: Path, stream: FollowsSession) -> Iterator[None]:
        """Keep the stream during a turn, and read the rest of its file afterwards."""
        self._streams[mailbox] = stream
        try:
            yield
        finally:
            del self._streams[mailbox]
        stream.look()

    def used(self, mailbox: Path, *, is_over: bool) -> Usage:
        """What the turn has used so far, by its session's file."""
        stream = self._streams.get(mailbox)
        if stream is not None:
            stream.look()
        return read_usage(mailbox / FILE, is_over=is_over)


def no_answer(
    turn: Turn,
    ran: Ran,
    program: str,
    by_code: Reason | None,
    detail: str,
    session: str | None,
    reset_at: datetime | None,
) -> NoAnswer:
    """The reason by the program's code, else by how the program ended.

    A rate limit stays the reason if the program then crashed, or waited until the turn timed out.
    """
    late = f"no answer within {turn.timeout_s:g} s"
    if by_code is None and ran.timed_out:
        return NoAnswer(Reason.HUNG, late, None, session)
    reason = by_code or (Reason.AGENT_MISSING if ran.exit_code == NOT_FOUND else Reason.CRASHED)
    how = late if ran.timed_out else f"{program} exited with {ran.exit_code}: {ran.last_line}"
    return NoAnswer(reason, detail or how, reset_at if reason is Reason.RATE_LIMITED else None, session)
