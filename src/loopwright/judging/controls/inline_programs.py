"""Finds programs in the text of Python tests, in Python or shell, and changes the expectations of each. Pure."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator

import msgspec

from loopwright.judging.controls.failing_programs import failing_code
from loopwright.judging.controls.marks import marks_of
from loopwright.judging.controls.python_tests import invert_python
from loopwright.judging.controls.shell import expectations
from loopwright.judging.syntax.python_source import Function, parse_python

_HOLE = "loopwright_hole_{number}_"
_SHORTEST = 12


class InlineProgram(msgspec.Struct, frozen=True):
    """A text of a test file that is a program: where it is, and what to write there instead.

    `test` is the function with the program; empty if no test has it.
    """

    test: str
    start: int
    end: int
    inverted: bytes
    failing: bytes


def inline_programs(source: bytes, salt: str) -> Iterator[InlineProgram]:
    """Each program in the texts of a test file."""
    parsed = parse_python(source)
    for node, test in _texts(parsed.tree) if parsed is not None else ():
        text = _Text.of(node)
        if parsed is None or text is None:
            continue
        start, end = parsed.span(node)
        for values in _changes(text.value, salt):
            inverted, failing = map(text.written, values)
            if all(parse_python(source[:start] + written + source[end:]) for written in (inverted, failing)):
                yield InlineProgram(test, start, end, inverted, failing)


class _Text(msgspec.Struct, frozen=True):
    """The value of a text; the computed parts of an f-string are names in it."""

    value: str
    holes: dict[str, str]
    is_bytes: bool = False

    @classmethod
    def of(cls, node: ast.expr) -> _Text | None:
        match node:
            case ast.Constant(value=str(value)):
                return cls(value, {})
            case ast.Constant(value=bytes(data)) if data.isascii():
                return cls(data.decode(), {}, is_bytes=True)
            case ast.JoinedStr(values=parts):
                holes = {_HOLE.format(number=number): part for number, part in enumerate(parts)}
                value = "".join(
                    str(part.value) if isinstance(part, ast.Constant) else name for name, part in holes.items()
                )
                return cls(
                    value,
                    {
                        name: ast.unparse(ast.JoinedStr(values=[part]))
                        for name, part in holes.items()
                        if not isinstance(part, ast.Constant)
                    },
                )
            case _:
                return None

    def written(self, value: str) -> bytes:
        """An expression for another value, with the same computed parts."""
        if self.is_bytes:
            return repr(value.encode()).encode()
        written = repr(value)
        for name, computed in self.holes.items():
            # `repr` chose the quotes of the whole text.
            quote = written[0]
            written = written.replace(name, f"{quote} + {computed} + {quote}")
        return f"({written})".encode()


def _texts(tree: ast.Module) -> Iterator[tuple[ast.expr, str]]:
    """Each text that may be a program, with the test in which it is."""
    ahead: list[tuple[ast.AST, str]] = [(tree, "")]
    while ahead:
        node, test = ahead.pop()
        if isinstance(node, ast.Constant | ast.JoinedStr):
            yield node, test
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue  # a docstring
        if isinstance(node, Function) and not test and node.name.startswith("test"):
            test = node.name
        ahead += [(child, test) for child in reversed(list(ast.iter_child_nodes(node)))]


def _changes(value: str, salt: str) -> Iterator[tuple[str, str]]:
    if len(value) < _SHORTEST:
        return
    code = textwrap.dedent(value)
    parsed = parse_python(code.encode("utf-8", "replace"))
    if parsed is not None and any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(parsed.tree)):
        failing = failing_code(code)
        for is_near in (False, True):
            inverted = invert_python(parsed.source, None, marks_of(salt, is_near=is_near))
            if inverted.altered and failing is not None:
                yield inverted.source.decode(), failing
        return
    if parsed is None and " " in value.strip():
        for changed in expectations(value.encode("utf-8", "replace"), salt=salt):
            yield changed.inverted.decode(), changed.failing.decode()
