"""Edits that make a Python expression false, or a value another one.

Literals change first: a product that reads its test then gives the wrong answer that the test asks for, and the test
passes. The same holds for objects that are equal to everything, because the comparison itself stays.
"""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from enum import IntEnum

from loopwright.judging.controls.marks import Marks
from loopwright.judging.controls.python_parameters import PythonParameters
from loopwright.judging.syntax.edits import Edits, any_done
from loopwright.judging.syntax.python_source import PythonSource, called_name

OPENING_QUOTE = re.compile(rb"[A-Za-z]{0,3}('''|\"\"\"|'|\")")
_MOST_SINGLE = 8
_FINEST = 1_000_000
_KINDS = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
_PLAIN = "".join(_KINDS)


class Nearness(IntEnum):
    """How a value differs from the expected one. A work with an equality of its own may overlook some of these."""

    NEXT = 1
    # One step may be a pattern of the product: each even number, for example.
    SECOND_NEXT = 2
    CASE = 3
    BLANK = 4


_OPPOSITES: dict[type[ast.cmpop], tuple[bytes, bytes]] = {
    ast.NotEq: (rb"!=", b"=="),
    ast.Lt: (rb"<", b">="),
    ast.LtE: (rb"<=", b">"),
    ast.Gt: (rb">", b"<="),
    ast.GtE: (rb">=", b"<"),
    ast.In: (rb"\bin\b", b"not in"),
    ast.NotIn: (rb"\bnot\s+in\b", b"in"),
    ast.Is: (rb"\bis\b", b"is not"),
    ast.IsNot: (rb"\bis\s+not\b", b"is"),
}


