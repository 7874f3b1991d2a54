"""Changes assertions that are chains: `expect(x).toBe(1)`, `expect(x).to.equal(1)`, `x.should.equal(1)`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loopwright.judging.controls.javascript_values import JavaScriptValues, is_text, literals
from loopwright.judging.syntax.edits import Edits, any_done
from loopwright.judging.syntax.javascript_source import JavaScriptSource, arguments, field

if TYPE_CHECKING:
    from tree_sitter import Node

_MATCHER = re.compile(r"to[A-Z]\w*")
# Literals of these matchers are the expected value. Others, such as toBeGreaterThan, may hold for another value, too.
_EQUAL = frozenset({
    "toBe", "toEqual", "toStrictEqual", "toMatchObject", "toHaveLength", "toBeCloseTo", "toHaveBeenCalledTimes",
    "toHaveBeenCalledWith", "toHaveBeenLastCalledWith", "toHaveReturnedWith", "toContainEqual", "toHaveProperty",
    "equal", "equals", "eq", "eql", "eqls", "lengthOf", "exactly", "deepEqual",
})  # fmt: skip
_INEXACT = frozenset({"toBeCloseTo", "closeTo"})
_CONTAINS = frozenset({"toContain", "include", "includes", "contain", "contains", "string"})
_NO_ASSERTIONS = frozenset({"assertions", "hasAssertions", "extend", "any", "anything"})


class ExpectChains:
    """Changes the chains of one source."""

    def __init__(
        self, source: JavaScriptSource, edits: Edits, values: JavaScriptValues, *, is_near: bool = False
    ) -> None:
        self._source = source
        self._edits = edits
        self._values = values
        self._is_near = is_near

    def change(self, head: Node) -> bool:
        """Change the chain that begins with this node; False if none begins here."""
        if not self._is_head(head):
            return False
        members, calls = _chain(head)
        if not members:
            return False
        name = self._source.text(field(members[-1], "property"))
        negations = [member for member in members if self._source.text(field(member, "property")) == "not"]
        if self._is_near:
            is_exact = not negations and len(calls) == 1 and name not in _INEXACT
            return is_exact and self._change_expected(name, arguments(calls[0]))
        if negations:
            return self._remove_negation(negations[-1])
        received = arguments(head)
        if "Snapshot" in name:
            return bool(received) and self._values.replace_value(received[0])
        if len(calls) == 1 and self._change_expected(name, arguments(calls[0])):
            return True
        before = members[-1] if _MATCHER.fullmatch(name) else members[0]
        subject = field(before, "object")
        return subject is not None and self._edits.insert(subject.end_byte, b".not")

    def _is_head(self, node: Node) -> bool:
        if node.type == "member_expression":
            return self._source.text(field(node, "property")) == "should"
        callee = field(node, "function")
        text = self._source.text(callee)
        return text in {"expect", "should", "expect.soft", "chai.expect", "t.expect"} and bool(arguments(node))

    def _change_expected(self, name: str, found: list[Node]) -> bool:
        if not found:
            return False
        if name in _CONTAINS:
            return is_text(found[0]) and self._values.change_word(found[0])
        if name not in _EQUAL:
            return False
        wanted = found[1:2] if name == "toHaveProperty" and len(found) > 1 else found
        wanted = wanted[:1] if name == "toBeCloseTo" else wanted
        return any(any(literals(node)) for node in wanted) and any_done(self._values.change_literals(n) for n in wanted)

    def _remove_negation(self, member: Node) -> bool:
        subject = field(member, "object")
        return subject is not None and self._edits.replace(subject.end_byte, member.end_byte, b"")


def _chain(head: Node) -> tuple[list[Node], list[Node]]:
    """The members and the calls that follow the head of a chain."""
    members: list[Node] = []
    calls: list[Node] = []
    node = head
    while (parent := node.parent) is not None:
        if parent.type == "member_expression" and field(parent, "object") == node:
            members.append(parent)
        elif parent.type == "call_expression" and field(parent, "function") == node:
            calls.append(parent)
        elif parent.type != "non_null_expression":
            break
        node = parent
    return members, calls
