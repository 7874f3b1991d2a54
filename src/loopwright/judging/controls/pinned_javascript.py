"""Pins constants of JavaScript sources: a test expects their values of the base, whatever the work made of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from loopwright.judging.controls.javascript_names import AssertionNames
from loopwright.judging.syntax.edits import Edits
from loopwright.judging.syntax.javascript_source import (
    FUNCTIONS,
    JavaScriptSource,
    arguments,
    field,
    parse_javascript,
    unwrapped,
    within,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_LITERALS = frozenset({"number", "string", "true", "false", "null", "undefined", "regex"})
_OPERATIONS = frozenset({"unary_expression", "binary_expression", "array", "parenthesized_expression"})
# Objects whose functions compute something from what they get, and ask the product nothing.
_BUILT_IN = frozenset({"Array", "BigInt", "Boolean", "JSON", "Math", "Number", "Object", "String"})
_EXPORTS = ("exports", "module.exports")
# How often a test does something is no expectation.
_LOOPS = frozenset({"for_statement", "while_statement", "do_statement"})
_DEEPEST = 5


def constants_of(path: str, source: bytes) -> dict[str, bytes]:
    """The constants at the top of a file that consist of literals, as expressions without names."""
    parsed = parse_javascript(path, source)
    if parsed is None:
        return {}
    values: dict[str, Node] = {}
    for name, value in _assigned(parsed):
        # An export may have the name of what it exports.
        values.setdefault(name, value)
    texts = {name: _literal(parsed, value, values, _DEEPEST) for name, value in values.items()}
    return {name: text for name, text in texts.items() if text is not None}


def pin_javascript(path: str, source: bytes, constants: Mapping[str, bytes]) -> bytes | None:
    """The test file with these values in the places where it expects a constant; None if it expects none."""
    parsed = parse_javascript(path, source)
    if parsed is None:
        return None
    names, edits = _Names(parsed, constants), Edits(source)
    assertions = AssertionNames(parsed)
    pinned = False
    for node in within(parsed.root):
        name = names.constant(node)
        if name and _is_expected(parsed, node, names, assertions):
            pinned |= edits.replace(node.start_byte, node.end_byte, b"(" + constants[name] + b")")
    return edits.applied() if pinned else None


def _assigned(source: JavaScriptSource) -> Iterator[tuple[str, Node]]:
    """What the top of a file assigns to names and exports."""
    for statement in source.root.named_children:
        declared = field(statement, "declaration") or statement
        if declared.type in {"lexical_declaration", "variable_declaration"}:
            for part in declared.named_children:
                name, value = field(part, "name"), field(part, "value")
                if name is not None and value is not None and name.type == "identifier":
                    yield source.text(name), value
        part = statement.named_children[0] if statement.type == "expression_statement" else statement
        if part.type == "assignment_expression":
            yield from _exported(source, part)


def _exported(source: JavaScriptSource, assignment: Node) -> Iterator[tuple[str, Node]]:
    left, value = field(assignment, "left"), field(assignment, "right")
    if left is None or value is None or left.type != "member_expression":
        return
    if source.text(field(left, "object")) in _EXPORTS:
        yield source.text(field(left, "property")), value
    if source.text(left) == "module.exports" and value.type == "object":
        for pair in value.named_children:
            key, given = field(pair, "key"), field(pair, "value")
            if key is not None and given is not None:
                yield source.text(key), given


def _literal(source: JavaScriptSource, node: Node, values: Mapping[str, Node], depth: int) -> bytes | None:
    """A value as an expression of literals only; names of other constants stand for their values."""
    node = unwrapped(node)
    if not depth:
        return None
    if node.type == "identifier" and source.text(node) in values:
        named = _literal(source, values[source.text(node)], values, depth - 1)
        return None if named is None else b"(" + named + b")"
    if node.type == "call_expression" and source.text(field(node, "function")) == "Object.freeze":
        given = arguments(node)
        return _literal(source, given[0], values, depth) if len(given) == 1 else None
    text = source.source[node.start_byte : node.end_byte]
    if node.type in _LITERALS or (node.type == "template_string" and b"${" not in text):
        return text
    if node.type == "object":
        return _object(source, node, values, depth)
    if node.type not in _OPERATIONS:
        return None
    return _with_parts(source, node, node.named_children, values, depth)


def _object(source: JavaScriptSource, node: Node, values: Mapping[str, Node], depth: int) -> bytes | None:
    pairs = [child for child in node.named_children if child.type != "comment"]
    given = [field(pair, "value") for pair in pairs]
    if any(pair.type != "pair" for pair in pairs) or any(
        (key := field(pair, "key")) is None or key.type == "computed_property_name" for pair in pairs
    ):
        return None
    return _with_parts(source, node, [value for value in given if value is not None], values, depth)


def _with_parts(
    source: JavaScriptSource, node: Node, parts: list[Node], values: Mapping[str, Node], depth: int
) -> bytes | None:
    """The text of a node with its parts as literals."""
    text, end = b"", node.start_byte
    for part in parts:
        literal = _literal(source, part, values, depth) if part.type != "comment" else b""
        if literal is None:
            return None
        text, end = text + source.source[end : part.start_byte] + literal, part.end_byte
    return text + source.source[end : node.end_byte]


class _Names:
    """Which expressions of a test file are constants of the product, by what it imports."""

    def __init__(self, source: JavaScriptSource, constants: Mapping[str, bytes]) -> None:
        self._source = source
        self._constants = constants
        self._objects: set[str] = set()
        self._local: dict[str, str] = {}
        # Names of the test itself, with their values if these are literals.
        self._literals: set[str] = set()
        for node in within(source.root):
            if node.type in {"import_clause", "namespace_import"}:
                self._objects |= {source.text(part) for part in node.named_children if part.type == "identifier"}
            elif node.type == "import_specifier":
                name = source.text(field(node, "name"))
                self._local[source.text(field(node, "alias")) or name] = name
            elif node.type == "variable_declarator":
                self._declared(node)

    def _declared(self, node: Node) -> None:
        source, name, value = self._source, field(node, "name"), field(node, "value")
        if name is None or value is None:
            return
        if _literal(source, value, {}, _DEEPEST) is not None:
            self._literals.add(source.text(name))
        if not any(_imports(source, part) for part in within(value)):
            return
        if name.type == "identifier":
            self._objects.add(source.text(name))
        for part in name.named_children if name.type == "object_pattern" else ():
            if part.type == "shorthand_property_identifier_pattern":
                self._local[source.text(part)] = source.text(part)
            elif part.type == "pair_pattern":
                self._local[source.text(field(part, "value"))] = source.text(field(part, "key"))

    def constant(self, node: Node) -> str:
        """The constant that an expression names; empty if it names none."""
        parent, name = node.parent, ""
        if node.type == "identifier" and parent is not None and parent.type != "import_specifier":
            is_object = parent.type == "member_expression" and self._local.get(self._source.text(node)) is None
            name = "" if is_object else self._local.get(self._source.text(node), "")
        elif node.type == "member_expression" and self._source.text(field(node, "object")) in self._objects:
            name = self._source.text(field(node, "property"))
        return name if name in self._constants else ""

    def is_known(self, node: Node) -> bool:
        """Whether an expression consists of literals and of constants: nothing in it is an answer of the product."""
        for part in within(node):
            if part.type in FUNCTIONS or part.type in {"call_expression", "new_expression", "await_expression"}:
                return False
            is_name = part.type in {"identifier", "member_expression"}
            if is_name and not any(self.constant(around) for around in _around(part, node)):
                if part.type == "identifier" and self._source.text(part) in self._literals:
                    continue
                return False
        return True


def _around(node: Node, outermost: Node) -> Iterator[Node]:
    current: Node | None = node
    while current is not None:
        yield current
        current = current.parent if current != outermost else None


def _imports(source: JavaScriptSource, node: Node) -> bool:
    return node.type == "call_expression" and source.text(field(node, "function")) in {"require", "import"}


def _is_expected(source: JavaScriptSource, node: Node, names: _Names, assertions: AssertionNames) -> bool:
    """Whether a constant is what a test expects: next to an answer in an assertion, a comparison, or kept in a name."""
    inner, current = node, node.parent
    while current is not None and current.type not in FUNCTIONS:
        if current.type == "binary_expression" and _compares(source, current):
            is_loop = current.parent is not None and current.parent.type in _LOOPS
            return not is_loop and any(not names.is_known(part) for part in current.named_children)
        if current.type == "variable_declarator":
            is_imported = any(_imports(source, part) for part in within(current))
            return not is_imported and not _is_input(source, source.text(field(current, "name")), assertions)
        if current.type == "call_expression" and not _is_built_in(source, current):
            return _is_expectation_of(source, current, inner, names, assertions)
        inner, current = current, current.parent
    return False


def _compares(source: JavaScriptSource, node: Node) -> bool:
    return source.text(field(node, "operator")) in {"==", "===", "!=", "!==", "<", "<=", ">", ">="}


def _is_built_in(source: JavaScriptSource, call: Node) -> bool:
    callee = field(call, "function")
    root = source.text(callee).partition(".")[0].strip()
    return root in _BUILT_IN


def _is_expectation_of(
    source: JavaScriptSource, call: Node, inner: Node, names: _Names, assertions: AssertionNames
) -> bool:
    """Whether a call is an assertion that compares a constant with something else."""
    callee = field(call, "function")
    if callee is None or inner == callee or not _asserts(source, call, assertions):
        return False
    chain = _expect_of(source, callee)
    if chain is not None:
        return not all(map(names.is_known, arguments(chain)))
    others = [part for part in arguments(call)[:2] if part != inner.parent and not _holds(part, inner)]
    return any(not names.is_known(part) for part in others)


def _asserts(source: JavaScriptSource, call: Node, assertions: AssertionNames) -> bool:
    callee = field(call, "function")
    name = source.text(callee)
    is_known = name.partition(".")[0].strip() in assertions.objects or name in assertions.functions
    return is_known or (callee is not None and _expect_of(source, callee) is not None)


def _expect_of(source: JavaScriptSource, callee: Node) -> Node | None:
    """The call of `expect` at the begin of a chain."""
    return next((part for part in within(callee) if _is_expect(source, part)), None)


def _is_input(source: JavaScriptSource, name: str, assertions: AssertionNames) -> bool:
    """Whether a name of the test is handed to a function, which may be one of the product."""
    uses = (part for part in within(source.root) if part.type == "identifier" and source.text(part) == name)
    return any(
        (call := _call_around(source, use)) is not None and not _asserts(source, call, assertions) for use in uses
    )


def _call_around(source: JavaScriptSource, node: Node) -> Node | None:
    """The call, of no built-in function, whose argument an expression is in."""
    inner, current = node, node.parent
    while current is not None and current.type not in FUNCTIONS:
        if current.type == "call_expression" and not _is_built_in(source, current):
            return current if inner != field(current, "function") else None
        inner, current = current, current.parent
    return None


def _is_expect(source: JavaScriptSource, node: Node) -> bool:
    return node.type == "call_expression" and source.text(field(node, "function")) in {"expect", "assert", "should"}


def _holds(outer: Node, inner: Node) -> bool:
    return outer.start_byte <= inner.start_byte and inner.end_byte <= outer.end_byte