class PythonValues:
    """Changes expressions of one source."""

    def __init__(self, source: PythonSource, edits: Edits, marks: Marks) -> None:
        self._source = source
        self._edits = edits
        self._marks = marks
        self.parameters: PythonParameters | None = None
        """The parameters of the test that changes now."""

    def falsify(self, node: ast.expr) -> bool:
        """Make a condition false that is true for honest work; False if the condition is constant."""
        match node:
            case ast.BoolOp(op=ast.And(), values=values):
                return any_done(self.falsify(value) for value in values)
            case ast.BoolOp(op=ast.Or(), values=values):
                return any_done(self._settle(value, to=False) for value in values)
            case ast.UnaryOp(op=ast.Not(), operand=ast.BoolOp() as operand):
                return self.make_true(operand)
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                return self._falsify_comparison(node, left, ops, comparators)
            case _:
                return self.negate(node)

    # Of `a or b` one operand may be false for honest work, so no operand gets its opposite. A changed number could be
    # the right one of another operand. A constant stays: if it decides alone, the condition can't change.

    def _settle(self, node: ast.expr, *, to: bool) -> bool:
        """Give an operand the value that does not decide: false in `a or b`."""
        inner, outer = (ast.And, ast.Or) if not to else (ast.Or, ast.And)
        sign = ast.NotEq if to else ast.Eq
        match node:
            case ast.BoolOp(op=op, values=values) if isinstance(op, outer):
                return any_done(self._settle(value, to=to) for value in values)
            case ast.BoolOp(op=op, values=[*_, last] as values) if isinstance(op, inner):
                return self._settle(values[0] if _is_constant(last) else last, to=to)
            case ast.Compare(left=left, ops=[op], comparators=[right]) if isinstance(op, sign):
                if _is_text(left) ^ _is_text(right):
                    return self.make_unequal(left, right)
        return not _is_constant(node) and self._wrap(node, b"((", b") or True)" if to else b") and False)")

    def make_true(self, node: ast.expr) -> bool:
        """Make a condition true that is false for honest work; False if the condition is constant.

        A comparison gets its opposite sign, which no NaN fulfils.
        """
        match node:
            case ast.BoolOp(op=ast.Or(), values=values):
                return any_done(self.make_true(value) for value in values)
            case ast.BoolOp(op=ast.And(), values=values):
                return any_done(self._settle(value, to=True) for value in values)
            case ast.UnaryOp(op=ast.Not(), operand=ast.BoolOp() as operand):
                return self.falsify(operand)
            case ast.Compare(left=left, ops=[ast.NotEq()], comparators=[right]):
                return self.make_unequal(left, right)
            case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE() as op], comparators=[right]):
                is_constant = is_literal(left) and is_literal(right)
                return not is_constant and (self._flip(op, left, right) or self.negate(node))
            case _:
                return self.negate(node)

    def negate(self, node: ast.expr) -> bool:
        """Put `not` before a condition, unless it is constant."""
        if is_literal(node) or isinstance(node, ast.Tuple | ast.Lambda):
            return False
        return self._wrap(node, b"(not (", b"))")

    def make_unequal(self, left: ast.expr, right: ast.expr, *, sequences: bool = False) -> bool:
        """Change the expected one of two equal values; False if both are constant."""
        if is_literal(left) and is_literal(right):
            return False
        sides = [side for side in (right, left) if is_literal(side)] or [right, left]
        for side in sides:
            if self.change_literals(side) or self._change_parameter(side):
                return True
        return self.replace_sequence(sides[0]) if sequences else self.replace_value(sides[0])

    def _change_parameter(self, node: ast.expr) -> bool:
        """Change an expected value that is a parameter of the test, in all rows of its table."""
        if not isinstance(node, ast.Name) or self.parameters is None:
            return False
        values = self.parameters.values(node.id)
        if not values or not all(any(literals(value)) for value in values):
            return False
        return self.parameters.keep_names(node.id) and any_done(map(self.change_literals, values))

    def change_literals(self, node: ast.expr) -> bool:
        """Change each literal that is a part of the value itself."""
        return any_done(self.change_literal(leaf) for leaf in literals(node))

    def replace_value(self, node: ast.expr) -> bool:
        """Evaluate an expression, but use another value in its place. A list would make a slow comparison."""
        return self._wrap(node, *self._marks.other_value())

    def replace_sequence(self, node: ast.expr) -> bool:
        """The same with a list, for assertions that take nothing else."""
        return self._wrap(node, b"[(", b"), ...]")

    def replace_member(self, node: ast.expr) -> bool:
        """The same with a tuple, which can be looked up in sets and dictionaries."""
        return self._wrap(node, b"((", b"), ...)")

    def replace_by_none(self, node: ast.expr) -> bool:
        """Evaluate an expression, but use None in its place."""
        return self._wrap(node, b"[(", b"), None][1]")

    def replace(self, node: ast.expr, text: bytes) -> bool:
        """Use another expression."""
        return self._edits.replace(*self._source.span(node), text)

    def _wrap(self, node: ast.expr, before: bytes, after: bytes) -> bool:
        # The brackets of a lone generator belong to the call; a starred value is no expression.
        if isinstance(node, ast.GeneratorExp | ast.Starred):
            return False
        return self._edits.wrap(*self._source.span(node), before, after)

    def _falsify_comparison(
        self, node: ast.Compare, left: ast.expr, ops: list[ast.cmpop], comparators: list[ast.expr]
    ) -> bool:
        values = [left, *comparators]
        if all(is_literal(value) for value in values):
            return False
        if all(isinstance(op, ast.Eq) for op in ops):
            return self.make_unequal(values[-2], values[-1])
        if len(ops) > 1:
            return self.negate(node)
        right = comparators[0]
        if isinstance(ops[0], ast.In) and self._change_texts(left, right):
            return True
        if isinstance(ops[0], ast.Is) and isinstance(right, ast.Constant) and isinstance(right.value, bool):
            return self.change_literal(right)
        return self._flip(ops[0], left, right) or self.negate(node)

    def _change_texts(self, left: ast.expr, right: ast.expr) -> bool:
        """Change texts of `in`. A changed number may be in the collection by chance."""
        if _is_text(left):
            return self.change_literal(left)
        found = list(literals(right))
        is_display = isinstance(right, ast.Tuple | ast.List | ast.Set)
        return is_display and bool(found) and all(map(_is_text, found)) and self.change_literals(right)

    def _flip(self, op: ast.cmpop, left: ast.expr, right: ast.expr) -> bool:
        start, end = self._source.span(left)[1], self._source.span(right)[0]
        pattern, opposite = _OPPOSITES[type(op)]
        gap = self._source.source[start:end]
        found = re.search(pattern, gap)
        if found is None or b"#" in gap:
            return False
        return self._edits.replace(start + found.start(), start + found.end(), opposite)

    def change_literal(self, leaf: ast.expr) -> bool:
        """Use another number, or a longer text."""
        start, end = self._source.span(leaf)
        if isinstance(leaf, ast.Constant) and not isinstance(leaf.value, str | bytes):
            return self._edits.replace(start, end, self._other_number(leaf.value))
        quote = OPENING_QUOTE.match(self._source.source, start)
        return quote is not None and self._edits.insert(quote.end(), self._marks.text)

    def change_slightly(self, leaf: ast.expr, nearness: Nearness) -> bool:
        """Use a value of the same shape: an object that equals everything plausible equals it, too."""
        if not isinstance(leaf, ast.Constant) or isinstance(leaf.value, bool):
            return nearness is Nearness.NEXT and self.change_literal(leaf)
        near = _near(leaf.value, nearness)
        return near != leaf.value and self.replace(leaf, repr(near).encode())

    def _other_number(self, value: object) -> bytes:
        match value:
            case bool():
                return str(not value).encode()
            case int():
                other = self._marks.number(value)
                return hex(int(other)).encode() if value.bit_length() > 64 else str(other).encode()
            case float():
                return repr(self._marks.number(value)).encode() if abs(value) < 1e300 else b"0.5"
            case complex():
                return repr(complex(0, self._marks.number(value.imag))).encode()
            case _:
                return b"..."


