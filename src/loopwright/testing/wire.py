"""The wire formats of model providers: a turn as events of each provider's streaming format. Pure.

The number of model turns in a request's conversation chooses the next turn, so no state is needed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

Event = tuple[str, Mapping[str, Any]]
_TOKENS_IN, _TOKENS_OUT = 100, 20


class ToolUse(msgspec.Struct, frozen=True):
    """A tool that the model calls."""

    name: str
    input: Mapping[str, Any]
    # Codex calls a tool of an MCP server by its name in the server's namespace.
    namespace: str = ""


class WireFault(msgspec.Struct, frozen=True):
    """How a model's answer fails: with an HTTP status, or with a stream that breaks or stalls."""

    status: int | None = None
    headers: Mapping[str, str] = {}
    kind: str = "error"
    message: str = "as written"
    # More fields of the error in the body.
    more: Mapping[str, Any] = {}
    is_cut: bool = False
    is_still: bool = False


class ModelTurn(msgspec.Struct, frozen=True):
    """One answer of the model: text, tool calls, or both; or a failure."""

    text: str = ""
    tools: tuple[ToolUse, ...] = ()
    trouble: WireFault | None = None
    # Whether the model or a content filter refuses to continue.
    is_refused: bool = False


class Wire:
    """One provider's format: how to count the turns so far, and how to send the next turn or a failure."""

    # The ending of a request's path in this format.
    path: str

    def turns_so_far(self, body: Mapping[str, Any]) -> int:
        """The number of model turns in the conversation."""
        raise NotImplementedError

    def events(self, turn: ModelTurn, model: str, number: int) -> Iterator[Event]:
        """The turn as server-sent events."""
        raise NotImplementedError

    def framed(self, event: Event, number: int) -> bytes:
        """The bytes of one event; `number` is its place in the stream."""
        kind, data = event
        payload = json.dumps({"type": kind, "sequence_number": number, **data})
        return f"event: {kind}\ndata: {payload}\n\n".encode()

    def refusal(self, trouble: WireFault, status: int) -> Mapping[str, Any]:
        """The body of an error answer."""
        del status
        error = {"type": trouble.kind, "code": trouble.kind, "message": trouble.message, **trouble.more}
        return {"type": "error", "error": error}

    def model_in(self, path: str, body: Mapping[str, Any]) -> str:
        """The requested model."""
        del path
        return str(body.get("model", "scripted"))

    def is_streamed(self, path: str, body: Mapping[str, Any]) -> bool:
        """Whether a request asks for a stream."""
        del path, body
        return True

    def whole(self, turn: ModelTurn, model: str, number: int) -> Mapping[str, Any]:
        """The turn in one piece, for a request without a stream."""
        raise NotImplementedError


