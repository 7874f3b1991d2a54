"""Edits that make a JavaScript expression false, or a value another one. `python_values` has the reasons."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from loopwright.judging.controls.marks import Marks
from loopwright.judging.controls.near_texts import near_texts, near_word
from loopwright.judging.syntax.edits import Edits, any_done
from loopwright.judging.syntax.javascript_source import JavaScriptSource, field, unwrapped, within

if TYPE_CHECKING:
    from tree_sitter import Node

_OPPOSITES = {
    "!==": b"===", "!=": b"==", "<": b">=", "<=": b">", ">": b"<=", ">=": b"<",
}  # fmt: skip
_VALUES = frozenset({"identifier", "this", "await_expression", "yield_expression"})
_TEXTS = frozenset({"string", "template_string"})
_CONSTANTS = frozenset({"null", "undefined", "regex"})
_NUMBER = re.compile(
    r"(0[xX][\da-fA-F]+|0[oO][0-7]+|0[bB][01]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)(n?)"
)


class JavaScriptValues:
    """Changes expressions of one source."""

    def __init__(self, source: JavaScriptSource, edits: Edits, marks: Marks) -> None:
        self._source = source
        self._edits = edits
        self._marks = marks

    def falsify(self, node: Node) -> bool:
        """Make a condition false that is true for honest work; False if the condition is constant."""
        inner = unwrapped(node)
        left, right, operator = field(inner, "left"), field(inner, "right"), field(inner, "operator")
        if self._marks.is_near and (operator is None or operator.type not in {"&&", "===", "=="}):
            return False
        if (joined := _negated_operands(inner)) is not None:
            return self.make_true(joined)
        if inner.type != "binary_expression" or left is None or right is None or operator is None:
            return self.negate(node)
        match operator.type:
            case "&&":
                return any_done([self.falsify(left), self.falsify(right)])
            case "||":
                return any_done([self._settle(left, to=False), self._settle(right, to=False)])
            case "===" | "==":
                return self.make_unequal(left, right)
            case "!==" | "!=" | "<" | "<=" | ">" | ">=" as sign if not (is_literal(left) and is_literal(right)):
                return self._edits.replace(operator.start_byte, operator.end_byte, _OPPOSITES[sign])
        return self.negate(node)

    def make_true(self, node: Node) -> bool:
        """Make a condition true that is false for honest work; False if the condition is constant.

        A comparison gets its opposite sign, which no NaN and no undefined value fulfils.
        """
        inner = unwrapped(node)
        left, right, operator = field(inner, "left"), field(inner, "right"), field(inner, "operator")
        if (joined := _negated_operands(inner)) is not None:
            return self.falsify(joined)
        if inner.type != "binary_expression" or left is None or right is None or operator is None:
            return self.negate(node)
        match operator.type:
            case "||":
                return any_done([self.make_true(left), self.make_true(right)])
            case "&&":
                return any_done([self._settle(left, to=True), self._settle(right, to=True)])
            case "!==" | "!=":
                return self.make_unequal(left, right)
            case "<" | "<=" | ">" | ">=" as sign if not (is_literal(left) and is_literal(right)):
                return self._edits.replace(operator.start_byte, operator.end_byte, _OPPOSITES[sign])
        return self.negate(node)

    def _settle(self, node: Node, *, to: bool) -> bool:
        """Give an operand the value that does not decide. `a` may be false for honest work in `a || b`: no opposite."""
        inner = unwrapped(node)
        left, right, operator = field(inner, "left"), field(inner, "right"), field(inner, "operator")
        if inner.type == "binary_expression" and left is not None and right is not None and operator is not None:
            if operator.type == ("&&" if to else "||"):
                return any_done([self._settle(left, to=to), self._settle(right, to=to)])
            if operator.type in {"&&", "||"}:
                return self._settle(left if _is_constant(right) else right, to=to)
            is_equation = operator.type in ({"!==", "!="} if to else {"===", "=="})
            if is_equation and is_text(left) ^ is_text(right):
                return self.make_unequal(left, right)
        return not _is_constant(node) and self._wrap(node, b"((", b") || true)" if to else b") && false)")

    def negate(self, node: Node) -> bool:
        """Put `!` before a condition, unless it is constant."""
        if self._marks.is_near:
            return self._differ(node)
        inner = unwrapped(node)
        operator = field(inner, "operator")
        if inner.type == "binary_expression" and operator is not None and operator.type == "&&":
            return self.make_true(node)
        return not is_literal(node) and self._wrap(node, b"(!(", b"))")

    def _differ(self, node: Node) -> bool:
        """Change a literal of a condition that is false for honest work."""
        inner = unwrapped(node)
        left, right, operator = field(inner, "left"), field(inner, "right"), field(inner, "operator")
        if operator is None or left is None or right is None:
            return False
        if operator.type == "||":
            return any_done([self._differ(left), self._differ(right)])
        return operator.type in {"!==", "!="} and self.make_unequal(left, right)

    def make_unequal(self, left: Node, right: Node) -> bool:
        """Change the expected one of two equal values; False if both are constant."""
        if is_literal(left) and is_literal(right):
            return False
        sides = [side for side in (right, left) if is_literal(side)] or [right, left]
        return any(self.change_literals(side) for side in sides) or (
            not self._marks.is_near and self.replace_value(sides[0])
        )

    def change_literals(self, node: Node) -> bool:
        """Change each literal that is a part of the value itself."""
        return any_done(self._change(leaf) for leaf in literals(node))

    def replace_value(self, node: Node) -> bool:
        """Evaluate an expression, but use a list in its place, which is equal to nothing else."""
        if self._source.is_typed:
            return self._wrap(node, b"([", b', "' + self._marks.text + b'"] as any)')
        return self._wrap(node, b"[", b', "' + self._marks.text + b'"]')

    def change_word(self, node: Node) -> bool:
        """Change a text that is looked for in a longer one."""
        if not self._marks.is_near:
            return self.change_literals(node)
        near = near_word(self._source.text(node).encode(), self._marks.step) if is_literal(node) else None
        return near is not None and self.replace(node, near)

    def replace(self, node: Node, text: bytes) -> bool:
        """Use another expression."""
        return self._edits.replace(node.start_byte, node.end_byte, text)

    def _wrap(self, node: Node, before: bytes, after: bytes) -> bool:
        is_value = node.type != "spread_element"
        return is_value and self._edits.wrap(node.start_byte, node.end_byte, before, after)

    def _change(self, leaf: Node) -> bool:
        if leaf.type in _TEXTS and not self._marks.is_near:
            return self._edits.insert(leaf.start_byte + 1, self._marks.text)
        if leaf.type in _TEXTS or (self._marks.is_near and leaf.type != "number"):
            text = self._source.text(leaf).encode()
            near = next(near_texts(text, self._marks.step), None) if is_literal(leaf) and leaf.type in _TEXTS else None
            return near is not None and self.replace(leaf, near)
        other = {"true": b"false", "false": b"true"}.get(leaf.type) or _other_number(
            self._source.text(leaf), self._marks
        )
        return other is not None and self.replace(leaf, other)


def literals(node: Node) -> Iterator[Node]:
    """The literals of which a value consists; not those inside a call or an expression."""
    node = unwrapped(node)
    match node.type:
        case "string" | "template_string" | "number" | "true" | "false":
            yield node
        case "unary_expression" if is_literal(node):
            yield from literals(node.named_children[-1])
        case "array":
            for part in node.named_children:
                yield from literals(part)
        case "object":
            for pair in node.named_children:
                value = field(pair, "value") if pair.type == "pair" else None
                if value is not None:
                    yield from literals(value)
        case _:
            return


def is_literal(node: Node) -> bool:
    """Whether a value is constant."""
    node = unwrapped(node)
    match node.type:
        case "string" | "number" | "true" | "false":
            return True
        case "template_string":
            return all(child.type != "template_substitution" for child in node.named_children)
        case "unary_expression":
            operator = field(node, "operator")
            is_sign = operator is not None and operator.type in {"-", "+"}
            return is_sign and all(map(is_literal, node.named_children))
        case "array":
            return all(map(is_literal, node.named_children))
        case "object":
            values = [field(pair, "value") if pair.type == "pair" else None for pair in node.named_children]
            return all(value is not None and is_literal(value) for value in values)
        case other:
            return other in _CONSTANTS


def _negated_operands(node: Node) -> Node | None:
    """`a && b` of `!(a && b)`; None for other expressions."""
    argument = field(node, "argument") if node.type == "unary_expression" else None
    if argument is None or node.children[0].type != "!":
        return None
    inner = unwrapped(argument)
    operator = field(inner, "operator") if inner.type == "binary_expression" else None
    return inner if operator is not None and operator.type in {"&&", "||"} else None


def _is_constant(node: Node) -> bool:
    """Whether an expression has the same value whatever the work does: `true`, `1`, `!null`, `1 === 1`."""
    return not any(part.type in _VALUES for part in within(node))


def is_text(node: Node) -> bool:
    """Whether a value is a text literal."""
    return unwrapped(node).type in _TEXTS


def _other_number(text: str, marks: Marks) -> bytes | None:
    found = _NUMBER.fullmatch(text.replace("_", ""))
    if found is None:
        return None
    digits, big = found.groups()
    if marks.is_near:
        return _near_number(digits, big, marks.number_step)
    if digits[:1] == "0" and digits[1:2] in tuple("xXoObB"):
        return f"{marks.number(int(digits, 0))}{big}".encode()
    if digits.isdecimal():
        return f"{marks.number(int(digits))}{big}".encode() if len(digits) < 400 else b"0.5"
    value = marks.number(float(digits))
    return repr(value).encode() if value < 1e300 else b"0.5"


def _near_number(digits: str, big: str, step: int) -> bytes | None:
    if digits[:1] == "0" and digits[1:2] in tuple("xXoObB"):
        return f"{int(digits, 0) + step}{big}".encode()
    if digits.isdecimal():
        return f"{int(digits) + step}{big}".encode() if len(digits) < 15 else None
    value = float(digits)
    return repr(value + step * (value + 1) / 32).encode() if value < 1e300 else None
