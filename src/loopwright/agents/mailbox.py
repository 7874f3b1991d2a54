"""What lies in an agent's mailbox beside its decisions: the letter about its turn, and what it leaves for the worker.

The agent can write to it: its content is not trusted, and never counts as evidence.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from loopwright.agents.port import Allowance
from loopwright.agents.private_files import folder_in, hand_over
from loopwright.kernel import codec
from loopwright.kernel.files import list_folder, read_head

# Names the folder, in the environment of every process of a turn.
MAILBOX = "LOOPWRIGHT_MAILBOX"
CONTEXT = "context"
# How the manifests end that list what to read.
MANIFESTS = "-context.jsonl"
SELF_REPORT = "reflection-input.json"
# Where hooks in the sandbox put their reflections.
REFLECTIONS = "reflections"
_LETTER = "turn.json"
# As we name them: what else lies there is not ours, and its name may be no text.
_MANIFEST = re.compile(rf"[a-z]+{re.escape(MANIFESTS)}")
_CHECKS = "checks.json"
_PROGRESS = "progress.jsonl"
_MOST_BYTES = 1 << 20
_MOST_NOTES = 50
_LONGEST_NOTE = 4000
_MOST_REFLECTIONS = 8
_T = TypeVar("_T")


class Letter(msgspec.Struct, frozen=True, kw_only=True):
    """Which turn this is."""

    role: str = ""
    loop_id: str = ""
    title: str = ""
    workflow: str | None = None
    action: str = ""
    task_id: str | None = None
    task: str = ""
    iteration: int = 0
    max_iterations: int = 0
    # What is left for it.
    budget: Allowance = Allowance()


class ShownCheck(msgspec.Struct, frozen=True, kw_only=True):
    """A check that the agent may know of."""

    id: str
    command: str
    cwd: str = ""
    timeout_s: float = 0


class Checks(msgspec.Struct, frozen=True, kw_only=True):
    """Who judges the work: what may be tried beforehand, and how many there are beside that."""

    shown: tuple[ShownCheck, ...] = ()
    hidden: int = 0


class _Note(msgspec.Struct, frozen=True):
    text: str


def leave(mailbox: Path, name: str, data: bytes) -> None:
    """Write a file for the turn; what an earlier turn left under its name, or as its folder, is removed."""
    *folders, last = Path(name).parts
    hand_over(folder_in(mailbox, *folders) / last, data)


def leave_letter(mailbox: Path, letter: Letter) -> None:
    """Which turn it is."""
    leave(mailbox, _LETTER, codec.to_json(letter))


def leave_checks(mailbox: Path, checks: Checks) -> None:
    """The same, about who judges."""
    leave(mailbox, _CHECKS, codec.to_json(checks))


def read_letter(mailbox: Path) -> Letter:
    """What this turn is; a letter that can't be read says nothing."""
    return _read(mailbox / _LETTER, Letter) or Letter()


def read_checks(mailbox: Path) -> Checks:
    """Who judges, as far as that was told."""
    return _read(mailbox / _CHECKS, Checks) or Checks()


def manifest_in(mailbox: Path) -> Path | None:
    """The manifest of what to read, where one was left; there is one at most for a turn."""
    folder = mailbox / CONTEXT
    with suppress(OSError):
        names = sorted(name for name in list_folder(folder) if _MANIFEST.fullmatch(name))
        return folder / names[0] if names else None
    return None


def add_progress(mailbox: Path, text: str) -> None:
    """A sentence for people; the worker takes it when the turn is over."""
    # Without waiting: the agent may have put a pipe in its place.
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    handle = os.open(mailbox / _PROGRESS, flags, 0o666)
    with os.fdopen(handle, "ab") as stream:
        stream.write(codec.to_json_line(_Note(text)))


def read_progress(mailbox: Path) -> tuple[str, ...]:
    """The agent's notes on its progress; invalid notes are skipped, and a flood is cut off."""
    data = _bytes(mailbox / _PROGRESS)
    texts = []
    for line in data.split(b"\n"):
        try:
            text = " ".join(codec.from_json(line, _Note).text.split())[:_LONGEST_NOTE] if line.strip() else ""
        except codec.Undecodable:
            continue
        if text:
            texts.append(text)
    return tuple(texts[:_MOST_NOTES])


def read_self_report(mailbox: Path) -> bytes:
    """What the agent thinks of its own work, as it wrote it; empty when it did not."""
    return _bytes(mailbox / SELF_REPORT)


def read_reflections(mailbox: Path) -> tuple[bytes, ...]:
    """What hooks made of the turn in there, the last first; the agent may have written it as well."""
    try:
        names = sorted(name for name in list_folder(mailbox / REFLECTIONS) if name.endswith(".reflection.json"))
    except OSError:
        return ()
    return tuple(_bytes(mailbox / REFLECTIONS / name) for name in names[: -_MOST_REFLECTIONS - 1 : -1])


def _read(path: Path, kind: type[_T]) -> _T | None:
    try:
        return codec.from_json(_bytes(path), kind)
    except codec.Undecodable:
        return None


def _bytes(path: Path) -> bytes:
    try:
        return read_head(path, _MOST_BYTES)[0]
    except OSError:
        return b""
