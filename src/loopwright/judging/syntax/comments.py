"""The comments of a source file, as byte positions. Languages without a parser are read by their lines."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator

import msgspec

from loopwright.judging.syntax import go_source, javascript_source
from loopwright.judging.syntax.heredocs import find_heredocs, without_heredocs
from loopwright.judging.syntax.python_source import MOST_BYTES
from loopwright.judging.syntax.shell_words import shell_comments

PYTHON = (".py", ".pyw", ".pyi")
_SHELL = (".sh", ".bash")
# What begins a comment that ends with its line.
_MARKS = {
    "//": (
        ".rs", ".c", ".h", ".cc", ".cpp", ".hpp", ".m", ".mm", ".swift", ".kt", ".java", ".scala", ".cs", ".fs", ".php",
        ".dart", ".zig",
    ),
    "#": (".rb", ".pl", ".pm", ".r", ".jl", ".ex", ".exs", ".nim", ".pyx"),
    "--": (".lua", ".hs"),
    "%": (".erl",),
    ";": (".clj",),
}  # fmt: skip
_MARK_OF = {kind: mark for mark, kinds in _MARKS.items() for kind in kinds}
# The compiler of Go reads these.
_GO_DIRECTIVE = re.compile(rb"//(?:go:|export )")


class Comment(msgspec.Struct, frozen=True):
    """Where a comment begins and ends, and its text."""

    start: int
    end: int
    text: bytes


def comments_of(path: str, source: bytes) -> tuple[Comment, ...]:
    """All comments in order; none if the file can't be read."""
    if len(source) > MOST_BYTES:
        return ()
    return tuple(Comment(start, end, source[start:end]) for start, end in _spans(path, source) if start < end)


def _spans(path: str, source: bytes) -> Iterator[tuple[int, int]]:
    if path.endswith(PYTHON):
        return _in_python(source)
    if path.endswith(javascript_source.SUFFIXES):
        return _in_javascript(path, source)
    if path.endswith(go_source.SUFFIX):
        return _in_go(source)
    # In this encoding, positions of characters are positions of bytes.
    text = source.decode("latin-1")
    if path.endswith(_SHELL):
        return shell_comments(without_heredocs(text, find_heredocs(text)))
    mark = _MARK_OF.get(f".{path.rpartition('.')[2]}")
    return _by_lines(text, mark) if mark is not None else iter(())


def _in_python(source: bytes) -> Iterator[tuple[int, int]]:
    try:
        # The mark of UTF-8 at the begin is part of no line.
        text = source.decode("utf-8-sig")
        lines = list(io.StringIO(text, newline=""))
        tokens = list(tokenize.generate_tokens(iter([*lines, ""]).__next__))
    except (UnicodeDecodeError, SyntaxError, tokenize.TokenError):
        return
    starts = [len(source) - len(text.encode())]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    for token in tokens:
        if token.type == tokenize.COMMENT:
            row, column = token.start
            start = starts[row - 1] + len(lines[row - 1][:column].encode())
            yield start, start + len(token.string.encode())


def _in_javascript(path: str, source: bytes) -> Iterator[tuple[int, int]]:
    parsed = javascript_source.parse_javascript(path, source)
    nodes = javascript_source.within(parsed.root) if parsed is not None else ()
    return ((node.start_byte, node.end_byte) for node in nodes if node.type in {"comment", "html_comment"})


def _in_go(source: bytes) -> Iterator[tuple[int, int]]:
    parsed = go_source.parse_go(source)
    nodes = go_source.within(parsed.root) if parsed is not None else ()
    # The comments before this import are code in C.
    of_c = source.rfind(b'import "C"')
    for node in nodes:
        is_code = node.start_byte < of_c or _GO_DIRECTIVE.match(source, node.start_byte)
        if node.type == "comment" and not is_code:
            yield node.start_byte, node.end_byte


def _by_lines(text: str, mark: str) -> Iterator[tuple[int, int]]:
    """Comments on lines of their own, and those behind code without quotes."""
    known = re.compile(rf"^(?:[^\n\"'`]*[ \t])?({re.escape(mark)}[^\n]*)", re.MULTILINE)
    return (found.span(1) for found in known.finditer(text))
