"""Pins constants of Go packages: a test expects their values of the base, whatever the work made of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from loopwright.judging.syntax.edits import Edits
from loopwright.judging.syntax.go_source import GoSource, parse_go, parts, within

if TYPE_CHECKING:
    from tree_sitter import Node

_LITERALS = frozenset({
    "int_literal", "float_literal", "imaginary_literal", "rune_literal", "interpreted_string_literal",
    "raw_string_literal", "true", "false", "nil",
})  # fmt: skip
_OPERATIONS = frozenset({
    "unary_expression", "binary_expression", "parenthesized_expression", "literal_value", "literal_element",
    "keyed_element",
})  # fmt: skip
_COMPARING = frozenset({"==", "!=", "<", "<=", ">", ">="})
# How often a test does something is no expectation.
_LOOPS = frozenset({"for_clause", "for_statement"})
# Packages whose functions compare what they get.
_ASSERTING = ("assert.", "require.", "is.", "qt.", "cmp.", "reflect.DeepEqual")
_CONVERSIONS = frozenset({"string", "int", "int64", "uint", "float64", "len", "float32", "int32", "uint64"})
_DEEPEST = 5


def constants_of(source: bytes) -> dict[str, bytes]:
    """The constants and variables of a package that consist of literals, as expressions without names."""
    parsed = parse_go(source)
    if parsed is None:
        return {}
    values = dict(_declared(parsed))
    texts = {name: _literal(parsed, value, values, _DEEPEST) for name, value in values.items()}
    return {name: text for name, text in texts.items() if text is not None}


def pin_go(source: bytes, constants: Mapping[str, bytes]) -> bytes | None:
    """The test file with these values in the places where it expects a constant; None if it expects none.

    Constants of another package have its name in front.
    """
    parsed = parse_go(source)
    if parsed is None:
        return None
    edits, own, kept = Edits(source), _own_names(parsed), set[bytes]()
    for node in within(parsed.root):
        name = _constant(parsed, node, constants)
        if name and parsed.text(node) not in own and _is_expected(parsed, node, constants):
            edits.replace(node.start_byte, node.end_byte, b"(" + constants[name] + b")")
            kept.add(source[node.start_byte : node.end_byte])
    # Without its last use an import would not compile.
    uses = b"".join(b"\nvar _ = " + name for name in sorted(kept))
    return edits.applied() + uses + b"\n" if kept else None


def _declared(source: GoSource) -> Iterator[tuple[str, Node]]:
    for declaration in parts(source.root):
        if declaration.type not in {"const_declaration", "var_declaration"}:
            continue
        for spec in within(declaration):
            if spec.type in {"const_spec", "var_spec"}:
                names = [name for name in spec.children_by_field_name("name") if name.type == "identifier"]
                values = parts(spec.child_by_field_name("value"))
                if len(names) == len(values):
                    yield from zip(map(source.text, names), values, strict=True)


def _literal(source: GoSource, node: Node, values: Mapping[str, Node], depth: int) -> bytes | None:
    """A value as an expression of literals only; names of other constants stand for their values."""
    if not depth:
        return None
    text = source.source[node.start_byte : node.end_byte]
    if node.type == "identifier" and source.text(node) in values:
        named = _literal(source, values[source.text(node)], values, depth - 1)
        return None if named is None else b"(" + named + b")"
    if node.type in _LITERALS:
        return text
    if node.type == "composite_literal":
        body, kind = node.child_by_field_name("body"), node.child_by_field_name("type")
        if body is None or kind is None or kind.type == "type_identifier":
            # A type of the package needs another name in another package.
            return None
        elements = _literal(source, body, values, depth)
        return source.source[node.start_byte : body.start_byte] + elements if elements is not None else None
    if node.type not in _OPERATIONS:
        return None
    text, end = b"", node.start_byte
    for part in parts(node):
        literal = _literal(source, part, values, depth)
        if literal is None:
            return None
        text, end = text + source.source[end : part.start_byte] + literal, part.end_byte
    return text + source.source[end : node.end_byte]


def _constant(source: GoSource, node: Node, constants: Mapping[str, bytes]) -> str:
    """The constant that an expression names; empty if it names none."""
    parent = node.parent
    if node.type == "selector_expression":
        name = source.text(node)
        return name if name in constants else ""
    if node.type != "identifier" or parent is None or parent.type in {"selector_expression", "const_spec", "var_spec"}:
        return ""
    name = source.text(node)
    return name if name in constants else ""


def _own_names(source: GoSource) -> frozenset[str]:
    """The names that the test file declares itself."""
    found = set[str]()
    for node in within(source.root):
        if node.type == "short_var_declaration":
            found |= set(map(source.text, parts(node.child_by_field_name("left"))))
        elif node.type in {"parameter_declaration", "const_spec", "var_spec"}:
            found |= set(map(source.text, node.children_by_field_name("name")))
    return frozenset(found)


def _is_expected(source: GoSource, node: Node, constants: Mapping[str, bytes]) -> bool:
    """Whether a constant is what a test expects: next to an answer in a comparison, in a table, or kept in a name."""
    inner, current = node, node.parent
    while current is not None and current.type not in {"func_literal", "function_declaration"}:
        if current.type == "binary_expression" and source.text(current.child_by_field_name("operator")) in _COMPARING:
            is_loop = current.parent is not None and current.parent.type in _LOOPS
            return not is_loop and any(not _is_known(source, part, constants) for part in parts(current))
        if current.type == "keyed_element":
            # Other columns of a table may be inputs.
            return inner != parts(current)[0] and _may_expect(source.text(parts(current)[0]))
        if current.type in {"short_var_declaration", "var_spec"}:
            left = current.child_by_field_name("left") or current.child_by_field_name("name")
            return any(_may_expect(source.text(name)) for name in (parts(left) or [left] if left is not None else []))
        if current.type == "call_expression":
            called = source.text(current.child_by_field_name("function"))
            if called not in _CONVERSIONS and not called.startswith("math."):
                others = [part for part in parts(current.child_by_field_name("arguments")) if not _holds(part, inner)]
                return called.startswith(_ASSERTING) and any(
                    not _is_known(source, part, constants) for part in others[-2:] if source.text(part) != "t"
                )
        inner, current = current, current.parent
    return False


def _may_expect(name: str) -> bool:
    """Whether Go's usual names for expectations say that a value is one."""
    return name.lower().startswith(("want", "expect", "exp", "res", "out"))


def _is_known(source: GoSource, node: Node, constants: Mapping[str, bytes]) -> bool:
    """Whether an expression consists of literals and of constants: nothing in it is an answer of the product."""
    return all(
        part.type not in {"call_expression", "identifier", "selector_expression"}
        or any(_constant(source, around, constants) for around in (part, part.parent) if around is not None)
        for part in within(node)
    )


def _holds(outer: Node, inner: Node) -> bool:
    return outer.start_byte <= inner.start_byte and inner.end_byte <= outer.end_byte
