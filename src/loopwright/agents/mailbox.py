"""An agent's mailbox: facts about its turn, and what the agent leaves for the worker, such as decision requests.

The agent can write to the mailbox: its content is not trusted, and never counts as evidence. A decision request is a
file with `{"question": "…", "options"?: ["…"], "id"?: "D-1", "scope_wanted"?: ["…"]}`, for a decision that only a
person can make. `scope_wanted` are paths or globs that the agent asks to change.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from loopwright.agents.port import Allowance
from loopwright.agents.private_files import private_folder, write_private_file
from loopwright.kernel import codec
from loopwright.kernel.files import list_folder, read_head, shown
from loopwright.kernel.ids import is_identifier

# The environment variable with the mailbox folder, for every process of a turn.
MAILBOX = "LOOPWRIGHT_MAILBOX"
CONTEXT = "context"
# The ending of manifests, which list the files to read.
MANIFESTS = "-context.jsonl"
SELF_REPORT = "reflection-input.json"
# Where hooks in the sandbox put their reflections.
REFLECTIONS = "reflections"
_FACTS = "turn.json"
# Only our names: other files may have names that are not text.
_MANIFEST = re.compile(rf"[a-z]+{re.escape(MANIFESTS)}")
_CHECKS = "checks.json"
_PROGRESS = "progress.jsonl"
_MOST_BYTES = 1 << 20
_MOST_NOTES = 50
_LONGEST_NOTE = 4000
_MOST_REFLECTIONS = 8
_T = TypeVar("_T")


class TurnFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a turn is about, for the tools of the MCP server."""

    role: str = ""
    loop_id: str = ""
    title: str = ""
    workflow: str | None = None
    action: str = ""
    task_id: str | None = None
    task: str = ""
    iteration: int = 0
    max_iterations: int = 0
    # The remaining budget.
    budget: Allowance = Allowance()


class ShownCheck(msgspec.Struct, frozen=True, kw_only=True):
    """A check that the agent may see."""

    id: str
    command: str
    cwd: str = ""
    timeout_s: float = 0


class Checks(msgspec.Struct, frozen=True, kw_only=True):
    """The checks that judge the work: those that the agent may try beforehand, and the number of hidden ones."""

    shown: tuple[ShownCheck, ...] = ()
    hidden: int = 0


class _Note(msgspec.Struct, frozen=True):
    text: str


def write_file(mailbox: Path, name: str, data: bytes) -> None:
    """Write a file for the turn. Leftovers of an earlier turn in its place, or in place of its folder, are removed."""
    *folders, last = Path(name).parts
    write_private_file(private_folder(mailbox, *folders) / last, data)


def write_turn_facts(mailbox: Path, facts: TurnFacts) -> None:
    """Write what the turn is about."""
    write_file(mailbox, _FACTS, codec.to_json(facts))


def write_checks(mailbox: Path, checks: Checks) -> None:
    """Write the checks that judge the work."""
    write_file(mailbox, _CHECKS, codec.to_json(checks))


def read_turn_facts(mailbox: Path) -> TurnFacts:
    """What the turn is about; empty if the file is unreadable."""
    return _read(mailbox / _FACTS, TurnFacts) or TurnFacts()


def read_checks(mailbox: Path) -> Checks:
    """The checks that judge the work; empty if the file is unreadable."""
    return _read(mailbox / _CHECKS, Checks) or Checks()


def manifest_in(mailbox: Path) -> Path | None:
    """The manifest of files to read, if there is one. A turn has at most one."""
    folder = mailbox / CONTEXT
    with suppress(OSError):
        names = sorted(name for name in list_folder(folder) if _MANIFEST.fullmatch(name))
        return folder / names[0] if names else None
    return None


def add_progress(mailbox: Path, text: str) -> None:
    """Add a progress note for people. The worker reads it when the turn is over."""
    # Must not block: the agent may have put a pipe in its place.
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    handle = os.open(mailbox / _PROGRESS, flags, 0o666)
    with os.fdopen(handle, "ab") as stream:
        stream.write(codec.to_json_line(_Note(text)))


def read_progress(mailbox: Path) -> tuple[str, ...]:
    """The agent's progress notes. Invalid notes are skipped, and only the first notes count."""
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
    """The agent's self-report as it wrote it; empty if it wrote none."""
    return _bytes(mailbox / SELF_REPORT)


def read_reflections(mailbox: Path) -> tuple[bytes, ...]:
    """The reflections that hooks wrote in the sandbox, newest first. The agent may have written them as well."""
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


FOLDER = "decisions"
VARIABLE = "LOOPWRIGHT_DECISIONS"
_MOST_FILES = 20
_LARGEST_REQUEST = 64 << 10
_LONGEST_ID = 40
_LONGEST_PATTERN = 200


class DecisionRequest(msgspec.Struct, frozen=True):
    """A question for a person."""

    question: str
    id: str | None = None
    options: tuple[str, ...] = ()
    # Files that the agent asks to change in addition to its scope.
    scope_wanted: tuple[str, ...] = ()


class DecisionRequests(msgspec.Struct, frozen=True):
    """The decision requests in a mailbox, and problems with invalid ones."""

    asked: tuple[DecisionRequest, ...] = ()
    problems: tuple[str, ...] = ()


def read_requests(mailbox: Path) -> DecisionRequests:
    """All decision requests, in the order of their file names, up to a limit. Invalid requests are reported."""
    try:
        names = sorted(name for name in list_folder(mailbox / FOLDER) if name.endswith(".json"))
    except OSError:
        return DecisionRequests()
    asked: list[DecisionRequest] = []
    problems: list[str] = []
    for name in names[:_MOST_FILES]:
        try:
            asked.append(_request(mailbox / FOLDER / name))
        except (OSError, ValueError) as problem:
            problems.append(f"the decision request {shown(name)[:80]} is invalid: {problem}")
    if len(names) > _MOST_FILES:
        problems.append(f"only {_MOST_FILES} of {len(names)} decision requests of one turn were read")
    return DecisionRequests(tuple(asked), tuple(problems))


def _request(path: Path) -> DecisionRequest:
    data, is_longer = read_head(path, _LARGEST_REQUEST)
    if is_longer:
        raise ValueError(f"it has more than {_LARGEST_REQUEST:,} bytes")
    request = codec.from_json(data, DecisionRequest)
    if not request.question.strip():
        raise ValueError("it has no question")
    if request.id is not None and not (is_identifier(request.id) and len(request.id) <= _LONGEST_ID):
        raise ValueError("its id is not a valid name")
    if (wrong := next(filter(None, map(scope_problem, request.scope_wanted)), None)) is not None:
        raise ValueError(wrong)
    return request


def scope_problem(pattern: str) -> str | None:
    """Why a person can't be asked for this path or glob; None if it is fine."""
    if not pattern.strip() or len(pattern) > _LONGEST_PATTERN or not pattern.isprintable():
        return f"a path of scope_wanted must be printable text of 1 to {_LONGEST_PATTERN} characters"
    if pattern.startswith("/") or {"", ".", ".."} & set(pattern.split("/")):
        return f"'{pattern}' in scope_wanted is not a path below the project"
    return None
