"""Changes literals of Go to others of the same type, so that the file still compiles."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loopwright.judging.controls.marks import Marks
from loopwright.judging.controls.near_texts import near_texts, near_word
from loopwright.judging.syntax.edits import Edits, any_done
from loopwright.judging.syntax.go_source import GoSource, parts

if TYPE_CHECKING:
    from tree_sitter import Node

_TEXTS = frozenset({"interpreted_string_literal", "raw_string_literal"})
# Every type of numbers has these.
_MOST = 127
_LARGE = 1e15
_ARITHMETIC = frozenset({"+", "-", "*"})
_CONVERSIONS = frozenset({
    "string", "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "byte", "rune",
    "float32", "float64", "bool", "new", "append", "errors.New", "fmt.Errorf", "time.Duration",
})  # fmt: skip
# A short text may be in a longer one by chance, and a tolerance may hide a near number.
_LOOKS_INSIDE = re.compile(rb"Contains|HasPrefix|HasSuffix|Regexp|Subset|Match")
_TOLERANT = re.compile(rb"InDelta|InEpsilon|math\.Abs")


class GoValues:
    """Changes values in one source; each literal once."""

    def __init__(self, source: GoSource, edits: Edits, marks: Marks) -> None:
        self._source = source
        self._edits = edits
        self._marks = marks
        self._done: dict[int, bool] = {}

    def change(self, node: Node) -> bool:
        """Change a value that consists of literals; False if nothing in it can be changed."""
        if node.id not in self._done:
            self._done[node.id] = self._change(node)
        return self._done[node.id]

    def _change(self, node: Node) -> bool:
        match node.type:
            case kind if kind in _TEXTS:
                return self._change_text(node)
            case "int_literal":
                return self._replace(node, self._integer(self._source.text(node)))
            case "float_literal":
                return self._replace(node, self._float(self._source.text(node)))
            case "rune_literal" | "true" | "false" if self._marks.is_near:
                return False
            case "rune_literal":
                return self._replace(node, "'Q'" if self._source.text(node) != "'Q'" else "'Z'")
            case "true" | "false":
                return self._replace(node, "false" if node.type == "true" else "true")
            case "parenthesized_expression" | "unary_expression" | "literal_element":
                return any_done(self.change(child) for child in parts(node))
            case "binary_expression":
                return self._change_sum(node)
            case "composite_literal":
                return self._change_elements(node.child_by_field_name("body"))
            case "literal_value":
                return self._change_elements(node)
            case "call_expression" | "type_conversion_expression":
                return self._change_converted(node)
            case _:
                return False

    def _change_text(self, node: Node) -> bool:
        if not self._marks.is_near:
            return self._edits.insert(node.end_byte - 1, self._marks.text)
        text, step = self._source.source[node.start_byte : node.end_byte], self._marks.step
        near = near_word(text, step)
        if near is None and not _LOOKS_INSIDE.search(self._source.source):
            near = next(near_texts(text, step), None)
        return near is not None and self._edits.replace(node.start_byte, node.end_byte, near)

    def _replace(self, node: Node, text: str | None) -> bool:
        return text is not None and self._edits.replace(node.start_byte, node.end_byte, text.encode())

    def _integer(self, text: str) -> str | None:
        plain = text.replace("_", "").lower()
        octal = len(plain) > 1 and plain[0] == "0" and plain.isdigit()
        try:
            value = int(plain, 8) if octal else int(plain, 0)
        except ValueError:
            return None
        if self._marks.is_near and _TOLERANT.search(self._source.source):
            return None
        step = self._marks.number_step if self._marks.is_near else 1 + self._marks.offset % 27
        return str(value + step if value + step <= _MOST else value - step)

    def _float(self, text: str) -> str | None:
        try:
            value = float(text.replace("_", ""))
        except ValueError:
            return None
        if self._marks.is_near:
            # Floats are seldom compared exactly.
            return None
        # A large value may be that of an integer type, which a larger one would leave.
        return repr(float(self._marks.number(value))) if abs(value) < _LARGE else repr(value / 2)

    def _change_sum(self, node: Node) -> bool:
        """Change one number or text of a sum or product: a change of both might be none."""
        operator = node.child_by_field_name("operator")
        if operator is None or self._source.text(operator) not in _ARITHMETIC:
            return False
        return any(self.change(child) for child in parts(node))

    def _change_elements(self, body: Node | None) -> bool:
        """Change the values of a composite literal, not its keys."""
        elements = [
            element.child_by_field_name("value") if element.type == "keyed_element" else element
            for element in parts(body)
        ]
        return any_done(self.change(element) for element in elements if element is not None)

    def _change_converted(self, node: Node) -> bool:
        """Change what a value is made from: `[]byte("x")`, `errors.New("x")`."""
        if node.type == "type_conversion_expression":
            operand = node.child_by_field_name("operand")
            return operand is not None and self.change(operand)
        function = node.child_by_field_name("function")
        name = self._source.text(function)
        if name not in _CONVERSIONS and (function is None or function.type not in {"slice_type", "parenthesized_type"}):
            return False
        return any(self.change(argument) for argument in parts(node.child_by_field_name("arguments")))
