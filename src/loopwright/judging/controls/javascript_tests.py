"""Inverts JavaScript and TypeScript files: tests, the helpers that they call, and scripts that check at top level."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from loopwright.judging.controls.javascript_assertions import JavaScriptAssertions
from loopwright.judging.controls.javascript_names import AssertionNames
from loopwright.judging.controls.javascript_probes import JavaScriptProbes, ProbedJavaScript
from loopwright.judging.controls.javascript_values import JavaScriptValues, is_literal
from loopwright.judging.controls.marks import Marks, marks_of
from loopwright.judging.controls.model import NO_ASSERTION, SCRIPT, UNREADABLE, UNSAFE, Inverted
from loopwright.judging.syntax.edits import Edits, any_done
from loopwright.judging.syntax.javascript_source import (
    FUNCTIONS,
    JavaScriptSource,
    arguments,
    field,
    parse_javascript,
    unwrapped,
    within,
)
from loopwright.judging.syntax.nesting import unless_too_deep

if TYPE_CHECKING:
    from tree_sitter import Node

_TESTS = frozenset({"test", "it", "specify", "tap", "fit", "xit"})
# Other assertions are conditions, with probes of their own.
_SOFTENED = frozenset({"call_expression", "member_expression"})
_MODIFIERS = frozenset({"only", "skip", "todo"})
_SUITES = frozenset({"describe", "context", "suite", "fdescribe"})


def invert_javascript(path: str, source: bytes, only: frozenset[str] | None, marks: Marks) -> Inverted:
    """The file with changed expectations of its tests, or of the given ones. Names of suites and test: `a > b`."""
    parsed = parse_javascript(path, source)
    if parsed is None:
        return Inverted(source, unaltered=dict.fromkeys(only or (SCRIPT,), UNREADABLE))
    inverted = JavaScriptFile(parsed, marks, Edits(source)).inverted(only)
    if inverted.altered and parse_javascript(path, inverted.source) is None:
        return Inverted(source, unaltered=dict.fromkeys([*inverted.altered, *inverted.unaltered], UNSAFE))
    return inverted


def probe_javascript(
    path: str, source: bytes, *, salt: str, is_near: bool = False, soft: Iterable[str] = ()
) -> ProbedJavaScript | None:
    """The file with probes; None if no test of it can go on to its end. `path` is relative to the project.

    `soft` are tests by their ids that failed: their assertions may fail as they are.
    """
    return unless_too_deep(None, lambda: _probed(path, source, salt, soft, is_near=is_near))


def _probed(path: str, source: bytes, salt: str, soft: Iterable[str], *, is_near: bool) -> ProbedJavaScript | None:
    parsed = parse_javascript(path, source)
    if parsed is None:
        return None
    edits = Edits(source)
    probes = JavaScriptProbes(parsed, edits, path, salt, soft)
    inverted = JavaScriptFile(parsed, marks_of(salt, is_near=is_near), edits, probes).inverted(None)
    if not probes.tests or parse_javascript(path, inverted.source) is None:
        return None
    return ProbedJavaScript(inverted.source, inverted.altered, inverted.unaltered, frozenset(probes.tests))


class JavaScriptFile:
    """The tests and functions of one file, and which refer to which."""

    def __init__(
        self, source: JavaScriptSource, marks: Marks, edits: Edits, probes: JavaScriptProbes | None = None
    ) -> None:
        self._source = source
        self._marks = marks
        self._edits = edits
        self._probes = probes
        self._functions: dict[str, list[Node]] = {}
        for node in within(source.root):
            self._index(node)
        self._names = AssertionNames(source)
        self._assertions = self._new_assertions()
        self._changed: dict[int, bool] = {}
        self._parts: dict[int, bool] = {}
        self._mentions: dict[int, list[Node]] = {}

    def single_changes(self) -> Iterator[tuple[Node, bytes]]:
        """For a script: each node that expects something, with the file in which only that node changed."""
        self._named_tests()
        is_found, assertions = False, self._assertions
        for node in within(self._source.root):
            if assertions.change(node):
                is_found = True
                yield node, self._edits.applied()
                self._edits = Edits(self._source.source)
                assertions = self._new_assertions()
        if not is_found and not self._marks.is_near:
            yield from self._single_exits()

    def _single_exits(self) -> Iterator[tuple[Node, bytes]]:
        for node in within(self._source.root):
            code, self._edits = self._exit_code(node), Edits(self._source.source)
            values = JavaScriptValues(self._source, self._edits, self._marks)
            if code is not None and self._change_exit(values, code):
                yield node, self._edits.applied()

    def _new_assertions(self) -> JavaScriptAssertions:
        probe = self._probes.name if self._probes is not None else ""
        return JavaScriptAssertions(
            self._source, self._edits, self._names, frozenset(self._functions), self._marks, probe
        )

    def _named_tests(self) -> list[tuple[str, Node]]:
        """The tests, after the names of their parameters are known."""
        tests = list(self._tests())
        for _, call in tests:
            for argument in arguments(call):
                if argument.type in FUNCTIONS:
                    self._names.add_parameter(argument)
        return tests

    def inverted(self, only: frozenset[str] | None) -> Inverted:
        """Change all tests, or the given ones; a file without tests is a script."""
        tests = self._named_tests()
        chosen = [(name, call) for name, call in tests if only is None or name in only]
        if self._probes is not None:
            self._probes.add_tests(chosen)
        results: dict[str, bool] = {}
        for name, call in chosen:
            results[name] = self._change_reachable([call]) or results.get(name, False)
        if not tests and (only is None or SCRIPT in only):
            results[SCRIPT] = self._change_script()
        altered = frozenset(name for name, changed in results.items() if changed)
        return Inverted(self._edits.applied(), altered, {name: NO_ASSERTION for name in results if name not in altered})

    def _index(self, node: Node) -> None:
        name = field(node, "name")
        function = field(node, "value") if node.type in {"variable_declarator", "public_field_definition"} else node
        if name is not None and function is not None and unwrapped(function).type in FUNCTIONS:
            self._functions.setdefault(self._source.text(name), []).append(unwrapped(function))

    def _tests(self) -> Iterator[tuple[str, Node]]:
        for call in within(self._source.root):
            if call.type == "call_expression" and self._kind(call) == "test":
                yield self._identifier(call), call

    def _kind(self, call: Node) -> str:
        """`test` or `suite`, for a call that defines one; else empty."""
        found = arguments(call)
        if not any(argument.type in FUNCTIONS or argument.type == "identifier" for argument in found):
            return ""
        callee = field(call, "function")
        while callee is not None and callee.type == "call_expression":
            callee = field(callee, "function")
        words = self._source.text(callee).split(".") if callee is not None else [""]
        if words[0] in _SUITES:
            return "suite"
        is_named = words[0] in self._names.tests and _MODIFIERS.issuperset(words[1:])
        is_test = words[0] in _TESTS or words[1:] == ["test"] or is_named
        return "test" if is_test and (found[0].type in FUNCTIONS or len(found) > 1) else ""

    def _identifier(self, call: Node) -> str:
        names = [self._title(call)]
        node: Node | None = call.parent
        while node is not None:
            if node.type == "call_expression" and self._kind(node):
                names.append(self._title(node))
            node = node.parent
        return " > ".join(reversed(names))

    def _title(self, call: Node) -> str:
        first = arguments(call)[0]
        text = self._source.text(first)
        if first.type in {"string", "template_string"}:
            # Escapes other than quotes are rare in titles.
            return text[1:-1].replace("\\" + text[0], text[0])
        return text if first.type not in FUNCTIONS else "<anonymous>"

    def _change_reachable(self, nodes: Iterable[Node]) -> bool:
        """Change code and the functions of the file that it can reach; True if anything changed."""
        ahead = list(nodes)
        seen: dict[int, Node] = {}
        while ahead:
            node = ahead.pop(0)
            if node.id in seen:
                continue
            seen[node.id] = node
            if node.id not in self._mentions:
                self._mentions[node.id] = self._referred(node)
            ahead += self._mentions[node.id]
        return any_done(self._change_node(node) for node in seen.values())

    def _referred(self, node: Node) -> list[Node]:
        kinds = {"identifier", "property_identifier", "shorthand_property_identifier"}
        names = dict.fromkeys(self._source.text(part) for part in within(node) if part.type in kinds)
        return [function for name in names for function in self._functions.get(name, ()) if function != node]

    def _change_node(self, node: Node) -> bool:
        if node.id not in self._changed:
            self._changed[node.id] = any_done(self._change_once(part) for part in within(node))
        return self._changed[node.id]

    def _change_once(self, part: Node) -> bool:
        if part.id not in self._parts:
            self._parts[part.id] = self._assertions.change(part)
            if self._parts[part.id] and self._probes is not None and part.type in _SOFTENED:
                self._probes.soften(part)
        return self._parts[part.id]

    def _change_script(self) -> bool:
        if self._change_reachable([self._source.root]):
            return True
        if self._marks.is_near:
            return False
        values = JavaScriptValues(self._source, self._edits, self._marks)
        codes = [code for node in within(self._source.root) if (code := self._exit_code(node)) is not None]
        return any_done(self._change_exit(values, code) for code in codes)

    def _exit_code(self, node: Node) -> Node | None:
        if node.type == "call_expression" and self._source.text(field(node, "function")) == "process.exit":
            return next(iter(arguments(node)), None)
        if node.type == "assignment_expression" and self._source.text(field(node, "left")) == "process.exitCode":
            return field(node, "right")
        return None

    def _change_exit(self, values: JavaScriptValues, code: Node) -> bool:
        """Turn a computed exit code into its opposite; a constant code tells nothing about the work."""
        if is_literal(code):
            return False
        inner = unwrapped(code)
        condition = field(inner, "condition")
        zero = self._source.text(field(inner, "consequence")) == "0"
        if inner.type == "ternary_expression" and condition is not None:
            return values.falsify(condition) if zero else values.negate(condition)
        return self._edits.wrap(code.start_byte, code.end_byte, b"Number(!(", b"))")
