"""Judges a step's verification items against what is really there."""

from __future__ import annotations

import os
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


class TextSearch:
    """Looks for a text in a stream without keeping the stream."""

    def __init__(self, text: str) -> None:
        self._wanted = text.encode("utf-8", "surrogateescape")
        self._carry = b""
        self.found = not self._wanted

    def feed(self, data: bytes) -> None:
        """The next chunk."""
        if self.found:
            return
        window = self._carry + data
        self.found = self._wanted in window
        self._carry = window[-(len(self._wanted) - 1) :] if len(self._wanted) > 1 else b""


def wanted_texts(step: Step) -> list[str]:
    """The texts that a step's output has to contain."""
    return [item.text for item in step.verification if isinstance(item, StdoutContains)]


def not_run(item: Verification, redactor: Redactor) -> CheckRecord:
    """The record of an item that was not looked at."""
    if isinstance(item, Declared):
        return _record(item, "declared", "stated, not checked", redactor)
    return _record(item, "not_run", "the step ended before it", redactor)


def judge(
    item: Verification,
    repo: Path,
    cwd: Path,
    searches: dict[str, TextSearch],
    exit_code: int | None,
    redactor: Redactor,
) -> CheckRecord:
    """Look, and say what was found."""
    match item:
        case Declared():
            return _record(item, "declared", "stated, not checked", redactor)
        case FileExists(path):
            problem = _why_not_there(repo, cwd, path)
        case FileContains(path, text):
            problem = _why_not_there(repo, cwd, path) or _why_not_in(resolve_inside(repo, str(cwd / path)), text)
        case StdoutContains(text):
            problem = None if searches[text].found else "the commands did not print it"
        case ExitCodeIs(code):
            problem = None if exit_code in (code, None) else f"the last command exited with {exit_code}"
        case CommandPasses():
            raise AssertionError("commands are run, not looked at")
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


def _why_not_there(repo: Path, cwd: Path, path: str) -> str | None:
    try:
        real = resolve_inside(repo, str(cwd / path))
    except SandboxEscape:
        return f"{shown(path)} leads out of the sandbox"
    return None if real.exists() else f"{shown(path)} is not there"


def _why_not_in(real: Path, text: str) -> str | None:
    search = TextSearch(text)
    try:
        handle = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as problem:
        return f"it can't be read: {problem.strerror}"
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return "it is not a regular file"
        while not search.found and (data := os.read(handle, _CHUNK)):
            search.feed(data)
    finally:
        os.close(handle)
    return None if search.found else "the text is not in it"
