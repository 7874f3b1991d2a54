"""Judges a step's verification items by the files and output that really exist."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from loopwright.errors import SandboxEscape
from loopwright.evidence.model import CheckOutcome, CheckRecord
from loopwright.kernel.files import shown
from loopwright.plan.model import (
    CommandPasses,
    Declared,
    ExitCodeIs,
    FileContains,
    FileExists,
    StdoutContains,
    Step,
    Verification,
)
from loopwright.redaction.redactor import Redactor
from loopwright.sandbox.gate import resolve_inside

_CHUNK = 1 << 20
# What resolvers and connections say without a network, in the words of libc, Python, Node.js, Go, curl, git and pip.
_SIGNS = re.compile(
    r"name resolution|Name or service not known|nodename nor servname|Could(?: not|n't) resolve"
    r"|getaddrinfo (?:E\w+|failed)"
    r"|Network is unreachable|network is unreachable|ENETUNREACH|EAI_AGAIN|No address associated|no such host"
    r"|Connection refused|connection refused|ECONNREFUSED"
)

NEEDS_NETWORK = "a connection failed, and the network is closed: `network = true` opens it for a command"


class TextSearch:
    """Searches for a text in a stream without storing the stream."""

    def __init__(self, text: str) -> None:
        self._text = text.encode("utf-8", "surrogateescape")
        self._carry = b""
        self.found = not self._text

    def feed(self, data: bytes) -> None:
        """The next chunk."""
        if self.found:
            return
        window = self._carry + data
        self.found = self._text in window
        self._carry = window[-len(self._text) :]


def required_texts(step: Step) -> list[str]:
    """The texts that a step's output must contain."""
    return [item.text for item in step.verification if isinstance(item, StdoutContains)]


def not_run(item: Verification, redactor: Redactor) -> CheckRecord:
    """The record of an item that was not checked."""
    if isinstance(item, Declared):
        return _record(item, "declared", "stated, not checked", redactor)
    return _record(item, "not_run", "the step ended before this check", redactor)


def judge(
    item: Verification,
    repo: Path,
    cwd: Path,
    searches: dict[str, TextSearch],
    exit_code: int | None,
    redactor: Redactor,
) -> CheckRecord:
    """Check an item and record the result."""
    match item:
        case Declared():
            return _record(item, "declared", "stated, not checked", redactor)
        case FileExists(path):
            problem = _why_missing(repo, cwd, path)
        case FileContains(path, text):
            problem = _why_missing(repo, cwd, path) or _why_text_missing(resolve_inside(repo, str(cwd / path)), text)
        case StdoutContains(text):
            problem = None if searches[text].found else "the commands did not print it"
        case ExitCodeIs(code):
            problem = None if exit_code in (code, None) else f"the last command exited with {exit_code}"
        case CommandPasses():
            raise AssertionError("commands of checks are run, not judged here")
    return _record(item, "failed" if problem else "passed", problem or "", redactor)


def _record(
    item: Verification,
    outcome: CheckOutcome,
    detail: str,
    redactor: Redactor,
) -> CheckRecord:
    kind, expected = _described(item)
    return CheckRecord(
        kind=kind,
        expected=redactor.clean(expected),
        outcome=outcome,
        detail=redactor.clean(detail or expected),
    )


def _described(item: Verification) -> tuple[str, str]:
    match item:
        case Declared(text):
            return "declared", text
        case CommandPasses(command):
            return "command", command
        case FileExists(path):
            return "file_exists", path
        case FileContains(path, text):
            return "file_contains", f"{path}: {text}"
        case StdoutContains(text):
            return "stdout_contains", text
        case ExitCodeIs(code):
            return "exit_code", str(code)


def _why_missing(repo: Path, cwd: Path, path: str) -> str | None:
    try:
        real = resolve_inside(repo, str(cwd / path))
    except SandboxEscape:
        return f"{shown(path)} leads outside the sandbox"
    return None if real.exists() else f"{shown(path)} does not exist"


def _why_text_missing(real: Path, text: str) -> str | None:
    search = TextSearch(text)
    try:
        handle = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as problem:
        return f"the file can't be read: {problem.strerror}"
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return "the path is not a regular file"
        while not search.found and (data := os.read(handle, _CHUNK)):
            search.feed(data)
    finally:
        os.close(handle)
    return None if search.found else "the file does not contain the text"


def why_failed(number: int, exit_code: int | None, expected: int, output: str, *, has_network: bool) -> str:
    """Why the exit code of a command is wrong, with what opens the network if the output shows a failed connection."""
    instead = "" if expected == 0 else f" instead of {expected}"
    reason = f"command {number} exited with {exit_code}{instead}"
    return f"{reason}; {NEEDS_NETWORK}" if not has_network and _SIGNS.search(output) else reason
