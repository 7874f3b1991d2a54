"""A client of `loopwright mcp` that sends raw lines unchanged."""

from __future__ import annotations

import json
import subprocess
from contextlib import contextmanager, suppress


class Talk:
    """One server, and the messages to it."""

    def __init__(self, process):
        self.process = process
        self._last = 0

    def send(self, *lines):
        """Bytes as they are, or documents."""
        for line in lines:
            self.process.stdin.write(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self):
        """The next line."""
        line = self.process.stdout.readline()
        assert line, "the server has gone"
        return json.loads(line)

    def ask(self, method, params=None):
        """A call and its answer, whole."""
        number = self.begin(method, params)
        answer = self.hear()
        assert answer["id"] == number
        return answer

    def begin(self, method, params=None):
        """A call alone; its id."""
        self._last += 1
        self.send({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params or {}})
        return self._last

    def call(self, tool, **arguments):
        """What a tool says."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        assert result["isError"] is False, result
        return json.loads(result["content"][0]["text"])

    def refused(self, tool, **arguments):
        """The typed refusal of a tool."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        assert result["isError"] is True, result
        record = json.loads(result["content"][0]["text"])
        assert record["ok"] is False
        assert record["next"]
        return record

    def read(self, uri):
        """A resource's text."""
        return self.ask("resources/read", {"uri": uri})["result"]["contents"][0]["text"]


@contextmanager
def talking(project, *, env=None, cwd=None):
    """An initialised server in the project; it ends with the block."""
    process = subprocess.Popen(
        project.command("mcp"), cwd=cwd or project.root, env={**project.environment, **(env or {})},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        talk = Talk(process)
        hello = talk.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {}})
        assert hello["result"]["serverInfo"]["name"] == "loopwright"
        talk.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        yield talk
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            with suppress(OSError):
                stream.close()
