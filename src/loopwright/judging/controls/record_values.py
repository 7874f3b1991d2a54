"""Records values of tests. Watched test files hold this module as text, so it imports only the standard library."""

from __future__ import annotations

import ast
import datetime as dt
import decimal
import fractions
import hashlib
import os
from typing import Any

_PLAIN = (
    str, bytes, int, float, complex, bool, type(None), decimal.Decimal, fractions.Fraction, dt.date,
    dt.datetime, dt.timedelta,
)  # fmt: skip
# Older versions of Python, which may run the tests, take no `list | tuple` here.
_CONTAINERS = (list, tuple, set, frozenset, dict)
_MOST_LINES = 4000
_MOST_DEPTH = 8
_MOST_TEXT = 50_000
UNKNOWN = "?"
OVERWRITTEN = "overwritten"


class ValueRecorder:
    """Writes a line for the begin and the end of each assertion, and for each value between them."""

    def __init__(self, path: str, pinned: dict[int, Any]) -> None:
        """`pinned` are values that parts get in place of their own."""
        self._path = path
        self._pinned = pinned
        self._open = open
        self._left = _MOST_LINES

    def begin(self, assertion: int) -> None:
        """An assertion begins."""
        self._write("begin", assertion, "")

    def end(self, assertion: int) -> None:
        """An assertion held."""
        self._write("end", assertion, "")

    def value(self, part: int, value: Any) -> Any:
        """A part of an assertion has this value."""
        self._write("value", part, f"{digest(value)}\t{literal_of(value)}")
        return self._pinned.get(part, value)

    def data(self, part: int, value: Any, literal: Any) -> Any:
        """A part of an assertion has this value, and the test wrote it as this literal."""
        same = digest(value) == digest(literal)
        self._write("value", part, "as written" if same else OVERWRITTEN)
        return value

    def _write(self, kind: str, number: int, text: str) -> None:
        if self._left > 0:
            self._left -= 1
            try:
                with self._open(self._path, "a", encoding="utf-8") as record:
                    record.write(f"{os.getpid()}\t{kind}\t{number}\t{text}\n")
            except OSError:
                self._left = 0


def digest(value: Any) -> str:
    """A digest of plain data; `UNKNOWN` for other objects, whose texts may differ in each run."""
    try:
        text = _text(value, 0)
    except Exception:  # noqa: BLE001  the value is anything
        return UNKNOWN
    return UNKNOWN if text is None else hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


def literal_of(value: Any) -> str:
    """Plain data as text without tabs and line ends, from which it can be made again; empty for other objects."""
    try:
        text = repr(value)
        is_same = len(text) <= _MOST_TEXT and digest(ast.literal_eval(text)) == digest(value) != UNKNOWN
    except Exception:  # noqa: BLE001  the value is anything
        return ""
    return text if is_same and text.isprintable() else ""


def _text(value: Any, depth: int) -> str | None:
    if type(value) in _PLAIN:
        return repr(value)
    if depth > _MOST_DEPTH or not isinstance(value, _CONTAINERS):
        return None
    items = list(value.items()) if isinstance(value, dict) else list(value)
    parts = [_text(item, depth + 1) for item in items]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    is_ordered = isinstance(value, (list, tuple))
    return f"{type(value).__name__}({', '.join(known if is_ordered else sorted(known))})"
