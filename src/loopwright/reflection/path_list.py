"""Parses a list of paths: separated by NUL if there is a NUL, else one path per line, quoted as git does."""

from __future__ import annotations

import re

_ESCAPES = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}
_ESCAPED = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)


def parse_path_list(raw: bytes) -> tuple[str, ...]:
    """The paths in their order."""
    lines = (_unquoted(line.removesuffix(b"\r")) for line in raw.split(b"\n"))
    names = raw.split(b"\0") if b"\0" in raw else lines
    return tuple(name.decode("utf-8", "surrogateescape") for name in names if name)


def _unquoted(line: bytes) -> bytes:
    """Undo git's quoting: without -z git writes special names in double quotes, with C escapes."""
    if len(line) < 2 or not (line.startswith(b'"') and line.endswith(b'"')):
        return line
    return _ESCAPED.sub(_unescaped, line[1:-1])


def _unescaped(escape: re.Match[bytes]) -> bytes:
    code = escape[1]
    return bytes([int(code, 8) & 0xFF]) if len(code) == 3 else _ESCAPES.get(code, code)
