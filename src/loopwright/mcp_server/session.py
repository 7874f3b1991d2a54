"""The protocol: JSON-RPC 2.0, one message per line, and the answer to each method. Reads and writes nothing.

An invalid message is a value, not an exception. Slow methods get a `Cancellation`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec

from loopwright.errors import InsideAgent, LoopRefused, LoopwrightError, WorkflowRefused
from loopwright.kernel.codec import json_object
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
    """A request of the client, which waits for an answer."""

    id: Id
    method: str
    params: dict[str, Any]


class Notice(msgspec.Struct, frozen=True):
    """A notification of the client; no answer."""

    method: str
    params: dict[str, Any]


class Reply(msgspec.Struct, frozen=True):
    """An answer of the client to a request that we never made."""


class MalformedMessage(msgspec.Struct, frozen=True):
    """An invalid line, and the error to send back."""

    id: Id | None
    code: int
    message: str


Message = Call | Notice | Reply | MalformedMessage


class CallProblem(Exception):
    """A call that can't be answered: the protocol's code, a message, and data for programs."""

    def __init__(self, code: int, message: str, **data: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


def read_message(line: bytes) -> Message:
    """The message in a line."""
    try:
        document = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        return MalformedMessage(_id_in(line), PARSE_ERROR, f"not JSON: {problem}")
    if not isinstance(document, dict):
        return MalformedMessage(
            None, INVALID_REQUEST, "a message must be one JSON object per line; batches are not supported"
        )
    known = _id_of(document)
    if document.get("jsonrpc") != "2.0":
        return MalformedMessage(known, INVALID_REQUEST, 'jsonrpc must be "2.0"')
    method, given = document.get("method"), document.get("params")
    params = {} if given is None else given
    if method is None and ("result" in document or "error" in document):
        return Reply()
    if not isinstance(method, str) or not isinstance(params, dict):
        return MalformedMessage(known, INVALID_REQUEST, "method must be a string, params an object")
    if "id" not in document:
        return Notice(method, params)
    return (
        MalformedMessage(None, INVALID_REQUEST, "id must be a string or an integer")
        if known is None
        else Call(known, method, params)
    )


def _id_of(document: dict[str, Any]) -> Id | None:
    name = document.get("id")
    return name if isinstance(name, str | int) and not isinstance(name, bool) else None


def _id_in(line: bytes) -> Id | None:
    """The id in a line that is not quite JSON, for example with a lone surrogate: the client waits for an answer."""
    document = json_object(line.decode("utf-8", "replace"))
    return _id_of(document) if document is not None and "method" in document else None


def result(name: Id, content: dict[str, Any]) -> bytes:
    """An answer as a line."""
    return _line({"jsonrpc": "2.0", "id": name, "result": content})


def error(name: Id | None, code: int, message: str, data: dict[str, str] | None = None) -> bytes:
    """An error as a line."""
    content: dict[str, Any] = {"code": code, "message": message, **({"data": data} if data else {})}
    return _line({"jsonrpc": "2.0", "id": name, "error": content})


def shortened(text: str) -> str:
    """A client's text, shortened for a message of ours."""
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def _line(document: dict[str, Any]) -> bytes:
    return msgspec.json.encode(_encodable(document)) + b"\n"


