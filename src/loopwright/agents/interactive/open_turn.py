"""A turn that waits in its mailbox until a person, or an agent in a session of their own, hands it in or gives it up.

We did not start them and can't confine them. What they hand in is a claim, like any agent's answer.
"""

from __future__ import annotations

import errno
import os
import secrets
from contextlib import suppress
from pathlib import Path

import msgspec

from loopwright.agents.port import Answer, NoAnswer, Reason
from loopwright.agents.private_files import hand_over
from loopwright.errors import StorageFailed
from loopwright.kernel import codec
from loopwright.kernel.files import clear_path, read_head, shown, storage

OPENED = "interactive-turn.json"
HANDED_IN = "handed-in.json"
BELL = "bell"
MOST_BYTES = 8 << 20


class OpenedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done; paths are those of this machine."""

    role: str
    folder: str
    prompt: str
    # The manifest of what to read; None where nothing is listed.
    context: str | None = None
    # The file with the JSON Schema of the answer; None where any text is an answer.
    schema: str | None = None
    # Whether files are to be changed; else only an answer is wanted.
    may_write: bool = False
    # The time limit, by the settings and by the budget.
    seconds: float = 0.0
    # Where to leave a question for a person, and the self-report.
    decisions: str = ""
    self_report: str = ""


class TurnDone(msgspec.Struct, frozen=True, tag="done"):
    """The turn is done, by the word of the one who did the work."""

    text: str = ""
    # The files that they say they changed.
    files: tuple[str, ...] = ()


class GivenUp(msgspec.Struct, frozen=True, tag="given_up"):
    """The turn will not be done."""

    why: str


HandedIn = TurnDone | GivenUp


def lay_bell(mailbox: Path) -> None:
    """Prepare the mailbox: no answer of an earlier turn, and a pipe that tells the worker of a new one."""
    clear_path(mailbox / HANDED_IN)
    clear_path(mailbox / BELL)
    with storage(mailbox / BELL):
        os.mkfifo(mailbox / BELL, 0o600)


def opened_in(mailbox: Path) -> OpenedTurn | None:
    """The turn that waits there; None where no turn waits, or where it was handed in already."""
    if os.path.lexists(mailbox / HANDED_IN):
        return None
    try:
        return codec.from_json(read_head(mailbox / OPENED, MOST_BYTES)[0], OpenedTurn)
    except (OSError, codec.Undecodable):
        return None


def opened_since(mailbox: Path) -> float | None:
    """When the turn was opened, by the time of its file."""
    try:
        return (mailbox / OPENED).lstat().st_mtime
    except OSError:
        return None


def submit(mailbox: Path, what: HandedIn) -> bool:
    """Hand the turn in, as a whole and once; False where another answer came first."""
    waiting = mailbox / f".{HANDED_IN}.{secrets.token_hex(4)}"
    hand_over(waiting, codec.to_json(what))
    try:
        # A link, not a rename: the second of two that hand in at the same time fails.
        os.link(waiting, mailbox / HANDED_IN)
    except FileExistsError:
        return False
    finally:
        clear_path(waiting)
    _ring(mailbox)
    return True


def read_handed_in(mailbox: Path, duration_s: float) -> Answer | NoAnswer:
    """The answer that was handed in."""
    try:
        data, is_longer = read_head(mailbox / HANDED_IN, MOST_BYTES)
    except OSError:
        data, is_longer = b"", False
    if is_longer:
        return NoAnswer(Reason.INVALID_ANSWER, f"the answer has more than {MOST_BYTES:,} bytes")
    with suppress(codec.Undecodable):
        return NoAnswer(Reason.REFUSED, codec.from_json(data, GivenUp).why)
    with suppress(codec.Undecodable):
        done = codec.from_json(data, TurnDone)
        return Answer(done.text, duration_s, files=done.files, stop_reason="handed in")
    return NoAnswer(Reason.INVALID_ANSWER, "what was handed in can't be read")


def _ring(mailbox: Path) -> None:
    try:
        bell = os.open(mailbox / BELL, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as problem:
        if problem.errno == errno.ENXIO:
            return  # the worker does not listen yet: it looks for an answer first
        clear_path(mailbox / HANDED_IN)
        raise StorageFailed(
            f"{shown(mailbox / BELL)}, which tells the worker, was replaced; nothing was handed in",
            hint="`loopwright loop stop` ends the turn, and what was done is kept",
        ) from problem
    with suppress(OSError), os.fdopen(bell, "wb", buffering=0) as stream:
        stream.write(b"\n")