class AnthropicMessages(Wire):
    """POST /v1/messages, as Claude Code uses it."""

    path = "/messages"

    def turns_so_far(self, body: Mapping[str, Any]) -> int:
        """Each assistant message is a turn."""
        return sum(message["role"] == "assistant" for message in body.get("messages", ()))

    def events(self, turn: ModelTurn, model: str, number: int) -> Iterator[Event]:
        """A message of blocks: each is opened, filled by one delta, and closed."""
        usage = {"input_tokens": _TOKENS_IN, "output_tokens": _TOKENS_OUT}
        message: dict[str, Any] = {
            "id": f"msg_{number}", "type": "message", "role": "assistant", "model": model, "content": [],
            "stop_reason": None, "stop_sequence": None, "usage": usage,
        }  # fmt: skip
        yield "message_start", {"message": message}
        blocks: list[tuple[dict[str, Any], dict[str, Any]]] = []
        if turn.text:
            blocks.append(({"type": "text", "text": ""}, {"type": "text_delta", "text": turn.text}))
        for at, tool in enumerate(turn.tools):
            opened = {"type": "tool_use", "id": f"toolu_{number}_{at}", "name": tool.name, "input": {}}
            blocks.append((opened, {"type": "input_json_delta", "partial_json": json.dumps(tool.input)}))
        for index, (opened, delta) in enumerate(blocks):
            yield "content_block_start", {"index": index, "content_block": opened}
            yield "content_block_delta", {"index": index, "delta": delta}
            yield "content_block_stop", {"index": index}
        reason = "refusal" if turn.is_refused else "tool_use" if turn.tools else "end_turn"
        yield "message_delta", {"delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}
        yield "message_stop", {}


class OpenAIResponses(Wire):
    """POST /v1/responses, as Codex uses it."""

    path = "/responses"
    _OWN_ITEMS = ("function_call", "custom_tool_call", "local_shell_call", "reasoning")

    def turns_so_far(self, body: Mapping[str, Any]) -> int:
        """Consecutive items of the model are one turn."""
        content = body.get("input", ())
        items: Sequence[Any] = content if isinstance(content, list) else ()
        own = [item.get("role") == "assistant" or item.get("type") in self._OWN_ITEMS for item in items]
        return sum(now and not before for before, now in zip([False, *own], own, strict=False))

    def events(self, turn: ModelTurn, model: str, number: int) -> Iterator[Event]:
        """A response of items: each is added and done."""
        response = {"id": f"resp_{number}", "object": "response", "model": model, "output": []}
        items: list[dict[str, Any]] = []
        if turn.text:
            content = [{"type": "output_text", "text": turn.text, "annotations": []}]
            items.append({"type": "message", "id": f"msg_{number}", "role": "assistant", "content": content})
        for at, tool in enumerate(turn.tools):
            call = f"call_{number}_{at}"
            arguments = json.dumps(tool.input)
            items.append(
                {
                    "type": "function_call",
                    "id": f"fc_{call}",
                    "call_id": call,
                    "name": tool.name,
                    **({"namespace": tool.namespace} if tool.namespace else {}),
                    "arguments": arguments,
                }
            )
        yield "response.created", {"response": {**response, "status": "in_progress"}}
        for index, item in enumerate(items):
            yield "response.output_item.added", {"output_index": index, "item": {**item, "status": "in_progress"}}
            yield "response.output_item.done", {"output_index": index, "item": {**item, "status": "completed"}}
        usage = {
            "input_tokens": _TOKENS_IN, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": _TOKENS_OUT,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": _TOKENS_IN + _TOKENS_OUT,
        }  # fmt: skip
        if turn.is_refused:
            error = {"code": "cyber_policy", "message": "as written"}
            yield "response.failed", {"response": {**response, "status": "failed", "error": error, "usage": usage}}
            return
        yield "response.completed", {"response": {**response, "status": "completed", "output": items, "usage": usage}}


class OpenAIChat(Wire):
    """POST /v1/chat/completions, as opencode uses it for providers with OpenAI's format."""

    path = "/chat/completions"

    def turns_so_far(self, body: Mapping[str, Any]) -> int:
        """Each assistant message is a turn."""
        return sum(message["role"] == "assistant" for message in body.get("messages", ()))

    def events(self, turn: ModelTurn, model: str, number: int) -> Iterator[Event]:
        """Chunks of one choice, and the usage at the end."""
        chunk = {"id": f"chat_{number}", "object": "chat.completion.chunk", "created": 0, "model": model}
        message = _as_chat(turn, number)
        yield "chunk", {**chunk, "choices": [_choice({"role": "assistant", "content": ""}, None)]}
        yield "chunk", {**chunk, "choices": [_choice(message, None)]}
        yield "chunk", {**chunk, "choices": [_choice({}, _chat_end(turn))]}
        yield "chunk", {**chunk, "choices": [], "usage": _CHAT_USAGE}
        yield "end", {}

    def framed(self, event: Event, number: int) -> bytes:
        """Data without an event name, and a marker at the end."""
        del number
        kind, data = event
        return b"data: [DONE]\n\n" if kind == "end" else b"data: " + json.dumps(data).encode() + b"\n\n"

    def is_streamed(self, path: str, body: Mapping[str, Any]) -> bool:
        """By a field of the body."""
        del path
        return bool(body.get("stream"))

    def whole(self, turn: ModelTurn, model: str, number: int) -> Mapping[str, Any]:
        """One completion."""
        message = {"role": "assistant", **_as_chat(turn, number)}
        choice = {"index": 0, "message": message, "finish_reason": _chat_end(turn)}
        return {
            "id": f"chat_{number}", "object": "chat.completion", "created": 0, "model": model, "choices": [choice],
            "usage": _CHAT_USAGE,
        }  # fmt: skip


class GoogleContent(Wire):
    """POST /v1beta/models/M:streamGenerateContent and :generateContent, as Gemini CLI uses it."""

    path = "enerateContent"

    def turns_so_far(self, body: Mapping[str, Any]) -> int:
        """Consecutive contents of the model are one turn."""
        own = [content.get("role") == "model" for content in body.get("contents", ())]
        return sum(now and not before for before, now in zip([False, *own], own, strict=False))

    def events(self, turn: ModelTurn, model: str, number: int) -> Iterator[Event]:
        """A candidate in parts; the last part has the reason of its end."""
        parts: list[dict[str, Any]] = [{"text": turn.text}]
        parts += [{"functionCall": {"name": tool.name, "args": tool.input}} for tool in turn.tools]
        for part in parts:
            yield "chunk", {**self._answer(model, number), "candidates": [_candidate([part])]}
        ended = {**_candidate([{"text": ""}]), "finishReason": "SAFETY" if turn.is_refused else "STOP"}
        yield "chunk", {**self._answer(model, number), "candidates": [ended], "usageMetadata": _GOOGLE_USAGE}

    def framed(self, event: Event, number: int) -> bytes:
        """Data without an event name."""
        del number
        return b"data: " + json.dumps(event[1]).encode() + b"\r\n\r\n"

    def refusal(self, trouble: WireFault, status: int) -> Mapping[str, Any]:
        """The kind is a status in capitals; more fields are in the details."""
        error = {"code": status, "message": trouble.message, "status": trouble.kind, **trouble.more}
        return {"error": error}

    def model_in(self, path: str, body: Mapping[str, Any]) -> str:
        """By the path."""
        del body
        return path.rpartition("/")[2].partition(":")[0]

    def is_streamed(self, path: str, body: Mapping[str, Any]) -> bool:
        """By the path."""
        del body
        return path.endswith(":streamGenerateContent")

    def whole(self, turn: ModelTurn, model: str, number: int) -> Mapping[str, Any]:
        """One answer with all parts."""
        parts = [data["candidates"][0]["content"]["parts"][0] for _, data in self.events(turn, model, number)]
        candidate = {**_candidate(parts), "finishReason": "STOP"}
        return {**self._answer(model, number), "candidates": [candidate], "usageMetadata": _GOOGLE_USAGE}

    def _answer(self, model: str, number: int) -> dict[str, Any]:
        return {"responseId": f"content_{number}", "modelVersion": model}


WIRES: tuple[Wire, ...] = (AnthropicMessages(), OpenAIResponses(), OpenAIChat(), GoogleContent())
_CHAT_USAGE = {
    "prompt_tokens": _TOKENS_IN, "completion_tokens": _TOKENS_OUT, "total_tokens": _TOKENS_IN + _TOKENS_OUT,
}  # fmt: skip
_GOOGLE_USAGE = {
    "promptTokenCount": _TOKENS_IN, "candidatesTokenCount": _TOKENS_OUT, "totalTokenCount": _TOKENS_IN + _TOKENS_OUT,
}  # fmt: skip


def wire_for(path: str) -> Wire | None:
    """The format of a request to this path; None if it is not a request to a model."""
    return next((wire for wire in WIRES if path.endswith(wire.path)), None)


def _as_chat(turn: ModelTurn, number: int) -> dict[str, Any]:
    calls = [
        {
            "index": at,
            "id": f"call_{number}_{at}",
            "type": "function",
            "function": {"name": tool.name, "arguments": json.dumps(tool.input)},
        }
        for at, tool in enumerate(turn.tools)
    ]
    return {"content": turn.text or None, **({"tool_calls": calls} if calls else {})}


def _chat_end(turn: ModelTurn) -> str:
    return "content_filter" if turn.is_refused else "tool_calls" if turn.tools else "stop"


def _choice(delta: Mapping[str, Any], reason: str | None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "finish_reason": reason}


def _candidate(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"index": 0, "content": {"role": "model", "parts": list(parts)}}
