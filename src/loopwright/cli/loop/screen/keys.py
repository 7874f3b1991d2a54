"""Keys as they are pressed, read from the terminal without waiting for Enter; the terminal is given back as it was."""

from __future__ import annotations

import os
import re
import sys
import termios
import tty
from contextlib import suppress
from typing import Any

_NAMES = {
    b"\x1b[A": "up", b"\x1bOA": "up", b"k": "up",
    b"\x1b[B": "down", b"\x1bOB": "down", b"j": "down",
    b"\x1b[5~": "page up", b"\x1b[6~": "page down", b" ": "page down",
    b"\x1b[H": "home", b"\x1b[1~": "home", b"g": "home",
    b"\x1b[F": "end", b"\x1b[4~": "end", b"G": "end",
    b"\r": "enter", b"\n": "enter", b"\x1b": "escape",
}  # fmt: skip
_KEY = re.compile(rb"\x1b\[[0-9;]*[A-Za-z~]|\x1bO[A-Z]|[\x00-\x7f]")


def keys_in(data: bytes) -> tuple[str, ...]:
    """The keys that these bytes stand for; what we have no name for is itself, a sequence we do not know is nothing."""
    found = (_KEY.match(data, start) for start in _starts(data))
    return tuple(_name(match.group()) for match in found if match is not None and _name(match.group()))


def _starts(data: bytes) -> list[int]:
    starts, at = [], 0
    while at < len(data):
        match = _KEY.match(data, at)
        starts.append(at)
        at = match.end() if match is not None else at + 1
    return starts


def _name(key: bytes) -> str:
    return _NAMES.get(key, key.decode("ascii") if len(key) == 1 else "")


class Keys:
    """The keyboard, where there is one; nothing is pressed where standard input is no terminal of ours."""

    def __init__(self) -> None:
        self._before: list[Any] | None = None
        self._is_open = False

    @property
    def is_there(self) -> bool:
        """Whether somebody can press one."""
        return self._is_open

    def __enter__(self) -> Keys:
        if sys.stdin is not None and sys.stdin.isatty() and _is_ours(sys.stdin.fileno()):
            self._before = termios.tcgetattr(sys.stdin.fileno())
            tty.setcbreak(sys.stdin.fileno())
            self._is_open = True
        return self

    def __exit__(self, *problem: object) -> None:
        if self._before is not None:
            with suppress(termios.error):  # the terminal has gone
                termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, self._before)
        self._before, self._is_open = None, False

    def handles(self) -> list[int]:
        """What a selector waits for."""
        return [sys.stdin.fileno()] if self._is_open else []

    def read(self) -> tuple[str, ...]:
        """What was pressed; the caller knows that there is something."""
        data = b""
        with suppress(OSError):
            data = os.read(sys.stdin.fileno(), 1024)
        if not data:
            self._is_open = False  # the terminal has gone
        return keys_in(data)


def _is_ours(handle: int) -> bool:
    """A job in the background must not touch the terminal: the shell has it."""
    try:
        return os.tcgetpgrp(handle) == os.getpgrp()
    except OSError:
        return False
