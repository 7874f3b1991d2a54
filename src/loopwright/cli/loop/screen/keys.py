"""Reads keys from the terminal as they are pressed, without Enter, and restores the terminal afterwards."""

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
    """The keys in these bytes. A key without a name is its character; unknown sequences are skipped."""
    keys = (match.group() for match in _KEY.finditer(data))
    names = (_NAMES.get(key, key.decode("ascii") if len(key) == 1 else "") for key in keys)
    return tuple(name for name in names if name)


class Keys:
    """The keyboard. It is closed, and reports no keys, unless standard input is a terminal in the foreground."""

    def __init__(self) -> None:
        self._before: list[Any] | None = None
        self._is_open = False

    @property
    def is_open(self) -> bool:
        """Whether a person can press keys."""
        return self._is_open

    def __enter__(self) -> Keys:
        if sys.stdin is not None and sys.stdin.isatty() and _is_in_foreground(sys.stdin.fileno()):
            self._before = termios.tcgetattr(sys.stdin.fileno())
            tty.setcbreak(sys.stdin.fileno())
            self._is_open = True
        return self

    def __exit__(self, *problem: object) -> None:
        if self._before is not None:
            with suppress(termios.error):  # the terminal was closed
                termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, self._before)
        self._before, self._is_open = None, False

    def handles(self) -> list[int]:
        """The handles that a selector waits for."""
        return [sys.stdin.fileno()] if self._is_open else []

    def read(self) -> tuple[str, ...]:
        """The pressed keys. The caller has seen that there is input."""
        data = b""
        with suppress(OSError):
            data = os.read(sys.stdin.fileno(), 1024)
        if not data:
            self._is_open = False  # the terminal was closed
        return keys_in(data)


def _is_in_foreground(handle: int) -> bool:
    """A background job must not touch the terminal: the shell uses it."""
    try:
        return os.tcgetpgrp(handle) == os.getpgrp()
    except OSError:
        return False
