"""Collects Gemini CLI's events from standard output, and what they leave out from the session's file.

The events report the usage only at the end, and repeat a broken answer's text when it is retried; the session's file
has each answer once, with its usage. Unknown events are skipped.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from loopwright.agents.port import Usage
from loopwright.agents.program_turn import Followed, called, count, short, whole_lines
from loopwright.agents.usage import Tokens, is_session
from loopwright.kernel.codec import json_object

_MOST_LISTED = 100
_ABOUT = ("file_path", "command", "pattern", "url", "query", "description")
_EDITS = ("write_file", "replace")
# Tools that are not registered when they are not allowed.
_GUARDED = (*_EDITS, "run_shell_command", "google_web_search", "web_fetch")
_DENIED = ("policy_violation", "permission_denied", "path_not_in_workspace")
# The program has no codes for a blocked answer or for a delay: only these texts.
_BLOCKED = "The model response was blocked due to "
# The end of each answer in the program's telemetry; the events do not report it. The agent can write to that file, so
# every part of the pattern is bounded.
_ENDINGS = re.compile(rb'"event\.name": "gemini_cli\.api_response"[^{}]{0,1500}?"finish_reasons": \[([^\]]{0,200})\]')
_CONTENT_FILTER = b'"content_filter"'
_MOST_TELEMETRY = 1 << 20
_DELAY = re.compile(r"\b(?:retry (?:after|in)|reset after) ((?:[\d.]+(?:ms|h|m|s))+)")
_PART = re.compile(r"([\d.]+)(ms|h|m|s)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def shown(line: bytes) -> str | None:
    """One line as a person reads it."""
    event = json_object(line)
    if event is None:
        return line.decode("utf-8", "replace") or None
    match event.get("type"):
        case "init":
            return f"gemini, model {event.get('model')}"
        case "message" if event.get("role") == "assistant":
            return str(event.get("content") or "") or None
        case "tool_use":
            return f"→ {called(event.get('tool_name'), event.get('parameters'), _ABOUT)}"
        case "tool_result" if event.get("status") == "error":
            return f"  failed: {short(_message(event.get('error')))}"
        case "error":
            return f"{event.get('severity')}: {short(event.get('message'))}"
        case "result":
            message = _message(event.get("error"))
            return f"ended: {event.get('status')}" + (f", {short(message)}" if message else "")
        case _:
            return None


def session_file(home: Path, session: str) -> Path | None:
    """The file of a session."""
    if not is_session(session):
        return None
    paths = sorted(home.glob(f".gemini/tmp/*/chats/session-*-{session[:8]}.jsonl"))
    return next((path for path in paths if _is_of(path, session)), None)


def was_blocked(telemetry: Path) -> bool:
    """Whether a content filter ended the last answer, even after its first words; False if unknown."""
    try:
        handle = os.open(telemetry, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            file.seek(max(0, os.fstat(handle).st_size - _MOST_TELEMETRY))
            endings = _ENDINGS.findall(file.read(_MOST_TELEMETRY))
    except OSError:
        return False
    return bool(endings) and _CONTENT_FILTER in endings[-1]


class GeminiStream:
    """The events of one turn, completed by the session's file."""

    def __init__(
        self,
        home: Path,
        session: str,
        tell: Callable[[Usage], None],
        price: Callable[[str, Tokens], float | None],
    ) -> None:
        self._lock = threading.Lock()
        self._home = home
        self._tell = tell
        self._price = price
        self._kept = Followed(session_file(home, session))
        # An answer of an earlier turn may be written again in this one; it was charged there.
        self._counted = {str(record.get("id")) for record in self._kept.earlier() if "tokens" in record}
        self._called: dict[str, tuple[str, object]] = {}
        self.session = session
        self.has_begun = False
        # The text since the last tool; the session's file has it more reliably.
        self._streamed = ""
        self._answer: str | None = None
        self.by_model: dict[str, Tokens] = {}
        # "success" or "error"; None for an end without a result.
        self.status: str | None = None
        self.failure = ""
        self.is_blocked = False
        self.denials: dict[str, None] = {}
        self.files: dict[str, None] = {}

    @property
    def text(self) -> str:
        """The answer's text."""
        return self._streamed if self._answer is None else self._answer

    @property
    def reason(self) -> str:
        """The reason in the API's error, if the program passes it on."""
        return str(_detail(self.failure, "reason") or "")

    @property
    def code(self) -> int | None:
        """The status in that error."""
        code = _error(self.failure).get("code")
        return code if isinstance(code, int) else None

    @property
    def tokens(self) -> Tokens:
        """The usage of all models."""
        return sum(self.by_model.values(), Tokens())

    def read(self, line: bytes) -> str | None:
        """Read one line; returns its text for a person."""
        event = json_object(line)
        if event is not None:
            self._take(event)
            self.look()
        return shown(line)

    def look(self) -> None:
        """Read what was added to the session's file; the meter calls this from its own thread."""
        with self._lock:
            for record in self._kept.new_records(lambda: session_file(self._home, self.session)):
                if record.get("type") == "gemini":
                    self._answered(record)

    def reset_after(self, now: datetime) -> datetime | None:
        """When the limit in the failure's message ends."""
        delay, match = _detail(self.failure, "retryDelay"), _DELAY.search(self.failure)
        text = delay if isinstance(delay, str) else match[1] if match is not None else ""
        try:
            seconds = sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
            return now + timedelta(seconds=seconds) if seconds else None
        except (ValueError, OverflowError):
            return None

    def _take(self, event: Mapping[str, Any]) -> None:
        match event.get("type"):
            case "init":
                self.has_begun = True
            case "message" if event.get("role") == "assistant":
                self._streamed += str(event.get("content") or "")
            case "tool_use":
                self._streamed, self._answer = "", None
                self._called[str(event.get("tool_id"))] = str(event.get("tool_name")), event.get("parameters")
            case "tool_result":
                self._done(event)
            case "error" if event.get("severity") == "error":
                self.failure = str(event.get("message") or "")
                self.is_blocked = self.failure.startswith(_BLOCKED)
            case "result":
                self._ended(event)
            case _:
                pass

    def _done(self, event: Mapping[str, Any]) -> None:
        name, given = self._called.pop(str(event.get("tool_id")), ("", None))
        error = event.get("error")
        kind = error.get("type") if isinstance(error, dict) else None
        if kind in _DENIED or (kind == "tool_not_registered" and name in _GUARDED):
            self.denials[called(name, given, _ABOUT)] = None
        elif kind is None and name in _EDITS and isinstance(given, dict) and len(self.files) < _MOST_LISTED:
            self.files[str(given.get("file_path"))] = None

    def _answered(self, record: Mapping[str, Any]) -> None:
        """Count an answer once: the file repeats it when its tools are done."""
        name, tokens = str(record.get("id")), record.get("tokens")
        self._answer = str(record.get("content") or "")
        if name in self._counted or not isinstance(tokens, dict):
            return
        self._counted.add(name)
        cached = count(tokens, "cached")
        used = Tokens(
            max(0, count(tokens, "input") - cached), cached, 0, count(tokens, "total") - count(tokens, "input")
        )
        self._tell(Usage(self._price(str(record.get("model") or ""), used), used.total))

    def _ended(self, event: Mapping[str, Any]) -> None:
        self.status = str(event.get("status") or "")
        self.failure = _message(event.get("error")) or self.failure
        stats = event.get("stats")
        models = stats.get("models") if isinstance(stats, dict) else None
        for model, used in models.items() if isinstance(models, dict) else ():
            whole, fresh, cached = (count(used, name) for name in ("input_tokens", "input", "cached"))
            self.by_model[str(model)] = Tokens(fresh, cached, 0, max(0, count(used, "total_tokens") - whole))


def _detail(message: str, name: str) -> object:
    """A field of the API error's details, if the program passes them on."""
    details = _error(message).get("details")
    listed = [detail for detail in details if isinstance(detail, dict)] if isinstance(details, list) else []
    return next((detail[name] for detail in listed if name in detail), None)


def _error(message: str) -> Mapping[str, Any]:
    document = json_object(message[message.find("{") : message.rfind("}") + 1].encode())
    error = document.get("error") if document is not None else None
    return error if isinstance(error, dict) else {}


def _is_of(path: Path, session: str) -> bool:
    head = json_object(whole_lines(path, 0).partition(b"\n")[0])
    return head is not None and head.get("sessionId") == session


def _message(error: object) -> str:
    if isinstance(error, dict):
        return str(error.get("message") or "")
    return "" if error is None else json.dumps(error, default=str)
