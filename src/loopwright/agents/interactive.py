"""Whoever works by hand as an agent: the turn lies in the mailbox until somebody hands it in, or gives it up.

A person, or an agent's session of theirs: we did not start them and can't confine them. What they leave here is a claim
like any other agent's; what changed is read from the sandbox.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
from contextlib import suppress
from pathlib import Path

import msgspec

from loopwright.agents.decision_requests import FOLDER, VARIABLE
from loopwright.agents.mailbox import MAILBOX, SELF_REPORT
from loopwright.agents.port import Answer, NoAnswer, Reason, Starter, Turn
from loopwright.agents.shelling import PROMPT, hand_over
from loopwright.errors import StorageFailed
from loopwright.kernel import codec
from loopwright.kernel.files import clear_name, read_head, shown, storage

KIND = "interactive"
_OPENED = "interactive-turn.json"
_HANDED_IN = "handed-in.json"
_BELL = "bell"
_SCHEMA = "schema.json"
MOST_BYTES = 8 << 20
_DAY_S = 24 * 3600.0
# A pipe that is open for both sides blocks nobody at its opening and keeps what was rung before we listened: there is
# no moment at which a hand-in could be missed, and nothing has to be asked again and again for hours.
_WAIT = 'exec 3<> "$1" || exit 1; while [ ! -e "$0" ]; do read -r _ <&3 || exit 1; done'


class OpenedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """What lies there to be done; paths are the machine's own."""

    role: str
    folder: str
    prompt: str
    # The manifest of what to read; None where nothing is listed.
    context: str | None = None
    # Where the JSON Schema of the answer is; None where words will do.
    schema: str | None = None
    # Whether files are to be changed; else only an answer is wanted.
    may_write: bool = False
    # How long it may take, by the settings and by the budget.
    seconds: float = 0.0
    # Where a question for a person is left, and what one thinks of one's own work.
    decisions: str = ""
    self_report: str = ""


class TurnDone(msgspec.Struct, frozen=True, tag="done"):
    """It is done, by the word of whoever did it."""

    text: str = ""
    # Files that they say they changed.
    files: tuple[str, ...] = ()


class GivenUp(msgspec.Struct, frozen=True, tag="given_up"):
    """It will not be done."""

    why: str


HandedIn = TurnDone | GivenUp


class InteractiveAgent:
    """Puts the turn where somebody finds it, and waits."""

    # A person sleeps between two looks at their work.
    patience_s = _DAY_S

    def __init__(self, name: str) -> None:
        self.name = name

    def take(self, turn: Turn, start: Starter) -> Answer | NoAnswer:
        """From the moment at which it can be found until it is handed in."""
        box = turn.mailbox
        bell, handed_in, opened = box / _BELL, box / _HANDED_IN, box / _OPENED
        clear_name(handed_in)  # what an earlier turn left there answers nothing now
        clear_name(bell)
        with storage(bell):
            os.mkfifo(bell, 0o600)
        hand_over(box / PROMPT, _spelled_out(turn).encode())
        if turn.schema is not None:
            hand_over(box / _SCHEMA, json.dumps(turn.schema, ensure_ascii=False, indent=2).encode())
        hand_over(opened, codec.to_json(_opened(turn)))  # last: whoever finds it finds the rest
        try:
            ran = start(("sh", "-c", _WAIT, str(handed_in), str(bell)), env={}, timeout_s=turn.timeout_s)
        finally:
            clear_name(opened)
        if ran.timed_out:
            return NoAnswer(Reason.HUNG, f"nobody handed it in within {turn.timeout_s:g} s")
        if ran.exit_code != 0:
            return NoAnswer(Reason.CRASHED, f"the waiting ended with {ran.exit_code}")
        return _read(handed_in, ran.duration_s)


def opened_in(mailbox: Path) -> OpenedTurn | None:
    """The turn that waits there to be handed in; None where none does, or where that was done already."""
    if os.path.lexists(mailbox / _HANDED_IN):
        return None
    try:
        return codec.from_json(read_head(mailbox / _OPENED, MOST_BYTES)[0], OpenedTurn)
    except (OSError, codec.Undecodable):
        return None


def opened_since(mailbox: Path) -> float | None:
    """When it was opened, by the file's own time."""
    try:
        return (mailbox / _OPENED).lstat().st_mtime
    except OSError:
        return None


def hand_in(mailbox: Path, what: HandedIn) -> bool:
    """Whole or not at all, and once; whether it is this one that counts."""
    waiting = mailbox / f".{_HANDED_IN}.{secrets.token_hex(4)}"
    hand_over(waiting, codec.to_json(what))
    try:
        # A link and no rename: of two who hand in at the same time the second one is told.
        os.link(waiting, mailbox / _HANDED_IN)
    except FileExistsError:
        return False
    finally:
        clear_name(waiting)
    _ring(mailbox)
    return True


def _ring(mailbox: Path) -> None:
    try:
        bell = os.open(mailbox / _BELL, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as problem:
        if problem.errno == errno.ENXIO:
            return  # nobody listens yet: they look before they do
        clear_name(mailbox / _HANDED_IN)
        raise StorageFailed(
            f"{shown(mailbox / _BELL)}, by which the worker hears of it, is not as it was; nothing was handed in",
            hint="`loopwright loop stop` ends the turn, and what was done is kept",
        ) from problem
    with suppress(OSError), os.fdopen(bell, "wb", buffering=0) as stream:
        stream.write(b"\n")


def _opened(turn: Turn) -> OpenedTurn:
    return OpenedTurn(
        role=turn.role.value,
        folder=str(turn.folder),
        prompt=str(turn.mailbox / PROMPT),
        schema=str(turn.mailbox / _SCHEMA) if turn.schema is not None else None,
        may_write=turn.may_write,
        context=str(turn.context) if turn.context is not None else None,
        seconds=min(one for one in (turn.timeout_s, turn.budget.wall_s) if one is not None),
        decisions=str(turn.mailbox / FOLDER),
        self_report=str(turn.mailbox / SELF_REPORT),
    )


def _spelled_out(turn: Turn) -> str:
    """The prompt with paths in place of variables, which a shell that we did not start does not have."""
    text = turn.prompt
    for name, path in ((MAILBOX, turn.mailbox), (VARIABLE, turn.mailbox / FOLDER)):
        text = text.replace(f"${name}", str(path))
    return text


def _read(path: Path, duration_s: float) -> Answer | NoAnswer:
    try:
        data, is_longer = read_head(path, MOST_BYTES)
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