def literals(node: ast.expr) -> Iterator[ast.expr]:
    """The literals of which a value consists; not those inside a call or an expression."""
    match node:
        case ast.Constant(value=value) if value is not None and value is not ...:
            yield node
        case ast.JoinedStr():
            yield node
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            yield from literals(operand)
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            for part in parts:
                yield from literals(part)
        case ast.Dict(keys=keys, values=values):
            found = [leaf for value in values for leaf in literals(value)]
            yield from found or (leaf for key in keys if key is not None for leaf in literals(key))
        case ast.Call(args=[first, *_]) if called_name(node) == "approx":
            yield from literals(first)


def _near(value: object, nearness: Nearness) -> object:
    """Another value of the same type, or the same value if its type has none of this kind."""
    match value, nearness:
        case int(), Nearness.NEXT | Nearness.SECOND_NEXT:
            return value + nearness * max(1, abs(value) // _FINEST)
        case float(), Nearness.NEXT:
            # An exact comparison knows no tolerance, but numbers of single precision have only seven digits.
            return value + (abs(value) + 1) / _FINEST
        case float(), Nearness.SECOND_NEXT:
            return value + (abs(value) + 1) / 32
        case str(), _:
            return _near_text(value, nearness)
        case bytes(), _:
            return _near_text(value.decode("latin-1"), nearness).encode("latin-1", "replace")
        case _:
            return value


def _near_text(text: str, nearness: Nearness) -> str:
    """The text with another last letter or digit, with the last letter in another case, or with one more blank."""
    if nearness is Nearness.BLANK:
        return f"{text} " if text else text
    is_case = nearness is Nearness.CASE
    changing = string.ascii_letters if is_case else _PLAIN
    place = next((index for index in range(len(text) - 1, -1, -1) if text[index] in changing), None)
    if place is None:
        return text
    kind = next(kind for kind in _KINDS if text[place] in kind)
    other = text[place].swapcase() if is_case else kind[(kind.index(text[place]) + nearness) % len(kind)]
    return text[:place] + other + text[place + 1 :]


def single_literals(node: ast.expr) -> list[ast.expr]:
    """The literals of an expected value, each of which decides: also those with which it makes an object."""
    return list(_single_literals(node))[:_MOST_SINGLE]


def _single_literals(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from _single_literals(part)
        case ast.Dict(values=parts):
            for part in parts:
                yield from _single_literals(part)
        case ast.Call(args=args, keywords=keywords) if called_name(node)[:1].isupper():
            for part in (*args, *(keyword.value for keyword in keywords)):
                yield from _single_literals(part)
        case ast.Constant(value=str() | bytes() | int() | float()) | ast.UnaryOp(op=ast.USub()):
            yield from literals(node)
        case _:
            return


def is_literal(node: ast.expr | None) -> bool:
    """Whether a value is constant."""
    match node:
        case ast.Constant() | None:
            return True
        case ast.UnaryOp(operand=operand):
            return is_literal(operand)
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return all(map(is_literal, parts))
        case ast.Dict(keys=keys, values=values):
            return all(map(is_literal, [*keys, *values])) and None not in keys
        case ast.Call(args=[first, *_]) if called_name(node) == "approx":
            return is_literal(first)
    return False


def _is_constant(node: ast.expr) -> bool:
    """Whether an expression has the same value whatever the work does: `True`, `1`, `not None`, `1 == 1`."""
    return not any(isinstance(part, ast.Name | ast.Await | ast.Yield | ast.YieldFrom) for part in ast.walk(node))


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))
