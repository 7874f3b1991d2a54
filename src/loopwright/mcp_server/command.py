"""`loopwright mcp`: serves the tools over standard input and output, one message per line.

Slow calls run one at a time; other calls are answered at once. A line that is too long is skipped and reported. A bug
in Loopwright is an error of that call alone. When the client disconnects, running calls are stopped.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from types import FrameType

import click

from loopwright.agents.mailbox import MAILBOX
from loopwright.kernel.process import Cancellation
from loopwright.mcp_server import mailbox, workspace
from loopwright.mcp_server.model import Offer
from loopwright.mcp_server.session import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    SLOW,
    Call,
    CallProblem,
    Id,
    MalformedMessage,
    Notice,
    Session,
    error,
    read_message,
    result,
)
from loopwright.wiring.build import build_context

LONGEST_LINE = 4 << 20
_MOST_WAITING = 64
_BLOCK = 1 << 16


class TooLong:
    """A line that is too long to keep in memory."""


def read_lines(source: int) -> Iterator[bytes | TooLong]:
    """The lines until the end of the input; `TooLong` in place of a line that is too long."""
    kept, skipping = b"", False
    while block := os.read(source, _BLOCK):
        *lines, rest = (kept + block).split(b"\n")
        for line in lines:
            if skipping or len(line) > LONGEST_LINE:
                skipping = False
                yield TooLong()
            elif line.strip():
                yield line
        kept = rest
        if skipping or len(kept) > LONGEST_LINE:
            kept, skipping = b"", True


class Server:
    """Reads in its own thread and works in the caller's thread, where signals arrive."""

    def __init__(self, session: Session, source: int, sink: int) -> None:
        self._session = session
        self._source = source
        self._sink = sink
        self._writing = threading.Lock()
        self._calls: SimpleQueue[Call | None] = SimpleQueue()
        self._open: dict[Id, Cancellation] = {}
        self._at_once = Cancellation()

    def serve(self) -> None:
        """Serve until the client disconnects, or until `stop`."""
        threading.Thread(target=self._read, daemon=True).start()
        while (call := self._calls.get()) is not None:
            self._work(call)

    def stop(self) -> None:
        """Stop serving; safe in a signal handler."""
        for cancellation in tuple(self._open.values()):
            cancellation.request("the server is stopped")
        self._calls.put(None)

    def _read(self) -> None:
        with suppress(OSError):
            for line in read_lines(self._source):
                if isinstance(line, TooLong):
                    problem = f"a message may have at most {LONGEST_LINE:,} bytes"
                    self._send(error(None, INVALID_REQUEST, problem, {"error": "message_too_long"}))
                else:
                    self._take(line)
        self.stop()

    def _take(self, line: bytes) -> None:
        match read_message(line):
            case MalformedMessage(id=name, code=code, message=message):
                self._send(error(name, code, message, {"error": "malformed_message"}))
            case Notice(method="notifications/cancelled", params=params):
                self._cancel(params.get("requestId"))
            case Call() as call if call.method not in SLOW:
                self._send(self._answer(call, self._at_once))
            case Call() as call if call.id in self._open:
                self._send(error(call.id, INVALID_REQUEST, "this id is already in use", {"error": "malformed_message"}))
            case Call() as call if len(self._open) >= _MOST_WAITING:
                self._send(error(call.id, INTERNAL_ERROR, "too many calls are waiting", {"error": "busy"}))
            case Call() as call:
                self._open[call.id] = Cancellation()
                self._calls.put(call)
            case _:
                pass

    def _cancel(self, name: object) -> None:
        cancellation = self._open.get(name) if isinstance(name, str | int) else None
        if cancellation is not None:
            cancellation.request("the client cancelled the call")

    def _work(self, call: Call) -> None:
        cancellation = self._open[call.id]
        answer = self._answer(call, cancellation) if cancellation.reason is None else b""
        # Before the answer is sent: after that, the client may use the id again.
        del self._open[call.id]
        # A client that cancelled a call does not wait for its answer.
        if cancellation.reason is None:
            self._send(answer)
        cancellation.close()

    def _answer(self, call: Call, cancellation: Cancellation) -> bytes:
        try:
            return result(call.id, self._session.answer(call.method, call.params, cancellation))
        except CallProblem as problem:
            return error(call.id, problem.code, problem.message, problem.data)
        except Exception as bug:  # noqa: BLE001 -- one call's bug must not end the others
            traceback.print_exc(file=sys.stderr)
            message = f"{type(bug).__name__} in loopwright itself"
            return error(call.id, INTERNAL_ERROR, message, {"error": "INTERNAL_ERROR"})

    def _send(self, line: bytes) -> None:
        with self._writing, suppress(OSError):  # the reading thread notices a disconnected client
            view = memoryview(line)
            while view:
                view = view[os.write(self._sink, view) :]


_EPILOG = """\b
Examples:
  loopwright install --agent claude --what mcp      register the server in Claude Code
  loopwright mcp                                    start the server, as agents do
  loopwright mcp --list                             list the tools

\b
No tool approves, rejects, signs, answers, unlatches or archives: only a person does that.
"""


@click.command(epilog=_EPILOG)
@click.option(
    "--project-root", type=click.Path(path_type=Path), default=Path(), show_default=".",
    help="Project folder. Parent folders are searched for a workspace, up to the top of the git repository.",
)  # fmt: skip
@click.option("--list", "lists", is_flag=True, help="List the tools and exit.")
@click.option("--json", "as_json", is_flag=True, help="With --list: print JSON with schemas.")
def command(project_root: Path, lists: bool, as_json: bool) -> int:
    """Serve tools for agents over the Model Context Protocol, on standard input and output.

    An agent starts this command. During a turn in a sandbox, the tools use the mailbox of the turn.
    """
    session = Session(_offer(project_root))
    if lists:
        return _print_tools(session, as_json=as_json)
    if sys.stdin.isatty():
        click.echo("agents start this command and send JSON to it; --list shows the tools, Ctrl-D ends", err=True)
    # Standard output is for the protocol alone. Everything else is printed to standard error.
    sink = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    server = Server(session, sys.stdin.fileno(), sink)
    stopped: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        del frame
        stopped.append(number)
        server.stop()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    server.serve()
    return 128 + stopped[0] if stopped else 0


def _offer(project_root: Path) -> Offer:
    context = build_context(project_root, {})
    folder = os.environ.get(MAILBOX)
    if folder:
        return mailbox.offer_of(Path(folder), os.environ, context.tools().redactor)
    return workspace.offer_of(context)


def _print_tools(session: Session, *, as_json: bool) -> int:
    tools = session.tools()
    if as_json:
        click.echo(json.dumps({"tools": tools}, ensure_ascii=False, indent=2))
        return 0
    for tool in tools:
        click.echo(f"{tool['name']:<18}{tool['description']}")
    return 0
