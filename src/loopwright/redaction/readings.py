"""The possible readings of a line: without terminal control characters, and with written escapes decoded.

Has no rules and hides nothing. A secret that only one reading shows is hidden in that reading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loopwright.kernel.cells import SEQUENCE

_CONTROLS = bytes(set(range(32)) - {0x09, 0x0A}) + b"\x7f"
_SPACED = bytes.maketrans(_CONTROLS, b" " * len(_CONTROLS))
_ESCAPES = re.compile(SEQUENCE.encode())
_WRITTEN = re.compile(
    rb"(?:%|\\{1,8}(?:u00|x))(?P<code>[0-9A-Fa-f]{2})"
    rb"|\\{1,8}(?:[nrtbf]|(?P<mark>[\"'/$`!&|=+:;,<>#~^@*?()\[\]{}. -]))"
)
# Characters that may continue a value if the rule knew only the unescaped form.
_CONTINUATION = re.compile(
    rb"(?:(?:%(?:2[BbDdEeFf]|3[Dd]|5[Ff]|7[Ee])|\\{1,8}(?:/|u00(?:2[BbFf]|3[Dd])))[A-Za-z0-9+/=_.~-]*)+"
)


def readings(text: bytes) -> Iterator[bytes]:
    """The text as it is, or joined and split at terminal control characters; then with written escapes decoded."""
    first = text
    if text.translate(None, _CONTROLS) == text:
        yield text
    else:
        plain = _ESCAPES.sub(b"", text)
        first = plain.translate(None, _CONTROLS)
        yield first
        yield plain.translate(_SPACED)
    if b"\\" in first or b"%" in first:
        decoded = _WRITTEN.sub(_decoded, first)
        if decoded != first:
            yield decoded


def end_of_value(text: bytes, end: int) -> int:
    """The real end of a value that was found up to `end`: an escape such as `%2F` does not end the value."""
    more = _CONTINUATION.match(text, end)
    return more.end() if more else end


def _decoded(written: re.Match[bytes]) -> bytes:
    r"""The character of an escape; a space for `\n` and the like, so that two words are not joined."""
    if code := written["code"]:
        byte = bytes((int(code, 16),))
        return b" " if byte in _CONTROLS or byte in b"\t\n" else byte
    return written["mark"] or b" "
