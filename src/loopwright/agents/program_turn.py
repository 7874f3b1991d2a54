"""What adapters of programs share: the prompt on standard input, resumed sessions, and why a program gave no answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Protocol

from loopwright.agents.port import Answer, NoAnswer, Ran, Reason, Turn, Usage
from loopwright.agents.private_files import hand_over
from loopwright.agents.usage import FILE, read_usage

PROMPT = "prompt.md"
# A shell's exit code for a missing program.
NOT_FOUND = 127
BY_STATUS = {401: Reason.NOT_LOGGED_IN, 403: Reason.NOT_LOGGED_IN, 429: Reason.RATE_LIMITED}
# Takes the turn in this session, or in a new one; also says whether the program has begun with the turn.
TakeIn = Callable[[str | None], tuple[Answer | NoAnswer, bool]]


def with_prompt(turn: Turn, argv: tuple[str, ...], defaults: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The command with the turn's prompt as its input; `defaults` are variables for a user who set none."""
    path = turn.mailbox / PROMPT
    hand_over(path, turn.prompt.encode())
    set_them = "".join(f': "${{{name}={value}}}"; export {name}; ' for name, value in (defaults or {}).items())
    return ("sh", "-c", f'{set_them}exec "$@" < "$0"', str(path), *argv)


def in_its_session(turn: Turn, take: TakeIn) -> Answer | NoAnswer:
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
    said: str,
    session: str | None,
    reset_at: datetime | None,
) -> NoAnswer:
    """The reason by the program's code, else by how the program ended.

    A rate limit stays one when the program waited for its end until the turn timed out, or crashed.
    """
    late = f"no answer within {turn.timeout_s:g} s"
    if by_code is None and ran.timed_out:
        return NoAnswer(Reason.HUNG, late, None, session)
    reason = by_code or (Reason.AGENT_MISSING if ran.exit_code == NOT_FOUND else Reason.CRASHED)
    how = late if ran.timed_out else f"{program} exited with {ran.exit_code}: {ran.last_words}"
    return NoAnswer(reason, said or how, reset_at if reason is Reason.RATE_LIMITED else None, session)
