"""The gate that keeps a build's agent going at the end of its turn: what the file says, and what follows.

A build writes it beside the agent's sandbox, the hook reads it. Standard library only, and little of it: an agent waits
for the hook. Whatever is odd lets the agent go: the loop lives outside of the turn, and this is only a nudge.
"""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

FILE: Final = "gate.json"
# In the environment of the agent's process: no other session of the project is held by it.
VARIABLE: Final = "LOOPWRIGHT_GATE"
MOST_BYTES: Final = 16 << 10
PHASES: Final = ("starting", "executing", "verifying", "fixing", "blocked", "review-ready")
_ACTIVE: Final = PHASES[:4]
_EVENTS: Final = ("Stop", "AfterAgent")
MOST_LIVES_S: Final = 86_400
_MOST_BLOCKS: Final = 8


class Gate:
    """What a build says: whose agent it is, until when, and what is still to be done."""

    __slots__ = ("blocks", "expires", "namespace", "phase", "pid", "reason", "session", "slug", "started")

    def __init__(
        self, *, slug: str, session: str, pid: int, started: str, namespace: str, phase: str, expires: float,
        blocks: int, reason: str,
    ) -> None:  # fmt: skip
        self.slug = slug
        # The agent's own name for its session; empty: the first that stops is meant.
        self.session = session
        self.pid = pid
        # When the build's process began, by the kernel's clock: another process with its number is another one.
        self.started = started
        self.namespace = namespace
        self.phase = phase
        self.expires = expires
        self.blocks = blocks
        self.reason = reason

    def document(self) -> dict[str, Any]:
        """As it is written."""
        return {"version": 1, **{name: getattr(self, name) for name in self.__slots__}}


class StopRequest:
    """An agent wants to end its turn: what the harness says, and what can be seen of the build."""

    __slots__ = ("event", "has_asked", "is_build_alive", "is_kept_going", "now", "owner", "session", "used")

    def __init__(
        self, *, session: str, event: str, is_kept_going: bool, now: float, is_build_alive: bool,
        has_asked: bool = False, used: int = 0, owner: str = "",
    ) -> None:  # fmt: skip
        self.session = session
        self.event = event
        # The harness says that a hook keeps it going already.
        self.is_kept_going = is_kept_going
        self.now = now
        self.is_build_alive = is_build_alive
        # It left a question for a person: that is a reason to end.
        self.has_asked = has_asked
        # How often it was kept going before, and which session that was.
        self.used = used
        self.owner = owner


def keeps_going(gate: Gate | None, stop: StopRequest) -> bool:
    """Whether the agent is told to go on; every doubt lets it go."""
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
    """The gate in these bytes; None when they are anything else."""
    if len(data) > MOST_BYTES:
        return None
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.pop("version", None) != 1 or set(found) != set(Gate.__slots__):
        return None
    texts = ("slug", "session", "started", "namespace", "phase", "reason")
    numbers = (found["pid"], found["blocks"], found["expires"])
    if not all(isinstance(found[name], str) for name in texts) or found["phase"] not in PHASES:
        return None
    if any(isinstance(one, bool) or not isinstance(one, int | float) for one in numbers):
        return None
    return Gate(**found)


def started_at(pid: int) -> str:
    """When a process began, in the kernel's own ticks; nothing when there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stream:
            # The name before it may hold anything, also brackets and blanks.
            return stream.read().rpartition(b")")[2].split()[19].decode()
    except (OSError, IndexError):
        return ""


def namespace() -> str:
    """Which processes can be seen from here; nothing where the system does not say."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def answer(reason: str) -> str:
    """The words by which Claude Code, Codex and Gemini all are told to go on."""
    return json.dumps({"decision": "block", "reason": reason}, ensure_ascii=True)
