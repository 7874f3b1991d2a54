"""Collects Codex's events from standard output, and what they leave out from the session's file.

The events have no error codes, and no usage before the end; the session's file has both while the turn runs. The file
is in the agent's home, so its content is not trusted. Unknown events are skipped.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from loopwright.agents.port import Usage
from loopwright.agents.program_turn import Followed, short
from loopwright.agents.usage import Tokens, is_session
from loopwright.kernel.codec import json_object

_MOST_LISTED = 100
_FULL = 100.0
_STATUS = re.compile(r"\bstatus:? (\d{3})\b")


def shown(line: bytes) -> str | None:
    """One line as a person reads it."""
    event = json_object(line)
    if event is None:
        return line.decode("utf-8", "replace") or None
    match event.get("type"):
        case "item.completed":
            return _item_shown(event.get("item"))
        case "turn.failed":
            return f"failed: {short(_message(event.get('error')))}"
        case "turn.completed":
            return "ended"
        case _:
            return None


def session_file(home: Path, session: str) -> Path | None:
    """The file of a session."""
    if not is_session(session):
        return None
    return next(iter(sorted(home.glob(f"sessions/*/*/*/rollout-*-{session}.jsonl"))), None)


class CodexStream:
    """The events of one turn, completed by the session's file."""

    def __init__(
        self,
        home: Path | None,
        tell: Callable[[Usage], None],
        price: Callable[[Tokens], float | None],
        session: str | None = None,
    ) -> None:
        self._lock = threading.Lock()
        self._home = home
        self._tell = tell
        self._price = price
        self.session: str | None = session
        self._kept = Followed(self._session_file())
        # The session's total: at the end of an earlier turn, then as last seen. None is unknown.
        self._total = _last_total(self._kept.earlier())
        # What the total grew by in this turn, by the session's file; None while the file says nothing.
        self._grown: Tokens | None = None
        self._total_at_end: Tokens | None = None
        self._total_before = self._total or Tokens()
        self.text = ""
        self.is_completed = False
        self.failure: str | None = None
        self.code = ""
        self._status_in_file: int | None = None
        self._status_in_event: int | None = None
        self.reset_at: datetime | None = None
        self.files: dict[str, None] = {}

    @property
    def tokens(self) -> Tokens:
        """What this turn used. Every number that Codex gives is a total of the whole session."""
        if self._grown is None and self._total_at_end is not None:
            return self._total_at_end.since(self._total_before)
        return self._grown or Tokens()

    @property
    def status(self) -> int | None:
        """The HTTP status of the failure; the session's file knows it better than the event."""
        return self._status_in_file or self._status_in_event

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
            for record in self._kept.new_records(self._session_file):
                if isinstance(payload := record.get("payload"), dict):
                    self._note(payload)

    def _session_file(self) -> Path | None:
        return session_file(self._home, self.session) if self._home is not None and self.session is not None else None

    def _take(self, event: Mapping[str, Any]) -> None:
        match event.get("type"):
            case "thread.started":
                thread = event.get("thread_id")
                if isinstance(thread, str) and is_session(thread):
                    self.session = thread
                    self._tell(Usage(session=thread))
            case "item.completed":
                self._item(event.get("item"))
            case "turn.completed":
                self.is_completed = True
                self._total_at_end = tokens_in(event.get("usage"))
            case "turn.failed":
                self.failure = _message(event.get("error"))
                # The session's file has the code; older versions only have this message.
                match = _STATUS.search(self.failure)
                self._status_in_event = int(match[1]) if match is not None else None
            case _:
                pass

    def _item(self, item: object) -> None:
        if not isinstance(item, dict):
            return
        if item.get("type") == "agent_message":
            self.text = str(item.get("text") or "")
        elif item.get("type") == "file_change" and item.get("status") == "completed":
            changes = item.get("changes")
            for change in changes if isinstance(changes, list) else []:
                if isinstance(change, dict) and len(self.files) < _MOST_LISTED:
                    self.files[str(change.get("path"))] = None

    def _note(self, payload: Mapping[str, Any]) -> None:
        match payload.get("type"):
            case "token_count":
                info, limits = payload.get("info"), payload.get("rate_limits")
                self.reset_at = _reset(limits) or self.reset_at
                if isinstance(info, dict):
                    self._charge(info)
            case "task_complete" if isinstance(error := payload.get("error"), dict):
                self.code, status = _code(error.get("codex_error_info"))
                self._status_in_file = status or self._status_in_file
            case _:
                pass

    def _charge(self, info: Mapping[str, Any]) -> None:
        """Codex repeats a count, for example when it is ended: only what the total grew by is charged."""
        total = tokens_in(info.get("total_token_usage"))
        before = self._total if self._total is not None else total.since(tokens_in(info.get("last_token_usage")))
        grown = total.since(before)
        self._total, self._grown = total, (self._grown or Tokens()) + grown
        if grown.total:
            self._tell(Usage(self._price(grown), grown.total))


def tokens_in(usage: object) -> Tokens:
    """Tokens as Codex counts them: cached tokens are part of the input."""
    if not isinstance(usage, dict):
        return Tokens()
    names = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens")
    whole, cached, written, output = (number if isinstance(number := usage.get(name), int) else 0 for name in names)
    return Tokens(max(0, whole - cached - written), cached, written, output)


def _last_total(records: Iterable[Mapping[str, Any]]) -> Tokens | None:
    """The session's total as the last of these records has it."""
    total = None
    for record in records:
        payload = record.get("payload")
        info = payload.get("info") if isinstance(payload, dict) and payload.get("type") == "token_count" else None
        if isinstance(info, dict):
            total = tokens_in(info.get("total_token_usage"))
    return total


def _code(info: object) -> tuple[str, int | None]:
    """`usage_limit_exceeded`, or `{"http_connection_failed": {"http_status_code": 401}}`."""
    if isinstance(info, str):
        return info, None
    if isinstance(info, dict) and len(info) == 1:
        name, more = next(iter(info.items()))
        status = more.get("http_status_code") if isinstance(more, dict) else None
        return str(name), status if isinstance(status, int) else None
    return "", None


def _reset(limits: object) -> datetime | None:
    """When the last of the used-up limits resets."""
    windows = [limits.get(name) for name in ("primary", "secondary")] if isinstance(limits, dict) else []
    ends = [
        end
        for window in windows
        if isinstance(window, dict)
        and isinstance(used := window.get("used_percent"), int | float)
        and used >= _FULL
        and isinstance(end := window.get("resets_at"), int | float)
    ]
    try:
        return datetime.fromtimestamp(max(ends), UTC) if ends else None
    except (ValueError, OverflowError, OSError):
        return None


def _item_shown(item: object) -> str | None:
    if not isinstance(item, dict):
        return None
    match item.get("type"):
        case "agent_message":
            return str(item.get("text") or "") or None
        case "command_execution":
            return f"→ {short(item.get('command'))} (exit {item.get('exit_code')})"
        case "file_change":
            changes = item.get("changes")
            paths = (
                [str(change.get("path")) for change in changes if isinstance(change, dict)]
                if isinstance(changes, list)
                else []
            )
            return f"→ changed {', '.join(paths)}"
        case "error":
            return f"note: {short(item.get('message'))}"
        case "mcp_tool_call":
            return f"→ {item.get('server')}: {item.get('tool')}"
        case _:
            return None


def _message(error: object) -> str:
    return str(error.get("message") or "") if isinstance(error, dict) else str(error)
