"""Finds what tests of Go expect: in conditions whose body reports a failure, and in calls that compare.

An expectation may be a literal, a name that was given one, a field of the cases of a table, or a parameter of a helper
whose callers pass a literal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from loopwright.judging.controls.go_values import GoValues
from loopwright.judging.syntax.edits import Edits, any_done
from loopwright.judging.syntax.go_source import GoSource, parts, within

if TYPE_CHECKING:
    from tree_sitter import Node

FUNCTIONS = frozenset({"function_declaration", "method_declaration", "func_literal"})
FAILS = re.compile(r"\w+\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)")
# Names of functions that compare two values, the first or second of which is expected.
_COMPARES = frozenset({"DeepEqual", "Equal", "EqualFold", "Contains", "HasPrefix", "HasSuffix", "Diff"})
_ASSERTS = re.compile(
    r"(?:assert|require|is|must|c|s|suite|a|r|qt)\.(?:Equal|EqualValues|Exactly|Contains|ElementsMatch|JSONEq|YAMLEq|Len|InDelta"
    r"|InEpsilon|EqualError|ErrorContains|Same|Regexp|Subset|Assert|Check|DeepEqual)f?"
)
_OPPOSITES = {
    "True": "False", "False": "True", "Nil": "NotNil", "NotNil": "Nil", "NoError": "Error", "Error": "NoError",
    "Empty": "NotEmpty", "NotEmpty": "Empty", "NotEqual": "Equal", "NotContains": "Contains",
}  # fmt: skip
# A helper of another file that compares, by its name.
HELPER = re.compile(r"(?i).*(?:assert|check|equal|expect|require|verify|compare|same|want|diff|eq).*")
# Calls that only show a value.
_SHOWS = re.compile(r"\w+\.(?:Log|Logf|Skip|Skipf|Sprintf|Sprint|Printf|Println)|len|cap|string|errors\.Is")
_HAS_OPPOSITE = re.compile(rf"(assert|require)\.({'|'.join(_OPPOSITES)})")
_EXPECTED = re.compile(r"(?i)(?:^|.*\.)(?:want|expect|exp|should|golden|correct|out|result|res|w)\w*")
_DEEPEST = 4


class GoAssertions:
    """Changes the expectations of one source."""

    def __init__(self, source: GoSource, edits: Edits, values: GoValues) -> None:
        self._source = source
        self._edits = edits
        self._values = values
        self._structs = {
            source.text(node.child_by_field_name("name")): node.child_by_field_name("type")
            for node in within(source.root)
            if node.type == "type_spec"
        }
        self._functions = frozenset(
            source.text(node.child_by_field_name("name")) for node in parts(source.root) if node.type in FUNCTIONS
        )
        self._calls: dict[str, list[Node]] = {}
        self._definitions: dict[str, list[tuple[Node, Node]]] = {}
        self._fields: dict[str, list[Node]] | None = None
        self._reach: list[Node] = []
        self._mentioned: frozenset[str] = frozenset()
        for node in within(source.root):
            self._index(node)

    def _index(self, node: Node) -> None:
        if node.type == "call_expression":
            self._calls.setdefault(self._source.text(node.child_by_field_name("function")), []).append(node)
        names, values = _defined(node)
        for name, value in zip(names, values, strict=False):
            self._definitions.setdefault(self._source.text(name), []).append((node, value))

    def reach(self, functions: list[Node]) -> None:
        """Change only what these functions hold or mention."""
        self._reach = functions
        names = (node for function in functions for node in within(function) if node.type == "identifier")
        self._mentioned = frozenset(map(self._source.text, names))

    def _is_reached(self, node: Node) -> bool:
        """Whether a node is in one of the functions, or in a variable of the package that they mention."""
        if any(function.start_byte <= node.start_byte < function.end_byte for function in self._reach):
            return True
        found: Node | None = node
        while found is not None and found.type not in {"var_spec", "const_spec", *FUNCTIONS}:
            found = found.parent
        if found is None or found.type in FUNCTIONS:
            return False
        return any(self._source.text(name) in self._mentioned for name in found.children_by_field_name("name"))

    def change(self, node: Node) -> bool:
        """Change what a statement expects; False if it expects nothing that can be changed."""
        if node.type == "if_statement":
            condition = node.child_by_field_name("condition")
            return condition is not None and self._reports(node) and self._change_condition(condition, 0)
        if node.type == "call_expression":
            name = self._source.text(node.child_by_field_name("function"))
            if _ASSERTS.fullmatch(name):
                return self._change_one(parts(node.child_by_field_name("arguments"))[:4], 0)
        return False

    def change_call(self, node: Node, states: frozenset[str]) -> bool:
        """Change the last literal that a helper of another file gets next to the state of the test."""
        if node.type != "call_expression":
            return False
        found = parts(node.child_by_field_name("arguments"))
        name = self._source.text(node.child_by_field_name("function"))
        is_foreign = HELPER.fullmatch(name) and name.rpartition(".")[2] not in self._functions
        if len(found) < 2 or self._source.text(found[0]) not in states or not is_foreign:
            return False
        return any(self._values.change(argument) for argument in reversed(found[1:]))

    def negate(self, node: Node) -> bool:
        """Turn a condition that reports a failure, or an assertion, into its opposite."""
        if node.type == "if_statement" and self._reports(node):
            condition = node.child_by_field_name("condition")
            return condition is not None and self._edits.wrap(condition.start_byte, condition.end_byte, b"!(", b")")
        if node.type == "call_expression":
            function = node.child_by_field_name("function")
            found = _HAS_OPPOSITE.fullmatch(self._source.text(function))
            if found is not None and function is not None and self._takes_state(node):
                opposite = f"{found[1]}.{_OPPOSITES[found[2]]}".encode()
                return self._edits.replace(function.start_byte, function.end_byte, opposite)
        return False

    def _takes_state(self, call: Node) -> bool:
        found = parts(call.child_by_field_name("arguments"))
        return 1 < len(found) <= 3

    def _reports(self, statement: Node) -> bool:
        """Whether a condition that is true always means a failure."""
        return self._fails(statement.child_by_field_name("consequence"))

    def _fails(self, block: Node | None) -> bool:
        ahead = parts(block)
        while ahead:
            node = ahead.pop()
            if node.type == "call_expression" and FAILS.fullmatch(
                self._source.text(node.child_by_field_name("function"))
            ):
                return True
            if node.type == "if_statement":
                other = node.child_by_field_name("alternative")
                if other is not None and self._fails(node.child_by_field_name("consequence")) and self._fails(other):
                    return True
            elif node.type not in {"for_statement", *FUNCTIONS}:
                ahead += parts(node)
        return False

    def _change_condition(self, node: Node, depth: int) -> bool:
        """Change the expectation in a condition that is true if the test fails."""
        match node.type:
            case "parenthesized_expression":
                return any_done(self._change_condition(child, depth) for child in parts(node))
            case "unary_expression" if self._source.text(node).startswith("!"):
                return self._change_comparison(parts(node)[-1], depth)
            case "binary_expression":
                operator = self._source.text(node.child_by_field_name("operator"))
                sides = [node.child_by_field_name("left"), node.child_by_field_name("right")]
                operands = [side for side in sides if side is not None]
                if operator in {"&&", "||"}:
                    return any_done(self._change_condition(side, depth) for side in operands)
                return operator == "!=" and (self._change_diff(operands) or self._change_one(operands, depth))
            case "call_expression":
                return False
            case _:
                return False

    def _change_comparison(self, node: Node, depth: int) -> bool:
        """Change an argument of a function that compares, or a field that says whether something is expected."""
        match node.type:
            case "parenthesized_expression":
                return any_done(self._change_comparison(child, depth) for child in parts(node))
            case "call_expression":
                name = self._source.text(node.child_by_field_name("function")).rpartition(".")[2]
                return name in _COMPARES and self._change_one(parts(node.child_by_field_name("arguments")), depth)
            case "binary_expression" if self._source.text(node.child_by_field_name("operator")) == "==":
                return self._change_one(parts(node), depth)
            case "selector_expression":
                return self._change_field(node)
            case _:
                return False

    def _change_diff(self, operands: list[Node]) -> bool:
        """Change what `diff` compares in `if diff := cmp.Diff(want, got); diff != ""`."""
        if '""' not in map(self._source.text, operands):
            return False
        for operand in operands:
            for _, value in self._near(operand):
                function = (
                    self._source.text(value.child_by_field_name("function")) if value.type == "call_expression" else ""
                )
                if function.rpartition(".")[2] == "Diff":
                    return self._change_one(parts(value.child_by_field_name("arguments"))[:2], 0)
        return False

    def _change_one(self, operands: list[Node], depth: int) -> bool:
        """Change one of several values: a change of two might be none."""
        order = sorted(operands, key=lambda node: not _EXPECTED.fullmatch(self._source.text(node)))
        return any(self._values.change(node) for node in operands) or any(
            self._change_named(node, depth) for node in order
        )

    def _change_named(self, node: Node, depth: int) -> bool:
        if depth > _DEEPEST:
            return False
        match node.type:
            case "selector_expression":
                return self._change_field(node)
            case "identifier":
                if not self._is_only_expected(node, everywhere=self._is_of_package(node)):
                    return False
                if self._change_parameter(node, depth):
                    return True
                found = [value for _, value in self._near(node)]
                changed = any_done(self._values.change(value) for value in found)
                return (
                    changed
                    or self._change_ranged(node, depth)
                    or any_done(
                        self._change_named(value, depth + 1)
                        for value in found
                        if value.type in {"identifier", "selector_expression"}
                    )
                )
            case "index_expression" | "unary_expression" | "parenthesized_expression":
                return any(self._change_named(child, depth + 1) for child in parts(node)[:1])
            case "call_expression" | "type_conversion_expression":
                name = self._source.text(node.child_by_field_name("function"))
                inner = parts(node.child_by_field_name("arguments")) or parts(node)[-1:]
                is_conversion = node.type != "call_expression" or name in {"string", "len", "int", "float64"}
                return is_conversion and any(self._change_named(child, depth + 1) for child in inner)
            case _:
                return False

    def _is_only_expected(self, name: Node, *, everywhere: bool) -> bool:
        """Whether a name or a field is only compared and shown: a change of what it stands for changes no input."""
        places = [self._source.root] if everywhere else self._reach
        return all(map(self._is_compared, self._uses(self._source.text(name), name.type, places)))

    def _uses(self, text: str, kind: str, places: list[Node]) -> Iterator[Node]:
        for place in places:
            for node in within(place):
                if node.type == kind and self._source.text(node) == text:
                    yield node

    def _is_compared(self, name: Node) -> bool:
        """Whether a use of a name compares or shows its value, or gives it."""
        node, above = name, name.parent
        is_in_comparison = False
        while above is not None and not above.type.endswith(("_statement", "block")):
            if above.type == "call_expression":
                called = self._source.text(above.child_by_field_name("function"))
                if FAILS.fullmatch(called) or _ASSERTS.fullmatch(called):
                    return True
                if called.rpartition(".")[2] in _COMPARES:
                    is_in_comparison = True
                elif not _SHOWS.fullmatch(called) and not is_in_comparison:
                    return self._is_passed_to_helper(above, called)
            if above.type == "parameter_declaration":
                return True
            if above.type == "range_clause":
                return node == above.child_by_field_name("left") or self._runs_over_expectations(above)
            if above.type in {"short_var_declaration", "var_spec", "const_spec"}:
                return is_in_comparison or node != (
                    above.child_by_field_name("right") or above.child_by_field_name("value")
                )
            if above.type == "keyed_element" and node == above.child_by_field_name("key"):
                return True
            node, above = above, above.parent
        if above is not None and above.type == "assignment_statement":
            is_given = self._source.text(above.child_by_field_name("operator")) == "="
            return is_in_comparison or (is_given and node == above.child_by_field_name("left"))
        return above is not None and above.type == "if_statement" and node == above.child_by_field_name("condition")

    def _runs_over_expectations(self, clause: Node) -> bool:
        """Whether a loop only compares the values over which it runs. Fields of a value are asked for one by one."""
        body = clause.parent.child_by_field_name("body") if clause.parent is not None else None
        for name in parts(clause.child_by_field_name("left"))[1:]:
            for use in self._uses(self._source.text(name), "identifier", [body] if body is not None else []):
                is_field = use.parent is not None and use.parent.type == "selector_expression"
                if not is_field and not self._is_compared(use):
                    return False
        return True

    def _is_passed_to_helper(self, call: Node, called: str) -> bool:
        """Whether a call compares its arguments in a function that gets the state of the test."""
        return bool(HELPER.fullmatch(called)) and len(parts(call.child_by_field_name("arguments"))) > 1

    def _is_of_package(self, name: Node) -> bool:
        return any(_enclosing(node) is None for node, _ in self._near(name))

    def _near(self, name: Node) -> list[tuple[Node, Node]]:
        """The values that a name gets in its function, else in the file."""
        found = self._definitions.get(self._source.text(name), [])
        own = _enclosing(name)
        while own is not None:
            inside = [(node, value) for node, value in found if own.start_byte <= node.start_byte < own.end_byte]
            if inside:
                return inside
            own = _enclosing(own)
        return [(node, value) for node, value in found if _enclosing(node) is None]

    def _change_ranged(self, name: Node, depth: int) -> bool:
        """Change the values over which a loop runs, if the name is the variable of the loop."""
        node: Node | None = name
        text = self._source.text(name)
        while node is not None:
            clause = next((child for child in parts(node) if child.type == "range_clause"), None)
            if node.type == "for_statement" and clause is not None:
                names = [self._source.text(part) for part in parts(clause.child_by_field_name("left"))]
                values = clause.child_by_field_name("right")
                if values is not None and text in names[1:]:
                    return self._values.change(values) or self._change_named(values, depth + 1)
            node = node.parent
        return False

    def _change_parameter(self, name: Node, depth: int) -> bool:
        """Change what callers pass to a helper."""
        function = _enclosing(name)
        while function is not None:
            position = self._position(function, self._source.text(name))
            if position is not None:
                callers = self._calls.get(self._function_name(function), [])
                arguments = [parts(call.child_by_field_name("arguments"))[position : position + 1] for call in callers]
                reached = [found for found in arguments if found and self._is_reached(found[0])]
                return any_done(self._change_one(found, depth + 1) for found in reached)
            function = _enclosing(function)
        return False

    def _function_name(self, function: Node) -> str:
        named = function.child_by_field_name("name")
        if named is not None:
            return self._source.text(named)
        # A closure has the name that it was given.
        for name, definitions in self._definitions.items():
            if any(value == function for _, value in definitions):
                return name
        return "\0"

    def _position(self, function: Node, name: str) -> int | None:
        position = 0
        for parameter in parts(function.child_by_field_name("parameters")):
            names = parameter.children_by_field_name("name")
            for found in names:
                if self._source.text(found) == name:
                    return position
                position += 1
            position += not names
        return None

    def _change_field(self, node: Node) -> bool:
        """Change a field in all literals of the file that have the field."""
        field = node.child_by_field_name("field")
        if field is None:
            return False
        if self._fields is None:
            self._fields = {}
            for name, value in self._all_fields():
                self._fields.setdefault(name, []).append(value)
        found = [value for value in self._fields.get(self._source.text(field), ()) if self._is_reached(value)]
        of_package = any(_enclosing(value) is None for value in found)
        if not found or not self._is_only_expected(field, everywhere=of_package):
            return False
        return any_done(self._values.change(value) for value in found)

    def _all_fields(self) -> Iterator[tuple[str, Node]]:
        """The fields of all struct literals with their values."""
        for literal in within(self._source.root):
            if literal.type == "composite_literal":
                kind = literal.child_by_field_name("type")
                yield from self._fields_of(literal.child_by_field_name("body"), kind)

    def _fields_of(self, body: Node | None, kind: Node | None) -> Iterator[tuple[str, Node]]:
        kind = self._plain(kind)
        if body is None or kind is None:
            return
        if kind.type in {"slice_type", "array_type", "implicit_length_array_type", "map_type"}:
            inner = kind.child_by_field_name("value" if kind.type == "map_type" else "element")
            for literal in _literals_in(body):
                yield from self._fields_of(literal, inner)
            return
        names = self._field_names(kind) if kind.type == "struct_type" else []
        for position, element in enumerate(parts(body)):
            value = element.child_by_field_name("value")
            if element.type == "keyed_element" and value is not None:
                yield self._source.text(element.child_by_field_name("key")), value
            elif position < len(names):
                yield names[position], element

    def _plain(self, kind: Node | None) -> Node | None:
        """The type without pointers, by its definition in the file."""
        for _ in range(_DEEPEST):
            if kind is not None and kind.type == "pointer_type":
                kind = parts(kind)[0]
            elif kind is not None and self._structs.get(self._source.text(kind)) is not None:
                kind = self._structs[self._source.text(kind)]
        return kind

    def _field_names(self, struct: Node) -> list[str]:
        found: list[str] = []
        for listed in parts(struct):
            for declared in parts(listed):
                names = declared.children_by_field_name("name")
                found += [self._source.text(name) for name in names] or [
                    self._source.text(declared.child_by_field_name("type")).rpartition(".")[2]
                ]
        return found


def _literals_in(body: Node) -> Iterator[Node]:
    """The elements of a list or a map that are literals without a type of their own."""
    for element in parts(body):
        value = element.child_by_field_name("value") if element.type == "keyed_element" else element
        yield from (found for found in parts(value) if found.type == "literal_value")


def _enclosing(node: Node) -> Node | None:
    """The function around a node."""
    found = node.parent
    while found is not None and found.type not in FUNCTIONS:
        found = found.parent
    return found


def _defined(node: Node) -> tuple[list[Node], list[Node]]:
    """The names that a statement defines or sets, and their values."""
    match node.type:
        case "short_var_declaration" | "assignment_statement":
            return parts(node.child_by_field_name("left")), parts(node.child_by_field_name("right"))
        case "var_spec" | "const_spec":
            return node.children_by_field_name("name"), parts(node.child_by_field_name("value"))
        case _:
            return [], []
