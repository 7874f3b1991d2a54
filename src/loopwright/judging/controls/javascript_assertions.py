"""Edits that change what the assertions of JavaScript tests expect: node:assert, tape, tap, ava, chai, jest, vitest."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loopwright.judging.controls.expect_chains import ExpectChains
from loopwright.judging.controls.javascript_guards import JavaScriptGuards
from loopwright.judging.controls.javascript_names import AssertionNames
from loopwright.judging.controls.javascript_values import JavaScriptValues, is_text
from loopwright.judging.controls.marks import Marks
from loopwright.judging.syntax.edits import Edits
from loopwright.judging.syntax.javascript_source import JavaScriptSource, arguments, field, unwrapped

if TYPE_CHECKING:
    from tree_sitter import Node

_EQUAL = frozenset({
    "equal", "equals", "isEqual", "is", "same", "strictSame", "looseEqual", "looseSame", "deepEqual", "deepEquals",
    "deepStrictEqual", "strictEqual", "strictEquals", "strictDeepEqual", "deepLooseEqual", "isEquivalent", "propEqual",
    "partialDeepStrictEqual", "hasStrict", "has", "lengthOf", "closeTo", "approximately", "eq", "sameMembers",
    "sameDeepMembers", "sameOrderedMembers", "strictEqualTo", "like",
})  # fmt: skip
# These have a tolerance, or do not look at the order: two changes could cancel each other.
_INEXACT = frozenset({"closeTo", "approximately", "sameMembers", "sameDeepMembers"})
_TRUE = frozenset({"ok", "true", "truthy", "assert", "isTrue", "isOk"})
_FALSE = frozenset({"notOk", "notok", "false", "falsy", "isFalse", "isNotOk"})
_THROWS = frozenset({"throws", "rejects", "throwsAsync", "throw", "Throw"})
_VALUE = frozenset({"snapshot", "matchSnapshot", "ifError", "error", "isNull", "isUndefined"})
_OPPOSITES = {
    "notEqual": "equal", "notStrictEqual": "strictEqual", "notDeepEqual": "deepEqual", "notSame": "same",
    "notDeepStrictEqual": "deepStrictEqual", "not": "is", "notDeepLooseEqual": "deepLooseEqual",
    "include": "notInclude", "notInclude": "include", "property": "notProperty", "notProperty": "property",
    "instanceOf": "notInstanceOf", "typeOf": "notTypeOf", "exists": "notExists", "notExists": "exists",
    "isAbove": "isAtMost", "isAtMost": "isAbove", "isBelow": "isAtLeast", "isAtLeast": "isBelow",
    "deepInclude": "notDeepInclude", "isDefined": "isUndefined", "isNotNull": "isNull",
}  # fmt: skip
_UNEQUAL = frozenset({"notEqual", "notStrictEqual", "notDeepEqual", "notDeepStrictEqual"})
_NEVER = b"function () { return false }"


class JavaScriptAssertions:
    """Changes assertions of one source."""

    def __init__(
        self,
        source: JavaScriptSource,
        edits: Edits,
        names: AssertionNames,
        local: frozenset[str],
        marks: Marks,
        probe: str = "",
    ) -> None:
        """`probe` is the name of the probes of conditions that fail a test; without one they change."""
        self._source = source
        self._edits = edits
        self._names = names
        self._local = local
        self._values = JavaScriptValues(source, edits, marks)
        self._is_near = marks.is_near
        self._chains = ExpectChains(source, edits, self._values, is_near=marks.is_near)
        self._guards = JavaScriptGuards(source, edits, self._values, probe)

    def change(self, node: Node) -> bool:
        """Change what one node expects; False if it expects nothing, or nothing that can be changed."""
        match node.type:
            case "call_expression":
                return self._chains.change(node) or self._change_call(node)
            case "member_expression":
                return self._chains.change(node)
            case _:
                return self._guards.change(node)

    def _change_call(self, call: Node) -> bool:
        name, is_method = self._assertion(field(call, "function"))
        found = arguments(call)
        if not name or not found or any(argument.type == "spread_element" for argument in found):
            return False
        if name in _TRUE:
            return self._values.falsify(found[0])
        if name in _FALSE:
            return self._values.negate(found[0])
        if self._is_near:
            is_exact = len(found) > 1 and name in _EQUAL - _INEXACT
            return is_exact and self._values.make_unequal(found[0], found[1])
        if name in _VALUE:
            return self._values.replace_value(found[0])
        if name in _THROWS:
            return self._change_throws(found)
        if len(found) > 1 and name in _EQUAL:
            return self._values.make_unequal(found[0], found[1])
        if len(found) > 1 and name in {"match", "doesNotMatch", "notMatch"}:
            return self._change_match(found[1], opposite=b"/(?!)/" if name == "match" else b"/(?:)/")
        if not is_method and len(found) > 1 and name in _UNEQUAL:
            return self._make_equal(found[0], found[1])
        return is_method and self._rename(call, name)

    def _assertion(self, callee: Node | None) -> tuple[str, bool]:
        """The name of the assertion that is called, and whether it is a method; empty for other calls."""
        if callee is None:
            return "", False
        name = self._source.text(callee)
        if callee.type == "identifier":
            if name in self._local:
                return "", False
            return (self._names.functions.get(name) or ("assert" if name == "assert" else "")), False
        if callee.type != "member_expression":
            return "", False
        owner = name.partition(".")[0].strip()
        is_assertion = owner in self._names.objects
        return (self._source.text(field(callee, "property")), True) if is_assertion else ("", False)

    def _change_throws(self, found: list[Node]) -> bool:
        """Call the product, but accept none of its errors."""
        if len(found) == 1:
            return self._edits.insert(found[0].end_byte, b", " + _NEVER)
        if is_text(found[1]):
            return self._edits.insert(found[1].start_byte, _NEVER + b", ")
        return self._values.replace(found[1], _NEVER)

    def _make_equal(self, left: Node, right: Node) -> bool:
        """Give the first value twice."""
        is_free = self._edits.replace(left.end_byte, right.end_byte, b")")
        return is_free and self._edits.insert(left.start_byte, b"...((x) => [x, x])(")

    def _change_match(self, pattern: Node, *, opposite: bytes) -> bool:
        is_pattern = unwrapped(pattern).type != "object"
        return self._values.replace(pattern, opposite) if is_pattern else self._values.change_literals(pattern)

    def _rename(self, call: Node, name: str) -> bool:
        found = field(call, "function", "property")
        opposite = _OPPOSITES.get(name)
        if opposite is None and re.fullmatch(r"is(Not)?(Array|Object|String|Number|Boolean|Function|Empty|NaN)", name):
            opposite = name.replace("isNot", "is") if name.startswith("isNot") else name.replace("is", "isNot", 1)
        return found is not None and opposite is not None and self._values.replace(found, opposite.encode())
