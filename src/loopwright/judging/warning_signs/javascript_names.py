"""What an expression of a JavaScript source refers to, in whatever way the name is spelled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from loopwright.judging.syntax.javascript_source import JavaScriptSource, arguments, field, unwrapped, within

if TYPE_CHECKING:
    from tree_sitter import Node

_GLOBALS = ("globalThis.", "global.", "window.", "self.")
# Before the name of a module. A module name can't contain this character.
MODULE = "module:"


class JavaScriptNames:
    """The names that one file imports, or gives to something that it imports."""

    def __init__(self, source: JavaScriptSource) -> None:
        self._source = source
        self._known: dict[str, str] = {}
        declared = [node for node in within(source.root) if node.type in {"variable_declarator", "import_statement"}]
        # A name of a name needs a second look.
        for node in (*declared, *declared):
            for name, origin in self._imported(node) if node.type == "import_statement" else self._assigned(node):
                if origin and origin != name:
                    self._known.setdefault(name, origin)

    def origin(self, node: Node | None) -> str:
        """The full name: `process.exit` for `e` after `const { exit: e } = require("process")`."""
        if node is None:
            return ""
        node = unwrapped(node)
        match node.type:
            case "identifier" | "shorthand_property_identifier":
                name = self._source.text(node)
                found = self._known.get(name, name)
            case "member_expression":
                found = self._member(field(node, "object"), self._source.text(field(node, "property")))
            case "subscript_expression":
                found = self._member(field(node, "object"), self.constant(field(node, "index")))
            case "sequence_expression":
                found = self.origin(node.named_children[-1])
            case "call_expression" | "await_expression":
                found = self._result(node)
            case _:
                found = ""
        return _plain(found)

    def origin_of_text(self, name: str) -> str:
        """The full name of a variable."""
        return self._known.get(name, name)

    def constant(self, node: Node | None) -> str | None:
        """The text of an expression that always has the same text: `"ex" + "it"`; None for every other."""
        if node is None:
            return None
        node = unwrapped(node)
        if node.type == "string" or (node.type == "template_string" and not node.named_children):
            return self._source.text(node)[1:-1]
        if node.type == "template_string" and all(child.type == "string_fragment" for child in node.named_children):
            return self._source.text(node)[1:-1]
        if node.type == "binary_expression" and self._source.text(field(node, "operator")) == "+":
            left, right = self.constant(field(node, "left")), self.constant(field(node, "right"))
            return left + right if left is not None and right is not None else None
        return None

    def _member(self, owner: Node | None, name: str | None) -> str:
        found = self.origin(owner)
        return f"{found}.{name}" if found and name else ""

    def _result(self, node: Node) -> str:
        if node.type == "await_expression":
            return self.origin(node.named_children[-1]) if node.named_children else ""
        called, found = field(node, "function"), arguments(node)
        name = "import" if called is not None and called.type == "import" else self.origin(called)
        if name in {"require", "import"} and found:
            text = self.constant(found[0])
            return f"{MODULE}{text.removeprefix('node:')}" if text else ""
        if name == "Reflect.get" and len(found) > 1:
            return self._member(found[0], self.constant(found[1]))
        return ""

    def _assigned(self, node: Node) -> Iterator[tuple[str, str]]:
        name, origin = field(node, "name"), self.origin(field(node, "value"))
        if name is None or not origin:
            return
        if name.type == "identifier":
            yield self._source.text(name), origin
        for part in name.named_children if name.type == "object_pattern" else ():
            if part.type == "shorthand_property_identifier_pattern":
                yield self._source.text(part), _plain(f"{origin}.{self._source.text(part)}")
            elif part.type == "pair_pattern":
                key, value = field(part, "key"), field(part, "value")
                yield self._source.text(value), _plain(f"{origin}.{self._source.text(key)}")

    def _imported(self, node: Node) -> Iterator[tuple[str, str]]:
        module = self.constant(field(node, "source"))
        if not module:
            return
        origin = _plain(f"{MODULE}{module.removeprefix('node:')}")
        for part in within(node):
            if part.type == "import_specifier":
                name, alias = field(part, "name"), field(part, "alias")
                yield self._source.text(alias or name), f"{origin}.{self._source.text(name)}"
            elif part.type in {"namespace_import", "import_clause"}:
                for child in part.named_children:
                    if child.type == "identifier":
                        yield self._source.text(child), origin


def _plain(name: str) -> str:
    """The name without the global object, and without a module's `default`."""
    for prefix in _GLOBALS:
        name = name.removeprefix(prefix)
    if name == f"{MODULE}process" or name.startswith(f"{MODULE}process."):
        name = name.removeprefix(MODULE)
    return name.replace(".default", "") if name.startswith(MODULE) else name
