"""A model that plays written turns, on loopback, in the providers' own formats, so that real agents can be tested."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from loopwright.testing.wire import WIRES, ModelTurn, Wire


class ModelServer:
    """Where it listens, and what it was asked."""

    def __init__(self, turns: Sequence[ModelTurn]) -> None:
        self.turns = tuple(turns)
        self.requests: list[tuple[str, Mapping[str, Any]]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))

    @property
    def url(self) -> str:
        """The address without a path."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def turn(self, wire: Wire, body: Mapping[str, Any]) -> ModelTurn:
        """What to say now. A request without tools is for a title or a summary, and is no turn of the conversation."""
        if not body.get("tools"):
            return ModelTurn("ok")
        number = wire.turns_so_far(body)
        return self.turns[number] if number < len(self.turns) else ModelTurn(self.turns[-1].text or "done")

    def serve(self) -> None:
        """Until `close`."""
        self._server.serve_forever(poll_interval=0.02)

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def model_server(*turns: ModelTurn) -> Iterator[ModelServer]:
    """A model for the block."""
    server = ModelServer(turns)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join()


def _handler_for(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """One request."""

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            body = json.loads(raw) if raw else {}
            path = self.path.partition("?")[0]
            server.requests.append((path, body))
            wire = next((wire for wire in WIRES if path.endswith(wire.path.removeprefix("/v1"))), None)
            if wire is None:
                self._say_json({"input_tokens": 100})
            else:
                self._stream(wire, body)

        def do_GET(self) -> None:
            self._say_json({"object": "list", "data": [], "models": []})

        def do_HEAD(self) -> None:
            self._say_json({})

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the base class's name
            """Not to the test's terminal."""

        def _stream(self, wire: Wire, body: Mapping[str, Any]) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            events = wire.events(server.turn(wire, body), str(body.get("model", "scripted")), len(server.requests))
            for number, (kind, data) in enumerate(events):
                payload = json.dumps({"type": kind, "sequence_number": number, **data})
                self.wfile.write(f"event: {kind}\ndata: {payload}\n\n".encode())
                self.wfile.flush()

        def _say_json(self, record: Mapping[str, Any]) -> None:
            data = json.dumps(record).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

    return Handler
