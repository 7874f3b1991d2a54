"""JSON-RPC 2.0, a message a line. Pure: bytes in, typed messages out; what is none is a value, no exception."""

from __future__ import annotations

import json
from typing import Any

import msgspec

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002

Id = str | int
_MOST_SHOWN = 80


class Call(msgspec.Struct, frozen=True):
    """Somebody wants an answer."""

    id: Id
    method: str
    params: dict[str, Any]


class Notice(msgspec.Struct, frozen=True):
    """Somebody tells us something."""

    method: str
    params: dict[str, Any]


class Reply(msgspec.Struct, frozen=True):
    """An answer to something that we never asked."""


class MalformedMessage(msgspec.Struct, frozen=True):
    """No message; the error that says so, to whom it can be told."""

    id: Id | None
    code: int
    message: str


Message = Call | Notice | Reply | MalformedMessage


class CallProblem(Exception):
    """A call that can't be answered: the protocol's code, a sentence, and what programs want to know of it."""

    def __init__(self, code: int, message: str, **data: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


def read_message(line: bytes) -> Message:
    """What a line says."""
    try:
        document = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        return MalformedMessage(_id_in(line), PARSE_ERROR, f"not JSON: {problem}")
    if not isinstance(document, dict):
        return MalformedMessage(
            None, INVALID_REQUEST, "a message is one JSON object a line; batches are not spoken here"
        )
    known = _id_of(document)
    if document.get("jsonrpc") != "2.0":
        return MalformedMessage(known, INVALID_REQUEST, 'jsonrpc must be "2.0"')
    method, given = document.get("method"), document.get("params")
    params = {} if given is None else given
    if method is None and ("result" in document or "error" in document):
        return Reply()
    if not isinstance(method, str) or not isinstance(params, dict):
        return MalformedMessage(known, INVALID_REQUEST, "method must be a text, params an object")
    if "id" not in document:
        return Notice(method, params)
    return (
        MalformedMessage(None, INVALID_REQUEST, "id must be a text or a whole number")
        if known is None
        else Call(known, method, params)
    )


def _id_of(document: dict[str, Any]) -> Id | None:
    name = document.get("id")
    return name if isinstance(name, str | int) and not isinstance(name, bool) else None


def _id_in(line: bytes) -> Id | None:
    """Who asks, in a line that is not quite JSON (half a character in a text, say): they wait for an answer."""
    try:
        document = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return _id_of(document) if isinstance(document, dict) and "method" in document else None


def result(name: Id, content: dict[str, Any]) -> bytes:
    """An answer as a line."""
    return _line({"jsonrpc": "2.0", "id": name, "result": content})


def error(name: Id | None, code: int, message: str, data: dict[str, str] | None = None) -> bytes:
    """That there is none, as a line."""
    said: dict[str, Any] = {"code": code, "message": message, **({"data": data} if data else {})}
    return _line({"jsonrpc": "2.0", "id": name, "error": said})


def shortened(text: str) -> str:
    """Somebody's words in a sentence of ours."""
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def _line(document: dict[str, Any]) -> bytes:
    return msgspec.json.encode(_encodable(document)) + b"\n"


def _encodable(value: Any) -> Any:
    """Without halves of characters, which JSON can name and UTF-8 can't hold."""
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case dict():
            return {_encodable(key): _encodable(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_encodable(inner) for inner in value]
        case _:
            return value
