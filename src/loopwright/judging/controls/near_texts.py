"""Texts that differ from an expected one in one letter or digit. Pure.

Work that reads its test takes the answer from there, perhaps by the words that each answer has.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator

_KINDS = (string.digits.encode(), string.ascii_lowercase.encode(), string.ascii_uppercase.encode())
_ESCAPE = re.compile(
    rb"\\(?:x[0-9a-fA-F]{2}|u\{[^}]*\}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|[0-7]{1,3}|.)", re.DOTALL
)
_WORD = re.compile(rb"[A-Za-z]{3,}")


def near_texts(text: bytes, step: int) -> Iterator[bytes]:
    """The source of a text with another letter or digit, the last one first. Escapes stay."""
    plain = _without_escapes(text)
    for place in range(len(plain) - 1, -1, -1):
        kind = next((kind for kind in _KINDS if plain[place] in kind), b"")
        if kind:
            yield _with_other(text, place, kind, step)


def near_word(text: bytes, step: int) -> bytes | None:
    """The same with another last letter of the last word: a longer text hardly has this word, too."""
    found = [match.end() for match in _WORD.finditer(_without_escapes(text))]
    if not found:
        return None
    place = found[-1] - 1
    return _with_other(text, place, next(kind for kind in _KINDS if text[place] in kind), step)


def _without_escapes(text: bytes) -> bytes:
    return _ESCAPE.sub(lambda found: b"\\" * len(found[0]), text)


def _with_other(text: bytes, place: int, kind: bytes, step: int) -> bytes:
    other = kind[(kind.index(text[place]) + step) % len(kind)]
    return text[:place] + bytes([other]) + text[place + 1 :]
