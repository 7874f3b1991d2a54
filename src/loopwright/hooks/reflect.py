"""`loopwright-hook reflect` and `session-start`: what an agent's harness calls, in the contract's order of rules."""

from __future__ import annotations

import os
import signal

from loopwright.hooks.payload import read_payload
from loopwright.reflection.capture.lock import SessionLock
from loopwright.reflection.capture.take import Occasion, Taking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

_PAYLOAD_S = 3.0
_WITHIN_S = 20.0


class _Asked(BaseException):
    """Somebody ended us; what is known by now is still written."""


def run(arguments: list[str], mode: str) -> None:
    """Read the payload, take the lock, gather, write. Raises what `entry` swallows."""
    verb = arguments[0] if arguments else "reflect"
    if verb not in ("reflect", "session-start"):
        return
    _listen(_stop)
    payload = read_payload(0, _PAYLOAD_S)
    environment = dict(os.environ)
    occasion = Occasion(
        cwd=_folder(payload.cwd, environment),
        session=payload.session or environment.get("CLAUDE_CODE_SESSION_ID", ""),
        mode=mode,
        environment=environment,
        within_s=_WITHIN_S,
        is_sound=payload.is_sound,
    )
    taking = Taking(occasion)
    if verb == "session-start":
        taking.note_base()
        return
    try:
        _take(taking)
    except OSError:
        if taking.fall_back():
            _take(taking)


def _take(taking: Taking) -> None:
    with SessionLock(taking.lock_path) as lock:
        if not lock.is_ours:
            return
        try:
            taking.gather()
        except (_Asked, Exception):  # noqa: BLE001 -- a degraded record is better than none
            taking.is_sound = False
        # From here on it takes a moment only, and must not be torn.
        _listen(signal.SIG_IGN)
        taking.write()


def _folder(named: str, environment: dict[str, str]) -> str:
    for folder in (named, environment.get("CLAUDE_PROJECT_DIR", "")):
        if folder and "\0" not in folder and os.path.isdir(folder):
            return os.path.realpath(folder)
    return os.getcwd()


def _stop(number: int, frame: FrameType | None) -> None:
    del frame
    raise _Asked(number)


def _listen(handler: object) -> None:
    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), handler)  # type: ignore[arg-type]
