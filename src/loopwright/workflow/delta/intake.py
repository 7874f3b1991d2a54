"""Turns bytes into lines; reports files that are not text, too large or empty, with the line."""

from __future__ import annotations

import re

import msgspec

from loopwright.workflow.delta.model import DeltaProblem, Newline, UnreadableDelta

MOST_BYTES = 4 * 1024 * 1024
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_BOM = "\ufeff"


class SourceText(msgspec.Struct, frozen=True):
    """The lines of a file twice: whole, to keep bytes, and bare, to read. Line 1 has index 0."""

    whole: tuple[str, ...]
    bare: tuple[str, ...]
    newline: Newline

    def between(self, start: int, end: int) -> str:
        """The bytes of these lines, as text."""
        return "".join(self.whole[start:end])


def taken_in(data: bytes) -> SourceText | UnreadableDelta:
    """The lines of a file, or why it can't be read."""
    if len(data) > MOST_BYTES:
        return _refused(1, "too_large", f"the file has {len(data):,} bytes; the limit is {MOST_BYTES:,}")
    if (at := data.find(b"\0")) >= 0:
        return _refused(_line_of(data, at), "binary", "the file has a NUL byte: it is not text")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as problem:
        return _refused(_line_of(data, problem.start), "not_utf8", f"byte {problem.start} is not UTF-8")
    if not text.removeprefix(_BOM).strip():
        return _refused(1, "empty", "the file is empty")
    return lines_of(text)


def lines_of(text: str) -> SourceText:
    """The lines of a text, with any line ends."""
    whole = tuple(_LINE.findall(text))
    bare = [line.rstrip("\r\n") for line in whole]
    if bare:
        bare[0] = bare[0].removeprefix(_BOM)
    windows = sum(line.endswith("\r\n") for line in whole)
    unix = sum(line.endswith("\n") for line in whole) - windows
    return SourceText(whole, tuple(bare), "\r\n" if windows and windows >= unix else "\n")


def _refused(line: int, code: str, message: str) -> UnreadableDelta:
    return UnreadableDelta((DeltaProblem(line, code, message),))


def _line_of(data: bytes, at: int) -> int:
    return data.count(b"\n", 0, at) + 1
