"""Collects the events of Claude Code's stream of JSON lines. Pure, except for the callback that takes the usage.

The meaning of the fields was measured with the version that the tests pin; unknown events are skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from loopwright.agents.port import Usage
from loopwright.agents.program_turn import called, short
from loopwright.agents.usage import Tokens
from loopwright.kernel.clock import Clock, utc_now
from loopwright.kernel.codec import json_object

_EDITS = ("Write", "Edit", "MultiEdit", "NotebookEdit")
_ABOUT = ("file_path", "command", "pattern", "url", "description")
_MOST_LISTED = 100


def shown(line: bytes) -> str | None:
    """One line as a person reads it."""
    event = json_object(line)
    if event is None:
        return line.decode("utf-8", "replace") or None
    match event.get("type"), event.get("subtype"):
        case "system", "init":
            return f"claude {event.get('claude_code_version')}, model {event.get('model')}"
        case "system", "api_retry":
            return f"model error: {event.get('error_status') or event.get('error')}, retrying"
        case "system", "permission_denied":
            return f"denied: {event.get('tool_name')}"
        case "assistant", _:
            return "\n".join(_block_shown(block) for block in _blocks(event)) or None
        case "user", _:
            failed = [block for block in _blocks(event) if block.get("is_error")]
            return "\n".join(f"  failed: {short(block.get('content'))}" for block in failed) or None
        case "rate_limit_event", _:
            return f"rate limit: {short(event.get('rate_limit_info'))}"
        case "result", _:
            return f"ended: {event.get('terminal_reason') or event.get('subtype')}, {event.get('num_turns')} turns"
        case _:
            return None


class ClaudeStream:
    """The events of one turn."""

    def __init__(
        self, tell: Callable[[Usage], None], price: Callable[[str, Tokens], float | None], clock: Clock = utc_now
    ) -> None:
        self._clock = clock
        self._tell = tell
        self._price = price
        self._counted: set[str] = set()
        self._asked: dict[str, str] = {}
        self.session: str | None = None
        self.model = ""
        self.result: dict[str, Any] | None = None
        # The program's name for the error in its last message; empty if the message was not an error.
        self.error = ""
        self.status: int | None = None
        self.reset_at: datetime | None = None
        # When the program will retry: a refusal may say how long to wait.
        self._waits_until: datetime | None = None
        self.has_spoken = False
        # The cost reported so far.
        self.usd = 0.0
        self.files: dict[str, None] = {}

    @property
    def ends_at(self) -> datetime | None:
        """When a limit ends, if known."""
        return self.reset_at or self._waits_until

    def read(self, line: bytes) -> str | None:
        """Read one line; returns its text for a person."""
        event = json_object(line)
        if event is not None:
            self._take(event)
        return shown(line)

    def _take(self, event: Mapping[str, Any]) -> None:
        session = event.get("session_id")
        if isinstance(session, str) and session != self.session:
            self.session = session
            self._tell(Usage(session=session))
        match event.get("type"):
            case "system" if event.get("subtype") == "init":
                self.model = str(event.get("model") or "")
            case "system" if event.get("subtype") == "api_retry":
                self._refused(event)
            case "assistant":
                self._answered(event)
            case "user":
                self._done(event)
            case "rate_limit_event":
                self._limited(event.get("rate_limit_info"))
            case "result":
                self.result = dict(event)
                self.status = _status(event) or self.status
            case _:
                pass

    def _answered(self, event: Mapping[str, Any]) -> None:
        # Older versions only name the error.
        if event.get("is_api_error_message") or isinstance(event.get("error"), str):
            self.error = str(event.get("error") or "unknown")
            self.status = _status(event)
            return
        self.has_spoken, self.error, self.status = True, "", None
        self.reset_at = self._waits_until = None
        message = event.get("message")
        if not isinstance(message, dict):
            return
        name = message.get("id")
        # Each block of a message is one event, and repeats the usage of the whole message.
        if isinstance(name, str) and name not in self._counted:
            self._counted.add(name)
            tokens = tokens_in(message.get("usage"))
            usd = self._price(str(message.get("model") or self.model), tokens)
            self.usd += usd or 0.0
            self._tell(Usage(usd, tokens.total))
        for block in _blocks(event):
            place = block.get("input")
            if block.get("type") == "tool_use" and block.get("name") in _EDITS and isinstance(place, dict):
                path = place.get("file_path") or place.get("notebook_path")
                self._asked[str(block.get("id"))] = str(path)

    def _done(self, event: Mapping[str, Any]) -> None:
        for block in _blocks(event):
            path = self._asked.pop(str(block.get("tool_use_id")), None)
            if path is not None and not block.get("is_error") and len(self.files) < _MOST_LISTED:
                self.files[path] = None

    def _refused(self, event: Mapping[str, Any]) -> None:
        status, wait_ms = event.get("error_status"), event.get("retry_delay_ms")
        self.status, self.error = status if isinstance(status, int) else None, str(event.get("error") or "unknown")
        try:
            wait = timedelta(milliseconds=wait_ms) if isinstance(wait_ms, int | float) else None
            self._waits_until = self._clock() + wait if wait is not None else None
        except (ValueError, OverflowError):
            self._waits_until = None

    def _limited(self, info: object) -> None:
        if isinstance(info, dict) and info.get("status") == "rejected":
            self.reset_at = moment(info.get("resetsAt"))


def tokens_in(usage: object) -> Tokens:
    """Tokens as the provider counts them."""
    if not isinstance(usage, dict):
        return Tokens()
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
    return Tokens(*(number if isinstance(number := usage.get(name), int) else 0 for name in names))


def denials_in(result: Mapping[str, Any]) -> tuple[str, ...]:
    """The tool calls that were denied."""
    denials = result.get("permission_denials")
    listed = denials if isinstance(denials, list) else []
    calls = (denial for denial in listed if isinstance(denial, dict))
    return tuple(called(denial.get("tool_name"), denial.get("tool_input"), _ABOUT) for denial in calls)


def moment(seconds: object) -> datetime | None:
    """A Unix timestamp as a time; None if it is invalid."""
    try:
        return datetime.fromtimestamp(float(seconds), UTC) if isinstance(seconds, int | float) else None
    except (ValueError, OverflowError, OSError):
        return None


def _status(event: Mapping[str, Any]) -> int | None:
    status = event.get("api_error_status")
    return status if isinstance(status, int) else None


def _blocks(event: Mapping[str, Any]) -> list[dict[str, Any]]:
    message = event.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _block_shown(block: Mapping[str, Any]) -> str:
    if block.get("type") == "tool_use":
        return f"→ {called(block.get('name'), block.get('input'), _ABOUT)}"
    return str(block.get("text") or "")
