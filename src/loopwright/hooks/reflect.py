"""`loopwright-hook reflect` and `session-start`, called by an agent's harness. Follows the specification's rules."""

from __future__ import annotations

import os
import signal
import time

from loopwright.hooks.payload import Payload, read_payload
from loopwright.reflection.capture.lock import SessionLock
from loopwright.reflection.capture.take import CaptureRequest, ReflectionCapture

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

_PAYLOAD_S = 3.0
_WITHIN_S = 20.0


class _StopRequested(BaseException):
    """A signal arrived while the hook was waiting; the data collected so far is still written."""


class _StopSignals:
    """Stop signals: they end waiting, and nothing else."""

    def __init__(self, *, is_asked: bool) -> None:
        self.is_asked = is_asked
        self._is_waiting = False
        for name in ("SIGTERM", "SIGINT", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), self._stop)

    def __enter__(self) -> None:
        self._is_waiting = True
        if self.is_asked:
            raise _StopRequested

    def __exit__(self, *problem: object) -> None:
        self._is_waiting = False

    def _stop(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self.is_asked = True
        if self._is_waiting:
            self._is_waiting = False
            raise _StopRequested


def run(arguments: list[str], mode: str, *, is_asked_to_stop: bool = False) -> None:
    """Read the payload, take the lock, collect the change, write the record. `entry` catches all exceptions."""
    verb = arguments[0] if arguments else "reflect"
    if verb not in ("reflect", "session-start"):
        return
    stops = _StopSignals(is_asked=is_asked_to_stop)
    environment = dict(os.environ)
    payload = _payload(stops)
    request = CaptureRequest(
        cwd=_folder(payload.cwd, environment),
        session=payload.session,
        mode=mode,
        environment=environment,
        until=time.monotonic() + _WITHIN_S,
        is_sound=payload.is_sound,
    )
    try:
        _reflect(ReflectionCapture(request), verb, stops)
    except (OSError, ValueError):
        # The chosen folder can't be used; try the layout's own folder.
        _reflect(ReflectionCapture(request.replaced(is_sound=False, may_choose=False)), verb, stops)


def _reflect(capture: ReflectionCapture, verb: str, stops: _StopSignals) -> None:
    if verb == "session-start":
        capture.note_base()
        return
    with SessionLock(capture.lock_path) as lock:
        if not lock.is_held:
            return
        try:
            with stops:
                capture.gather()
        except (_StopRequested, Exception):  # noqa: BLE001 -- a degraded record is better than none
            capture.mark_incomplete()
        capture.write()


def _payload(stops: _StopSignals) -> Payload:
    try:
        with stops:
            return read_payload(0, _PAYLOAD_S)
    except (_StopRequested, OSError, ValueError, RecursionError):
        return Payload("", "", is_sound=False)


def _folder(named: str, environment: dict[str, str]) -> str:
    for folder in (named, environment.get("CLAUDE_PROJECT_DIR", "")):
        if folder and "\0" not in folder and os.path.isdir(folder):
            return os.path.realpath(folder)
    try:
        return os.getcwd()
    except OSError:
        return ""  # the folder was deleted: only a configured folder can hold the record
