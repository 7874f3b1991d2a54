"""The protocol: JSON-RPC 2.0, one message per line, and the answer to each method. Reads and writes nothing.

An invalid message is a value, not an exception. Slow methods get a `Cancellation`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec

from loopwright.errors import InsideAgent, LoopRefused, LoopwrightError, WorkflowRefused
from loopwright.kernel.process import Cancellation
from loopwright.mcp_server.model import Offer, Tool
from loopwright.version import VERSION

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


# Newest first. 2025-03-26 is left out: it demands batches, which no other version has.
VERSIONS = ("2025-11-25", "2025-06-18", "2024-11-05")
_PAGE = 100
# The only calls that may take long, and are therefore taken in turn; all others are answered at once.
SLOW = ("tools/call", "resources/read", "resources/list")

Method = Callable[[dict[str, Any], Cancellation], dict[str, Any]]


class Session:
    """One client's talk with one server."""

    def __init__(self, offer: Offer) -> None:
        self._offer = offer
        self._methods: dict[str, Method] = {
            "initialize": self._initialize,
            "ping": lambda *_: {},
            "tools/list": self._tools,
            "tools/call": self._call,
            "resources/list": self._resources,
            "resources/templates/list": self._templates,
            "resources/read": self._read,
        }

    def answer(self, method: str, params: dict[str, Any], cancellation: Cancellation) -> dict[str, Any]:
        """The result of a call; `Problem` where there is none."""
        found = self._methods.get(method)
        if found is None:
            raise CallProblem(METHOD_NOT_FOUND, f"there is no method '{shortened(method)}'", error="unknown_method")
        return found(params, cancellation)

    def tools(self) -> list[dict[str, Any]]:
        """Every tool with its schema."""
        return [_described(tool) for tool in self._offer.tools]

    def _initialize(self, params: dict[str, Any], _: Cancellation) -> dict[str, Any]:
        wanted = params.get("protocolVersion")
        return {
            # A version that we do not speak is answered by the newest that we do: the client decides.
            "protocolVersion": wanted if wanted in VERSIONS else VERSIONS[0],
            "capabilities": {"tools": {}, "resources": {}},
            "serverInfo": {"name": "loopwright", "title": "Loopwright", "version": VERSION},
            "instructions": self._offer.instructions,
        }

    def _tools(self, params: dict[str, Any], _: Cancellation) -> dict[str, Any]:
        del params
        return {"tools": self.tools()}

    def _call(self, params: dict[str, Any], cancellation: Cancellation) -> dict[str, Any]:
        name, given = params.get("name"), params.get("arguments")
        arguments = {} if given is None else given
        tool = self._offer.tool(name) if isinstance(name, str) else None
        if tool is None:
            known = ", ".join(one.name for one in self._offer.tools)
            raise CallProblem(
                INVALID_PARAMS, f"there is no tool '{shortened(str(name))}' (there are: {known})", error="unknown_tool"
            )
        if not isinstance(arguments, dict):
            raise CallProblem(INVALID_PARAMS, "arguments must be an object", error="invalid_arguments")
        try:
            return self._content(tool.call(arguments, cancellation))
        except msgspec.ValidationError as problem:
            said = {"error": "invalid_arguments", "message": str(problem), "next": f"see the schema of {tool.name}"}
            return self._content({"ok": False, **said}, is_error=True)
        except LoopwrightError as problem:
            return self._content(refusal(problem), is_error=True)

    def _resources(self, params: dict[str, Any], _: Cancellation) -> dict[str, Any]:
        start = _place(params.get("cursor"))
        found = self._offer.library.listed()
        listed = [
            {"uri": one.uri, "name": one.name, "description": one.description, "mimeType": one.mime}
            for one in found[start : start + _PAGE]
        ]
        more = {"nextCursor": str(start + _PAGE)} if start + _PAGE < len(found) else {}
        return {"resources": listed, **more}

    def _templates(self, params: dict[str, Any], _: Cancellation) -> dict[str, Any]:
        del params
        families = [
            {"uriTemplate": one.uri, "name": one.name, "description": one.description, "mimeType": one.mime}
            for one in self._offer.library.templates()
        ]
        return {"resourceTemplates": families}

    def _read(self, params: dict[str, Any], _: Cancellation) -> dict[str, Any]:
        uri = params.get("uri")
        if not isinstance(uri, str):
            raise CallProblem(INVALID_PARAMS, "uri must be a text", error="invalid_arguments")
        try:
            found = self._offer.library.read(uri)
        except LoopwrightError as problem:
            raise CallProblem(RESOURCE_NOT_FOUND, problem.message, error=problem.code, next=problem.hint) from problem
        if found is None:
            raise CallProblem(RESOURCE_NOT_FOUND, f"there is no resource '{shortened(uri)}'", error="unknown_resource")
        return {"contents": [{"uri": uri, "mimeType": found.mime, "text": self._offer.clean(found.text)}]}

    def _content(self, document: dict[str, Any], *, is_error: bool = False) -> dict[str, Any]:
        text = json.dumps(self._cleaned(document), ensure_ascii=False)
        return {"content": [{"type": "text", "text": text}], "isError": is_error}

    def _cleaned(self, value: Any) -> Any:
        """Every text that leaves goes through the redactor: some of it was written by others."""
        match value:
            case str():
                return self._offer.clean(value) if value else value
            case dict():
                return {key: self._cleaned(inner) for key, inner in value.items()}
            case list() | tuple():
                return [self._cleaned(inner) for inner in value]
            case _:
                return value


def refusal(problem: LoopwrightError) -> dict[str, Any]:
    """A refusal as the command line's --json says it."""
    said: dict[str, Any] = {"ok": False, "error": problem.code, "message": problem.message, "next": problem.hint}
    match problem:
        case WorkflowRefused():
            blockers = [{"code": code, "message": text, "next": way} for code, text, way in problem.blockers]
            return {**said, "error": problem.error, "blockers": blockers}
        case LoopRefused():
            return {**said, "error": problem.blocker}
        case InsideAgent():
            return {**said, "next": "ask the person you work for"}
        case _:
            return said


def _described(tool: Tool[Any]) -> dict[str, Any]:
    hints = {"readOnlyHint": tool.is_reading, "destructiveHint": False, "openWorldHint": False}
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.schema(),
        "annotations": hints,
    }


def _place(cursor: object) -> int:
    if cursor is None:
        return 0
    if isinstance(cursor, str) and cursor.isascii() and cursor.isdigit() and len(cursor) < 10:
        return int(cursor)
    raise CallProblem(INVALID_PARAMS, "that cursor is not one of ours", error="invalid_arguments")
