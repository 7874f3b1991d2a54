"""A turn that waits in its mailbox until a person, or an agent in the person's session, hands it in or gives it up.

We did not start them and can't confine them. Their answer is a claim, like any agent's answer.
"""

from __future__ import annotations

import errno
import os
import secrets
from contextlib import suppress
from pathlib import Path

import msgspec

from loopwright.agents.port import Answer, NoAnswer, Reason
from loopwright.agents.private_files import write_private_file
from loopwright.errors import StorageFailed
from loopwright.kernel import codec
from loopwright.kernel.files import clear_path, read_head, shown, storage

OPENED = "interactive-turn.json"
HANDED_IN = "handed-in.json"
BELL = "bell"
MOST_BYTES = 8 << 20


class OpenedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """What to do; paths are paths of this machine."""

    role: str
    folder: str
    prompt: str
    # The manifest of files to read; None without a list.
    context: str | None = None
    # The file with the JSON Schema of the answer; None if the answer is free text.
    schema: str | None = None
    # Whether to change files. Otherwise only an answer is needed.
    may_write: bool = False
    # The time limit, by the settings and by the budget.
    seconds: float = 0.0
    # Where to leave a question for a person, and the self-report.
    decisions: str = ""
    self_report: str = ""


class TurnDone(msgspec.Struct, frozen=True, tag="done"):
    """The turn is done, as its worker claims."""

    text: str = ""
    # Files that the worker claims to have changed.
    files: tuple[str, ...] = ()


class GivenUp(msgspec.Struct, frozen=True, tag="given_up"):
    """The turn will not be done."""

    why: str


HandedIn = TurnDone | GivenUp


def prepare_mailbox(mailbox: Path) -> None:
    """Remove the answer of an earlier turn, and create the pipe that wakes the worker when an answer arrives."""
    clear_path(mailbox / HANDED_IN)
    clear_path(mailbox / BELL)
    with storage(mailbox / BELL):
        os.mkfifo(mailbox / BELL, 0o600)


def opened_in(mailbox: Path) -> OpenedTurn | None:
    """The waiting turn; None if no turn waits or if it was already handed in."""
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
    """Hand the turn in, atomically and once; False if another answer came first."""
    waiting = mailbox / f".{HANDED_IN}.{secrets.token_hex(4)}"
    write_private_file(waiting, codec.to_json(what))
    try:
        # A link, not a rename: when two answers arrive at the same time, the second one fails.
        os.link(waiting, mailbox / HANDED_IN)
    except FileExistsError:
        return False
    finally:
        clear_path(waiting)
    _wake_worker(mailbox)
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
    return NoAnswer(Reason.INVALID_ANSWER, "the answer that was handed in can't be read")


def _wake_worker(mailbox: Path) -> None:
    try:
        bell = os.open(mailbox / BELL, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as problem:
        if problem.errno == errno.ENXIO:
            return  # the worker is not waiting yet: it checks for an answer first
        clear_path(mailbox / HANDED_IN)
        raise StorageFailed(
            f"{shown(mailbox / BELL)}, the pipe to the worker, was replaced; nothing was handed in",
            hint="`loopwright loop stop` ends the turn and keeps the work",
        ) from problem
    with suppress(OSError), os.fdopen(bell, "wb", buffering=0) as stream:
        stream.write(b"\n")
