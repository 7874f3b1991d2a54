"""How models talk over HTTP: a written turn as the events of each provider's streaming format. Pure.

A turn answers the request whose conversation holds as many model turns as came before it, so nobody keeps state.
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
    # Codex calls a tool of an MCP server by its own name in the server's namespace.
    namespace: str = ""


class Trouble(msgspec.Struct, frozen=True):
    """How a model's answer goes wrong: an HTTP status, or a stream that is cut off, or stands still, in its middle."""

    status: int | None = None
    headers: Mapping[str, str] = {}
    kind: str = "error"
    message: str = "as written"
    # More fields of the error that the body tells.
    more: Mapping[str, Any] = {}
    is_cut: bool = False
    is_still: bool = False


class ModelTurn(msgspec.Struct, frozen=True):
    """What the model says once: text, tools, or both; or what goes wrong in its place."""

    text: str = ""
    tools: tuple[ToolUse, ...] = ()
    trouble: Trouble | None = None


class Wire:
    """One provider's format: how to count the turns so far, and how to say the next one."""

    path: str

    def turns_so_far(self, body: Mapping[str, Any]) -> int:
        """Model turns in the conversation that was sent."""
        raise NotImplementedError

    def events(self, turn: ModelTurn, model: str, number: int) -> Iterator[Event]:
        """The turn as server-sent events."""
        raise NotImplementedError


class AnthropicMessages(Wire):
    """POST /v1/messages, as Claude Code speaks it."""

    path = "/v1/messages"

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
        reason = "tool_use" if turn.tools else "end_turn"
        yield "message_delta", {"delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}
        yield "message_stop", {}


class OpenAIResponses(Wire):
    """POST /v1/responses, as Codex speaks it."""

    path = "/v1/responses"
    _OWN_ITEMS = ("function_call", "custom_tool_call", "local_shell_call", "reasoning")

    def turns_so_far(self, body: Mapping[str, Any]) -> int:
        """Items that the model made, in a row, are one turn."""
        said = body.get("input", ())
        items: Sequence[Any] = said if isinstance(said, list) else ()
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
        yield "response.completed", {"response": {**response, "status": "completed", "output": items, "usage": usage}}


WIRES: tuple[Wire, ...] = (AnthropicMessages(), OpenAIResponses())