def _encodable(value: Any) -> Any:
    """The value without lone surrogates, which JSON can express and UTF-8 can't."""
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case dict():
            return {_encodable(key): _encodable(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_encodable(inner) for inner in value]
        case _:
            return value


# Newest first. 2025-03-26 is left out: it requires batches, which no other version has.
VERSIONS = ("2025-11-25", "2025-06-18", "2024-11-05")
_PAGE = 100
# Calls that may take long run one at a time; all others are answered at once.
SLOW = ("tools/call", "resources/read", "resources/list")

Method = Callable[[dict[str, Any], Cancellation], dict[str, Any]]


class Session:
    """The conversation of one client with one server."""

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
        """The result of a call; `CallProblem` if there is none."""
        handler = self._methods.get(method)
        if handler is None:
            raise CallProblem(METHOD_NOT_FOUND, f"unknown method '{shortened(method)}'", error="unknown_method")
        try:
            return handler(params, cancellation)
        except CallProblem as problem:
            message, data = self._cleaned([problem.message, problem.data])
            raise CallProblem(problem.code, message, **data) from None

    def tools(self) -> list[dict[str, Any]]:
        """Every tool with its schema."""
        return [_described(tool) for tool in self._offer.tools]

    def _initialize(self, params: dict[str, Any], _: Cancellation) -> dict[str, Any]:
        version = params.get("protocolVersion")
        return {
            # An unsupported version is answered with our newest one: the client decides.
            "protocolVersion": version if version in VERSIONS else VERSIONS[0],
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
            known = ", ".join(tool.name for tool in self._offer.tools)
            raise CallProblem(
                INVALID_PARAMS, f"unknown tool '{shortened(str(name))}' (known: {known})", error="unknown_tool"
            )
        if not isinstance(arguments, dict):
            raise CallProblem(INVALID_PARAMS, "arguments must be an object", error="invalid_arguments")
        try:
            return self._content(tool.call(arguments, cancellation))
        except msgspec.ValidationError as problem:
            refused = {"error": "invalid_arguments", "message": str(problem), "next": f"see the schema of {tool.name}"}
            return self._content({"ok": False, **refused}, is_error=True)
        except LoopwrightError as problem:
            return self._content(refusal(problem), is_error=True)

    def _resources(self, params: dict[str, Any], _: Cancellation) -> dict[str, Any]:
        start = _place(params.get("cursor"))
        resources = self._offer.library.listed()
        page = [
            {"uri": resource.uri, "name": resource.name, "description": resource.description, "mimeType": resource.mime}
            for resource in resources[start : start + _PAGE]
        ]
        more = {"nextCursor": str(start + _PAGE)} if start + _PAGE < len(resources) else {}
        return {"resources": self._cleaned(page), **more}

    def _templates(self, params: dict[str, Any], _: Cancellation) -> dict[str, Any]:
        del params
        families = [
            {"uriTemplate": each.uri, "name": each.name, "description": each.description, "mimeType": each.mime}
            for each in self._offer.library.templates()
        ]
        return {"resourceTemplates": families}

    def _read(self, params: dict[str, Any], _: Cancellation) -> dict[str, Any]:
        uri = params.get("uri")
        if not isinstance(uri, str):
            raise CallProblem(INVALID_PARAMS, "uri must be a string", error="invalid_arguments")
        try:
            resource = self._offer.library.read(uri)
        except LoopwrightError as problem:
            raise CallProblem(RESOURCE_NOT_FOUND, problem.message, error=problem.code, next=problem.hint) from problem
        if resource is None:
            raise CallProblem(RESOURCE_NOT_FOUND, f"unknown resource '{shortened(uri)}'", error="unknown_resource")
        return {"contents": [{"uri": uri, "mimeType": resource.mime, "text": self._offer.clean(resource.file.text)}]}

    def _content(self, document: dict[str, Any], *, is_error: bool = False) -> dict[str, Any]:
        text = json.dumps(self._cleaned(document), ensure_ascii=False)
        return {"content": [{"type": "text", "text": text}], "isError": is_error}

    def _cleaned(self, value: Any) -> Any:
        """The value with all texts redacted: some come from agents and other tools, and some name what is hidden."""
        hide = self._offer.hide()
        return _mapped(value, lambda text: hide(self._offer.clean(text)) if text else text)


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    match value:
        case str():
            return change(value)
        case dict():
            return {key: _mapped(inner, change) for key, inner in value.items()}
        case list() | tuple():
            return [_mapped(inner, change) for inner in value]
        case _:
            return value


def refusal(problem: LoopwrightError) -> dict[str, Any]:
    """A refusal in the form of the command line's --json."""
    document: dict[str, Any] = {"ok": False, "error": problem.code, "message": problem.message, "next": problem.hint}
    match problem:
        case WorkflowRefused():
            blockers = [{"code": code, "message": text, "next": way} for code, text, way in problem.blockers]
            return {**document, "error": problem.error, "blockers": blockers}
        case LoopRefused():
            return {**document, "error": problem.blocker}
        case InsideAgent():
            return {**document, "next": "ask the person you work for"}
        case _:
            return document


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
    raise CallProblem(INVALID_PARAMS, "invalid cursor", error="invalid_arguments")
