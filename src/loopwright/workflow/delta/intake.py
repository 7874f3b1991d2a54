"""Bytes to lines: what is no text, is too large or is empty is named here, with its line."""

from __future__ import annotations

import re

import msgspec

from loopwright.workflow.delta.model import DeltaProblem, Newline, UnreadableDelta

MOST_BYTES = 4 * 1024 * 1024
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_BOM = "\ufeff"


class SourceText(msgspec.Struct, frozen=True):
    """A file's lines twice: whole, to be kept byte for byte, and bare, to be read. Line 1 has index 0."""

    whole: tuple[str, ...]
    bare: tuple[str, ...]
    newline: Newline

    def between(self, start: int, end: int) -> str:
        """The bytes of these lines, as text."""
        return "".join(self.whole[start:end])


def taken_in(data: bytes) -> SourceText | UnreadableDelta:
    """The lines of a file, or why it has none that can be read."""
    if len(data) > MOST_BYTES:
        return _refused(1, "too_large", f"the file has {len(data):,} bytes; at most {MOST_BYTES:,} are read")
    if (at := data.find(b"\0")) >= 0:
        return _refused(_line_of(data, at), "binary", "the file holds a NUL byte: this is no text")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as problem:
        return _refused(_line_of(data, problem.start), "not_utf8", f"byte {problem.start} is not UTF-8")
    if not text.removeprefix(_BOM).strip():
        return _refused(1, "empty", "the file is empty")
    return lines_of(text)


def lines_of(text: str) -> SourceText:
    """The lines of a text, whatever ends them."""
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
