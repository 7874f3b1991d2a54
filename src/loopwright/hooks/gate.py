"""`loopwright-hook gate`: an agent's harness asks whether the turn may end. Any error lets the agent stop."""

from __future__ import annotations

import os
import stat
import time

from loopwright.hooks.payload import Payload, read_payload
from loopwright.workspace.stop_gate import (
    MOST_BYTES,
    Gate,
    StopRequest,
    answer,
    must_continue,
    namespace,
    read_gate,
    started_at,
)

_PAYLOAD_S = 3.0
_DECISIONS = "LOOPWRIGHT_DECISIONS"
_LONGEST_NAME = 200


def run(path: str) -> None:
    """Tell the agent to continue, or print nothing. `entry` catches all exceptions."""
    data = _content(path)
    gate = None if data is None else read_gate(data)
    if gate is None:
        return
    payload = read_payload(0, _PAYLOAD_S)
    stop = _stop(gate, payload, path)
    # Count first, then answer: if counting fails, the agent may stop.
    if payload.is_sound and must_continue(gate, stop) and _count(path, stop):
        _write(answer(gate.reason) + "\n")


def _write(text: str) -> None:
    """Write at once: buffered output would fail at interpreter exit, where no handler catches the error."""
    data = text.encode("utf-8", "replace")
    while data:
        data = data[os.write(1, data) :]


def _stop(gate: Gate, payload: Payload, path: str) -> StopRequest:
    used, owner = _used(path)
    return StopRequest(
        session=payload.session[:_LONGEST_NAME],
        event=payload.event,
        is_kept_going=payload.is_kept_going,
        now=time.time(),
        is_build_alive=is_build_alive(gate),
        has_asked=_has_asked(os.environ.get(_DECISIONS, "")),
        used=used,
        owner=owner,
    )


def is_build_alive(gate: Gate) -> bool:
    """Whether the process that wrote the gate is still running."""
    if namespace() != gate.namespace:
        # In a sandbox, outside processes are invisible. The sandbox ends with the build, and the gate expires.
        return bool(gate.namespace)
    return bool(gate.started) and started_at(int(gate.pid)) == gate.started


def _content(path: str) -> bytes | None:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return os.read(handle, MOST_BYTES + 1) if stat.S_ISREG(os.fstat(handle).st_mode) else None
    finally:
        os.close(handle)


def _used(path: str) -> tuple[int, str]:
    """How often the agent was told to continue in this turn: one file each time, the first with the session's name."""
    used = 0
    while os.path.lexists(_mark(path, used)):
        used += 1
    if not used:
        return 0, ""
    owner = _content(_mark(path, 0))
    # An unreadable owner matches no session.
    return used, "\0" if owner is None else owner.decode("utf-8", "replace")


def _count(path: str, stop: StopRequest) -> bool:
    try:
        handle = os.open(_mark(path, stop.used), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError:
        return False
    try:
        return os.write(handle, stop.session.encode("utf-8", "replace")) >= 0
    finally:
        os.close(handle)


def _mark(path: str, number: int) -> str:
    return f"{path}.{number + 1}"


def _has_asked(folder: str) -> bool:
    try:
        return any(name.endswith(".json") for name in os.listdir(folder)) if folder else False
    except OSError:
        return False
