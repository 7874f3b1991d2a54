"""Collects opencode's events from its stream of JSON lines. Our plugin in opencode adds events about refusals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from loopwright.agents.port import CostSource, Usage
from loopwright.agents.program_turn import called, count, short
from loopwright.agents.usage import Tokens, is_session
from loopwright.kernel.codec import json_object

_MOST_LISTED = 100
_ABOUT = ("filePath", "command", "pattern", "url", "description")
_EDITS = ("write", "edit", "apply_patch")
# Tools that are missing when they are not allowed; a call of one is named "invalid".
_GUARDED = (*_EDITS, "bash", "webfetch", "websearch")
# The program has no codes for denied calls: only these texts.
_DENIED = ("The user has specified a rule which prevents you", "The user rejected permission")


def shown(line: bytes) -> str | None:
    """One line as a person reads it."""
    event = json_object(line)
    if event is None:
        return line.decode("utf-8", "replace") or None
    part = _part(event)
    match event.get("type"):
        case "text":
            return str(part.get("text") or "") or None
        case "tool_use":
            return _tool_shown(part)
        case "error":
            return f"failed: {short(_message(event.get('error')))}"
        case "loopwright":
            return f"model error: {event.get('status') or event.get('message')}"
        case "step_finish" if part.get("reason") != "tool-calls":
            return f"ended: {part.get('reason')}"
        case _:
            return None


class OpencodeStream:
    """The events of one turn."""

    def __init__(
        self, tell: Callable[[Usage], None], price: Callable[[Tokens], float | None], session: str | None = None
    ) -> None:
        self._tell = tell
        self._price = price
        self.session = session
        self.has_begun = False
        self.tokens = Tokens()
        # By opencode's own price list if it knows the model, else by ours.
        self.usd: float | None = None
        self._is_reported = True
        self.text = ""
        # Why the last answer ended; empty while an answer is being written.
        self.reason = ""
        self.error = ""
        self.failure = ""
        self.status: int | None = None
        self.wait_s = 0.0
        self.denials: dict[str, None] = {}
        self.files: dict[str, None] = {}

    def read(self, line: bytes) -> str | None:
        """Read one line; returns its text for a person."""
        event = json_object(line)
        if event is not None:
            self._take(event)
        return shown(line)

    @property
    def price(self) -> CostSource:
        """The source of the cost."""
        if self.usd is None:
            return "unknown"
        return "reported" if self._is_reported else "computed"

    def reset_after(self, now: datetime) -> datetime | None:
        """When the limit ends, if the model's answer said that."""
        try:
            return now + timedelta(seconds=self.wait_s) if self.wait_s > 0 else None
        except OverflowError:
            return None

    def _take(self, event: Mapping[str, Any]) -> None:
        session = event.get("sessionID")
        if isinstance(session, str) and is_session(session) and not (self.has_begun and session == self.session):
            self.session, self.has_begun = session, True
            self._tell(Usage(session=session))
        part = _part(event)
        match event.get("type"):
            case "step_start":
                self.reason, self.text = "", ""
            case "text":
                self.text = str(part.get("text") or "")
            case "tool_use":
                self._called(part)
            case "step_finish":
                self._finished(part)
            case "error":
                self._failed(event.get("error"))
            case "loopwright":
                status, wait_s = event.get("status"), event.get("wait_s")
                self.status = status if isinstance(status, int) and status else None
                self.wait_s = float(wait_s) if isinstance(wait_s, int | float) else 0.0
                if event.get("given_up"):
                    self.error = "given up"
                    self.failure = str(event.get("message") or f"the model answered with status {self.status}")
            case _:
                pass

    def _finished(self, part: Mapping[str, Any]) -> None:
        self.reason = str(part.get("reason") or "")
        if self.reason != "unknown":
            self.status = None
        used, cost = part.get("tokens"), part.get("cost")
        cache = used.get("cache") if isinstance(used, dict) else None
        output = count(used, "output") + count(used, "reasoning")
        tokens = Tokens(count(used, "input"), count(cache, "read"), count(cache, "write"), output)
        self.tokens += tokens
        reported = float(cost) if isinstance(cost, int | float) and cost > 0 else None
        self._is_reported = self._is_reported and reported is not None
        usd = self._price(tokens) if reported is None else reported
        self.usd = self.usd if usd is None else (self.usd or 0.0) + usd
        self._tell(Usage(usd, tokens.total))

    def _called(self, part: Mapping[str, Any]) -> None:
        state = part.get("state")
        given = state.get("input") if isinstance(state, dict) else None
        name = str(part.get("tool"))
        if not isinstance(state, dict) or not isinstance(given, dict):
            return
        if name == "invalid" and given.get("tool") in _GUARDED:
            self.denials[str(given.get("tool"))] = None
        elif state.get("status") == "error" and str(state.get("error")).startswith(_DENIED):
            self.denials[called(name, given, _ABOUT)] = None
        elif state.get("status") == "completed" and name in _EDITS and len(self.files) < _MOST_LISTED:
            self.files[str(given.get("filePath"))] = None

    def _failed(self, error: object) -> None:
        self.error = str(error.get("name") or "") if isinstance(error, dict) else "error"
        self.failure = _message(error)
        data = error.get("data") if isinstance(error, dict) else None
        status = data.get("statusCode") if isinstance(data, dict) else None
        self.status = status if isinstance(status, int) else self.status


def _part(event: Mapping[str, Any]) -> Mapping[str, Any]:
    part = event.get("part")
    return part if isinstance(part, dict) else {}


def _tool_shown(part: Mapping[str, Any]) -> str:
    state = part.get("state")
    done = state if isinstance(state, dict) else {}
    text = f"→ {called(part.get('tool'), done.get('input'), _ABOUT)}"
    return f"{text}\n  failed: {short(done.get('error'))}" if done.get("status") == "error" else text


def _message(error: object) -> str:
    data = error.get("data") if isinstance(error, dict) else None
    message = data.get("message") if isinstance(data, dict) else None
    name = error.get("name") if isinstance(error, dict) else error
    return f"{name}: {message}" if message else str(name)
