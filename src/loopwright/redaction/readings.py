"""The ways in which a line may be read: terminal control taken away, and escapes that are written out undone.

Owns no rule and hides nothing; a secret that shows in one reading only is hidden in that reading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loopwright.kernel.escapes import SEQUENCE

_CONTROLS = bytes(set(range(32)) - {0x09, 0x0A}) + b"\x7f"
_SPACED = bytes.maketrans(_CONTROLS, b" " * len(_CONTROLS))
_ESCAPES = re.compile(SEQUENCE.encode())
_WRITTEN = re.compile(
    rb"(?:%|\\{1,8}(?:u00|x))(?P<code>[0-9A-Fa-f]{2})"
    rb"|\\{1,8}(?:[nrtbf]|(?P<mark>[\"'/$`!&|=+:;,<>#~^@*?()\[\]{}. -]))"
)
# What a value may go on with when the rule that found it knew only its plain spelling.
_GOES_ON = re.compile(
    rb"(?:(?:%(?:2[BbDdEeFf]|3[Dd]|5[Ff]|7[Ee])|\\{1,8}(?:/|u00(?:2[BbFf]|3[Dd])))[A-Za-z0-9+/=_.~-]*)+"
)


def readings(text: bytes) -> Iterator[bytes]:
    """As it stands, or joined over terminal control and split at it; then with the written escapes undone."""
    first = text
    if text.translate(None, _CONTROLS) == text:
        yield text
    else:
        plain = _ESCAPES.sub(b"", text)
        first = plain.translate(None, _CONTROLS)
        yield first
        yield plain.translate(_SPACED)
    if b"\\" in first or b"%" in first:
        undone = _WRITTEN.sub(_meant, first)
        if undone != first:
            yield undone


def end_of_value(text: bytes, end: int) -> int:
    """Where a value that was found up to `end` really ends: `%2F` within it is not its end."""
    more = _GOES_ON.match(text, end)
    return more.end() if more else end


def _meant(written: re.Match[bytes]) -> bytes:
    r"""The character that an escape stands for; a space for `\n` and the like, which must not join two words."""
    if code := written["code"]:
        byte = bytes((int(code, 16),))
        return b" " if byte in _CONTROLS or byte in b"\t\n" else byte
    return written["mark"] or b" "
