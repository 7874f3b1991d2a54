"""JavaScript functions that throw in place of returning. `raising_python` has the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from loopwright.judging.controls.model import Raising
from loopwright.judging.syntax.edits import Edits, any_done
from loopwright.judging.syntax.javascript_source import (
    FUNCTIONS,
    JavaScriptSource,
    field,
    parse_javascript,
    within,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_THROW = b'throw new Error("loopwright")'
# A test may expect any error, so a function that must not run ends its process.
_END = b'process.kill(process.pid, "SIGKILL")'
_THROWING_VALUE = b"(() => { " + _THROW + b" })()"


def raise_in_javascript(path: str, before: bytes, after: bytes) -> Raising | None:
    """The new source with throwing functions; None if no function changed, or the source can't be parsed."""
    parsed = parse_javascript(path, after)
    if parsed is None:
        return None
    edits, at_entry = Edits(after), Edits(after)
    altered, lines = [], []
    for name, node in _changed_functions(path, parsed, before):
        if _alter(parsed, edits, node):
            _begin_with(_THROW, at_entry, node)
            altered.append(name)
            first, last = node.start_point[0] + 2, node.end_point[0]
            lines += [(name, first, last)] if first <= last else []
    source = edits.applied()
    return (
        Raising(source, at_entry.applied(), tuple(dict.fromkeys(altered)), tuple(lines))
        if altered and parse_javascript(path, source) is not None
        else None
    )


def stop_javascript(path: str, before: bytes, after: bytes) -> bytes | None:
    """The new source in which changed functions end the process at once, also those that never return."""
    parsed = parse_javascript(path, after)
    if parsed is None:
        return None
    edits = Edits(after)
    changed = [node for _, node in _changed_functions(path, parsed, before)]
    for node in changed:
        _begin_with(_END, edits, node)
    source = edits.applied()
    return source if changed and parse_javascript(path, source) is not None else None


def _changed_functions(path: str, source: JavaScriptSource, before: bytes) -> Iterator[tuple[str, Node]]:
    """The functions that the old source does not have in this form, with their names."""
    old = parse_javascript(path, before)
    known = Counter(_identity(old, node) for node in _functions(old)) if old is not None else Counter()
    for node in _functions(source):
        identity = _identity(source, node)
        if known[identity]:
            known[identity] -= 1
        else:
            yield identity[0], node


def functions_by_name(source: JavaScriptSource) -> dict[str, str]:
    """The tokens of each function by its name; functions of the same name are one."""
    found: dict[str, str] = {}
    for name, code in (_identity(source, node) for node in _functions(source)):
        found[name] = f"{found.get(name, '')} {code}"
    return found


def _functions(source: JavaScriptSource) -> Iterator[Node]:
    return (node for node in within(source.root) if node.type in FUNCTIONS)


def _identity(source: JavaScriptSource, node: Node) -> tuple[str, str]:
    """The qualified name and the tokens of a function, without comments."""
    names = []
    current: Node | None = node
    while current is not None:
        if current.type in {*FUNCTIONS, "class_declaration", "variable_declarator", "public_field_definition"}:
            names.append(source.text(field(current, "name")))
        elif current.type == "pair":
            names.append(source.text(field(current, "key")))
        elif current.type == "assignment_expression":
            names.append(source.text(field(current, "left")))
        current = current.parent
    leaves = (part for part in _leaves(node) if part.type != "comment")
    return ".".join(filter(None, reversed(names))) or "<anonymous>", " ".join(map(source.text, leaves))


def _leaves(node: Node) -> Iterator[Node]:
    ahead = [node]
    while ahead:
        current = ahead.pop()
        if current.child_count == 0 or current.type in {"string", "template_string", "comment"}:
            yield current
        else:
            ahead += reversed(current.children)


def _alter(source: JavaScriptSource, edits: Edits, function: Node) -> bool:
    body = field(function, "body")
    if body is None:
        return False
    if body.type != "statement_block":
        return edits.wrap(body.start_byte, body.end_byte, b"{ throw [", b"] }")
    nodes = [part for part in within(body, into_functions=False) if part.type not in FUNCTIONS]
    is_open = not _never_ends(source, body)
    at_end = is_open and edits.insert(body.end_byte - 1, b";" + _THROW)
    return any_done([*(_alter_node(edits, node) for node in nodes), at_end])


def _begin_with(statement: bytes, edits: Edits, function: Node) -> None:
    body = field(function, "body")
    if body is not None and body.type == "statement_block":
        edits.insert(body.start_byte + 1, statement + b";")
    elif body is not None:
        edits.replace(body.start_byte, body.end_byte, b"{ " + statement + b" }")


def _alter_node(edits: Edits, node: Node) -> bool:
    value = next((child for child in node.named_children if child.type != "comment"), None)
    match node.type:
        case "return_statement" if value is None:
            return edits.replace(node.start_byte, node.start_byte + len(b"return"), _THROW)
        case "return_statement" if value is not None:
            edits.replace(node.start_byte, node.start_byte + len(b"return"), b"throw [")
            return edits.wrap(value.end_byte, value.end_byte, b"", b"]")
        case "yield_expression" if value is None:
            return edits.insert(node.end_byte, b" " + _THROWING_VALUE)
        case "yield_expression" if value is not None:
            return edits.wrap(value.start_byte, value.end_byte, b"[", b", " + _THROWING_VALUE + b"]")
        case _:
            return False


def _never_ends(source: JavaScriptSource, block: Node) -> bool:
    """Whether the end of a block or statement can't be reached."""
    statements = [child for child in block.named_children if child.type != "comment"]
    match block.type:
        case "statement_block" | "else_clause":
            return bool(statements) and _never_ends(source, statements[-1])
        case "return_statement" | "throw_statement":
            return True
        case "if_statement":
            yes, no = field(block, "consequence"), field(block, "alternative")
            return yes is not None and no is not None and _never_ends(source, yes) and _never_ends(source, no)
        case "expression_statement":
            return bool(statements) and source.text(field(statements[0], "function")) == "process.exit"
        case _:
            return False
