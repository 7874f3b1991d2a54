"""The assertions of a JavaScript script, each changed by itself: the first that fails hides the others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from loopwright.judging.controls.javascript_tests import JavaScriptFile
from loopwright.judging.controls.marks import Marks
from loopwright.judging.controls.reach import ScriptPlace, ScriptReach, reach_of_calls
from loopwright.judging.syntax.edits import Edits
from loopwright.judging.syntax.javascript_source import (
    FUNCTIONS,
    JavaScriptSource,
    field,
    parse_javascript,
    unwrapped,
    within,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_FAILURE = b"(() => { process.exit(1) })()"
_TYPED_FAILURE = b'(() => { throw new Error("failed") })()'
_NAMES = frozenset({"identifier", "property_identifier", "shorthand_property_identifier"})
# What a condition about the machine is made of.
_OF_MACHINE = frozenset({"process", "os", "globalThis", "Boolean", "Number", "String", "parseInt", "undefined"})
_IS_MAIN = re.compile(r"\brequire\.main\b|\bimport\.meta\b")
_SKIPS = re.compile(r"\.(skip|todo)\b|^x(it|test|describe)\b|^(skip|todo)\b")
_FAILS = re.compile(r"\bthrow\b|process\.exit|\bfail\(")


def javascript_places(path: str, source: bytes, marks: Marks) -> Iterator[ScriptPlace]:
    """The script, with another assertion changed each time; without assertions, with another exit code changed."""
    parsed = parse_javascript(path, source)
    if parsed is None:
        return
    reaches = _Reaches(parsed)
    for node, changed in JavaScriptFile(parsed, marks, Edits(source)).single_changes():
        if parse_javascript(path, changed) is not None:
            yield ScriptPlace(changed, reaches.of(node), _failing(path, parsed, node))


def _failing(path: str, source: JavaScriptSource, node: Node) -> bytes | None:
    failure = _TYPED_FAILURE if source.is_typed else _FAILURE
    place = field(node, "condition") if node.type == "if_statement" else node
    if place is None or place.type in {"switch_statement", "assignment_expression"}:
        return None
    edits = Edits(source.source)
    edits.replace(place.start_byte, place.end_byte, b"(" + failure + b")")
    changed = edits.applied()
    return changed if parse_javascript(path, changed) is not None else None


class _Reaches:
    """How surely a script comes to its nodes."""

    def __init__(self, source: JavaScriptSource) -> None:
        self._source = source
        self._mentions: dict[str, list[Node]] = {}
        for node in within(source.root):
            if node.type in _NAMES and not _is_own_name(node):
                self._mentions.setdefault(source.text(node), []).append(node)
        self._functions: dict[int, ScriptReach] = {}

    def of(self, node: Node) -> ScriptReach:
        """How surely the script comes to a node."""
        found, child, parent = ScriptReach.ALWAYS, node, node.parent
        if child.type in FUNCTIONS:
            return self._of_function(child)
        while parent is not None and found is not ScriptReach.OPTIONAL:
            found = min(found, self._of_part(parent, child))
            child, parent = parent, parent.parent
            if child.type in FUNCTIONS:
                return min(found, self._of_function(child))
        return found

    def _of_function(self, function: Node) -> ScriptReach:
        name = self._name(function)
        if not name:
            # A callback, or a function that is called at once.
            return self._of_callback(function)
        if function.id not in self._functions:
            # A function that calls itself is no reason to call it.
            self._functions[function.id] = ScriptReach.OPTIONAL
            self._functions[function.id] = reach_of_calls(map(self.of, self._mentions.get(name, ())))
        return self._functions[function.id]

    def _of_callback(self, function: Node) -> ScriptReach:
        around = function.parent
        while around is not None and around.type in {"arguments", "parenthesized_expression"}:
            around = around.parent
        if around is None:
            return ScriptReach.ALWAYS
        if around.type == "call_expression" and _SKIPS.search(self._source.text(field(around, "function"))):
            return ScriptReach.OPTIONAL
        return self.of(around)

    def _name(self, function: Node) -> str:
        named = field(function, "name")
        if named is not None:
            return self._source.text(named)
        around = function.parent
        while around is not None and around.type == "parenthesized_expression":
            around = around.parent
        if around is None or around.type not in {"variable_declarator", "public_field_definition", "pair"}:
            return ""
        return self._source.text(field(around, "name") or field(around, "key"))

    def _of_part(self, parent: Node, child: Node) -> ScriptReach:
        """How surely a part of a node runs if the node does."""
        match parent.type:
            case "if_statement" | "ternary_expression":
                return self._of_branch(parent, child)
            case "binary_expression" if child == field(parent, "right"):
                operator = field(parent, "operator")
                is_optional = operator is not None and operator.type in {"&&", "||", "??"}
                return self._of_condition(field(parent, "left")) if is_optional else ScriptReach.ALWAYS
            case "catch_clause" | "switch_case" | "switch_default":
                return ScriptReach.IN_BRANCH
            case _:
                return ScriptReach.ALWAYS

    def _of_branch(self, parent: Node, child: Node) -> ScriptReach:
        condition, alternative = field(parent, "condition"), field(parent, "alternative")
        other = field(parent, "consequence") if child == alternative else alternative
        # If the other branch fails, a script that passes takes this one.
        fails = other is not None and _FAILS.search(self._source.text(other)) is not None
        return ScriptReach.ALWAYS if child == condition or fails else self._of_condition(condition)

    def _of_condition(self, condition: Node | None) -> ScriptReach:
        if condition is None:
            return ScriptReach.IN_BRANCH
        if _IS_MAIN.search(self._source.text(condition)):
            return ScriptReach.ALWAYS
        names = {self._source.text(node) for node in within(unwrapped(condition)) if node.type == "identifier"}
        return ScriptReach.OPTIONAL if names <= _OF_MACHINE else ScriptReach.IN_BRANCH


def _is_own_name(node: Node) -> bool:
    """Whether a name is the one that its function gets here."""
    around = node.parent
    return around is not None and node in (field(around, "name"), field(around, "key"))
