"""The gate that tells a building agent to continue when it wants to end its turn.

A build writes the gate file next to the agent's sandbox, and the hook reads it. Uses little of the standard library,
because an agent waits for the hook. Any doubt lets the agent stop: the loop runs outside the turn and checks the work.
"""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

FILE: Final = "gate.json"
# Set only in the agent's own process, so that the gate affects no other session of the project.
VARIABLE: Final = "LOOPWRIGHT_GATE"
MOST_BYTES: Final = 16 << 10
PHASES: Final = ("starting", "executing", "verifying", "fixing", "blocked", "review-ready")
_ACTIVE: Final = PHASES[:4]
_EVENTS: Final = ("Stop", "AfterAgent")
MOST_LIVES_S: Final = 86_400
_MOST_BLOCKS: Final = 8


class Gate:
    """What a build writes: its agent's session, the expiry time, and the work that remains."""

    __slots__ = ("blocks", "expires", "namespace", "phase", "pid", "reason", "session", "slug", "started")

    def __init__(
        self, *, slug: str, session: str, pid: int, started: str, namespace: str, phase: str, expires: float,
        blocks: int, reason: str,
    ) -> None:  # fmt: skip
        self.slug = slug
        # The agent's session id. Empty: the first session that stops.
        self.session = session
        self.pid = pid
        # The start time of the build's process in kernel ticks, because process ids are reused.
        self.started = started
        self.namespace = namespace
        self.phase = phase
        self.expires = expires
        self.blocks = blocks
        self.reason = reason

    def document(self) -> dict[str, Any]:
        """The content of the gate file."""
        return {"version": 1, **{name: getattr(self, name) for name in self.__slots__}}


class StopRequest:
    """An agent wants to end its turn: what the harness reports, and what is known about the build."""

    __slots__ = ("event", "has_asked", "is_build_alive", "is_kept_going", "now", "owner", "session", "used")

    def __init__(
        self, *, session: str, event: str, is_kept_going: bool, now: float, is_build_alive: bool,
        has_asked: bool = False, used: int = 0, owner: str = "",
    ) -> None:  # fmt: skip
        self.session = session
        self.event = event
        # The harness reports that a hook already told the agent to continue.
        self.is_kept_going = is_kept_going
        self.now = now
        self.is_build_alive = is_build_alive
        # The agent left a question for a person, which is a reason to stop.
        self.has_asked = has_asked
        # How often the agent was told to continue before, and in which session.
        self.used = used
        self.owner = owner


def must_continue(gate: Gate | None, stop: StopRequest) -> bool:
    """Whether to tell the agent to continue; any doubt lets the agent stop."""
    return (
        gate is not None
        and gate.phase in _ACTIVE
        and bool(gate.reason)
        and stop.is_build_alive
        and stop.now < gate.expires <= stop.now + MOST_LIVES_S
        and bool(stop.session)
        and (not gate.session or gate.session == stop.session)
        and (not stop.owner or stop.owner == stop.session)
        and stop.event in _EVENTS
        and not stop.is_kept_going
        and not stop.has_asked
        and stop.used < min(gate.blocks, _MOST_BLOCKS)
    )


def read_gate(data: bytes) -> Gate | None:
    """The gate in these bytes; None if they are not a valid gate."""
    if len(data) > MOST_BYTES:
        return None
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or document.pop("version", None) != 1 or set(document) != set(Gate.__slots__):
        return None
    texts = ("slug", "session", "started", "namespace", "phase", "reason")
    numbers = (document["pid"], document["blocks"], document["expires"])
    if not all(isinstance(document[name], str) for name in texts) or document["phase"] not in PHASES:
        return None
    if any(isinstance(number, bool) or not isinstance(number, int | float) for number in numbers):
        return None
    return Gate(**document)


def started_at(pid: int) -> str:
    """The start time of a process in kernel ticks; empty if there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stream:
            # The name before it may contain any character, including brackets and spaces.
            return stream.read().rpartition(b")")[2].split()[19].decode()
    except (OSError, IndexError):
        return ""


def namespace() -> str:
    """The id of this process's pid namespace; empty if the system does not provide it."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def answer(reason: str) -> str:
    """The JSON that tells Claude Code, Codex and Gemini to continue."""
    return json.dumps({"decision": "block", "reason": reason}, ensure_ascii=True)
