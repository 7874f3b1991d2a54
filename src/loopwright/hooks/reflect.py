"""`loopwright-hook reflect` and `session-start`: what an agent's harness calls, in the contract's order of rules."""

from __future__ import annotations

import os
import signal

from loopwright.hooks.payload import Payload, read_payload
from loopwright.reflection.capture.lock import SessionLock
from loopwright.reflection.capture.take import Occasion, Taking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

_PAYLOAD_S = 3.0
_WITHIN_S = 20.0


class _Asked(BaseException):
    """Somebody ends us while we wait for something; what is known by now is still written."""


class _Stops:
    """Requests to stop: they cut waiting short, and nothing else."""

    def __init__(self, *, is_asked: bool) -> None:
        self.is_asked = is_asked
        self._is_waiting = False
        for name in ("SIGTERM", "SIGINT", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), self._stop)

    def __enter__(self) -> None:
        self._is_waiting = True
        if self.is_asked:
            raise _Asked

    def __exit__(self, *problem: object) -> None:
        self._is_waiting = False

    def _stop(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self.is_asked = True
        if self._is_waiting:
            self._is_waiting = False
            raise _Asked


def run(arguments: list[str], mode: str, *, is_asked_to_stop: bool = False) -> None:
    """Read the payload, take the lock, gather, write. Raises what `entry` swallows."""
    verb = arguments[0] if arguments else "reflect"
    if verb not in ("reflect", "session-start"):
        return
    stops = _Stops(is_asked=is_asked_to_stop)
    environment = dict(os.environ)
    payload = _payload(stops)
    occasion = Occasion(
        cwd=_folder(payload.cwd, environment),
        session=payload.session,
        mode=mode,
        environment=environment,
        within_s=_WITHIN_S,
        is_sound=payload.is_sound,
    )
    try:
        _reflect(Taking(occasion), verb, stops)
    except (OSError, ValueError):
        # The place that was chosen can't be used: the layout's own can, perhaps.
        _reflect(Taking(occasion.without_choice()), verb, stops)


def _reflect(taking: Taking, verb: str, stops: _Stops) -> None:
    if verb == "session-start":
        taking.note_base()
        return
    with SessionLock(taking.lock_path) as lock:
        if not lock.is_ours:
            return
        try:
            with stops:
                taking.gather()
        except (_Asked, Exception):  # noqa: BLE001 -- a degraded record is better than none
            taking.did_not_finish()
        taking.write()


def _payload(stops: _Stops) -> Payload:
    try:
        with stops:
            return read_payload(0, _PAYLOAD_S)
    except (_Asked, OSError, ValueError, RecursionError):
        return Payload("", "", is_sound=False)


def _folder(named: str, environment: dict[str, str]) -> str:
    for folder in (named, environment.get("CLAUDE_PROJECT_DIR", "")):
        if folder and "\0" not in folder and os.path.isdir(folder):
            return os.path.realpath(folder)
    try:
        return os.getcwd()
    except OSError:
        return ""  # it is gone: only a place that was named can take the record
