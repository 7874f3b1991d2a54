"""A model server that replays turns on loopback in the providers' own formats, to test real agents."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from loopwright.testing.wire import Event, ModelTurn, Wire, WireFault, wire_for

_NONE: Mapping[str, str] = {}
_NO_SCRIPTS: Mapping[str, Sequence[ModelTurn]] = {}


class ModelServer:
    """A model server: its address, its turns and the received requests."""

    def __init__(self, turns: Sequence[ModelTurn], scripts: Mapping[str, Sequence[ModelTurn]]) -> None:
        self.turns = tuple(turns)
        # Other turns for conversations that contain a text; the first match wins.
        self.scripts = dict(scripts)
        # Requests for a title, a summary, or a choice of model.
        self.aside = ModelTurn("ok")
        self.requests: list[tuple[str, Mapping[str, Any]]] = []
        # Set when a stream stalls, so that a test can wait for that without sleeping.
        self.stands_still = threading.Event()
        self.closing = threading.Event()
        self._server = _Listener(self)

    @property
    def url(self) -> str:
        """The address without a path."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def turn(self, wire: Wire, body: Mapping[str, Any]) -> ModelTurn:
        """The next turn. A request without tools is for a title or a summary, and not part of the conversation."""
        if not body.get("tools"):
            return self.aside
        number, request = wire.turns_so_far(body), json.dumps(body, ensure_ascii=False)
        turns = next((script for text, script in self.scripts.items() if text in request), self.turns)
        return turns[number] if number < len(turns) else ModelTurn(turns[-1].text or "done")

    def serve(self) -> None:
        """Serve until `close`."""
        self._server.serve_forever(poll_interval=0.02)

    def close(self) -> None:
        """Stop listening, and end stalled streams."""
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def model_server(*turns: ModelTurn, scripts: Mapping[str, Sequence[ModelTurn]] = _NO_SCRIPTS) -> Iterator[ModelServer]:
    """A model server during the block."""
    server = ModelServer(turns, scripts)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join()


class _Listener(ThreadingHTTPServer):
    """The sockets of a model server."""

    def __init__(self, model: ModelServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model = model


class _Handler(BaseHTTPRequestHandler):
    """One request."""

    @property
    def _model(self) -> ModelServer:
        model: ModelServer = self.server.model  # type: ignore[attr-defined]
        return model

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        body = json.loads(raw) if raw else {}
        path = self.path.partition("?")[0]
        self._model.requests.append((path, body))
        wire = wire_for(path)
        if wire is None:
            self._send_json({"input_tokens": 100})
        else:
            self._answer(wire, path, body)

    def do_GET(self) -> None:
        self._send_json({"object": "list", "data": [], "models": []})

    def do_HEAD(self) -> None:
        self._send_json({})

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the base class's name
        """Print nothing to the test's terminal."""

    def _answer(self, wire: Wire, path: str, body: Mapping[str, Any]) -> None:
        turn = self._model.turn(wire, body)
        model, number = wire.model_in(path, body), len(self._model.requests)
        trouble = turn.trouble
        if trouble is not None and trouble.status is not None:
            self._send_json(wire.refusal(trouble, trouble.status), trouble.status, trouble.headers)
        elif wire.is_streamed(path, body):
            self._stream(wire, wire.events(turn, model, number), trouble)
        else:
            self._send_json(wire.whole(turn, model, number))

    def _stream(self, wire: Wire, events: Iterator[Event], trouble: WireFault | None) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for number, event in enumerate(events):
            if number and trouble is not None:
                self._spoil(trouble)
                return
            self.wfile.write(wire.framed(event, number))
            self.wfile.flush()

    def _spoil(self, trouble: WireFault) -> None:
        if trouble.is_still:
            self._model.stands_still.set()
            self._model.closing.wait()
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def _send_json(self, record: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] = _NONE) -> None:
        data = json.dumps(record).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
