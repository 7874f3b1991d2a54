"""Adds probes to Go tests: each assertion records whether it could fail, and the test takes its own path to its end.

Operators of Go can't be replaced, so an assertion that a test reaches can fail. Two kinds can't: an order with NaN, and
a comparison by a method of the product. A test fails at its end.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from loopwright.judging.controls.go_assertions import FUNCTIONS
from loopwright.judging.controls.go_branches import may_be_left_out
from loopwright.judging.controls.go_guards import AssertionForm, GoAssertion, GoGuards
from loopwright.judging.controls.marks import marks_of, records_name
from loopwright.judging.controls.model import Inverted
from loopwright.judging.syntax.edits import Edits
from loopwright.judging.syntax.go_source import GoSource, parts, within

if TYPE_CHECKING:
    from tree_sitter import Node

_SUPPORT = Path(__file__).with_name("go_probe_support.go")
_IMPORT = re.compile(r'\t"([\w/]+)"')
_OPPOSITES = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_EQUALITIES = frozenset({"Equal", "Equals", "Eq", "Is", "Same", "Matches"})
# Calls that give the same answer again.
_PURE = frozenset({
    "len", "cap", "string", "float64", "float32", "int", "int64", "int32", "uint", "uint64", "byte", "rune",
    "math.Abs", "math.Max", "math.Min", "math.Sqrt", "time.Duration",
})  # fmt: skip
_RANDOM = frozenset({'"math/rand"', '"math/rand/v2"', '"testing/quick"'})


class ProbedGo(Inverted, frozen=True):
    """A test file with probes."""

    # The tests that go on to their ends.
    probed: frozenset[str] = frozenset()
    # The first and the last line of each assertion that every test of it must reach.
    assertions: dict[str, tuple[int, int]] = msgspec.field(default_factory=dict)


class GoProbes:
    """Adds probes to the edits of one source."""

    def __init__(
        self, source: GoSource, edits: Edits, path: str, salt: str, helpers: frozenset[str], soft: Iterable[str] = ()
    ) -> None:
        """`soft` are tests by their ids that failed, and go on after a condition that fails them."""
        self._source = source
        self._edits = edits
        self._path = path
        self._salt = salt
        self._soft = sorted(soft)
        # Each file of a package has declarations of its own.
        self._name = f"probe_{salt}_{hashlib.sha256(path.encode()).hexdigest()[:8]}_" if salt else "probe"
        self._found = {found.node.id: found for found in GoGuards(source, helpers).all()}
        imported = [node for node in within(source.root) if node.type == "import_spec"]
        paths = {source.text(node.child_by_field_name("path")) for node in imported}
        self._is_random = bool(paths & _RANDOM)
        guards = {found.node.id for found in self._found.values() if found.form is AssertionForm.GUARD}
        self._left_out = {
            found.node.id for found in self._found.values() if self._soft and may_be_left_out(found.node, guards)
        }
        self._packages = {_package(source, node) for node in imported}

    def has_assertion(self, function: Node) -> bool:
        """Whether a function has an assertion that can be probed, other than by its call."""
        found = [self._found[node.id] for node in within(function) if node.id in self._found]
        return any(not assertion.is_foreign for assertion in found)

    @property
    def assertions(self) -> dict[str, tuple[int, int]]:
        """The lines of the assertions that every test must reach which comes to their functions."""
        sure = [found for found in self._found.values() if not (found.is_in_branch or found.is_in_goroutine)]
        lines = [(found.position, found.node.start_point[0] + 1) for found in sure]
        return {position: (line, line) for position, line in lines}

    def add(self, tests: list[Node]) -> None:
        """Let tests fail at their ends, and let each assertion record that a test reached it."""
        known, last = {test.id for test in tests}, 0
        for node in within(self._source.root):
            if node.id in known:
                self._add_end(node, "Test")
                last = node.end_byte
            elif node.type == "func_literal" and self._is_subtest(node):
                self._add_end(node, "Subtest")
            if (found := self._found.get(node.id)) is not None:
                self._add_assertion(found, is_in_test=node.start_byte < last)
        self._add_support()

    def _add_end(self, function: Node, kind: str) -> None:
        """What is deferred first comes last. Another function around the test would give it another name."""
        body = function.child_by_field_name("body")
        if body is not None:
            self._edits.insert(body.start_byte + 1, f" defer {self._name}{kind}({self._state_of(function)});".encode())

    def _state_of(self, function: Node) -> str:
        parameters = parts(function.child_by_field_name("parameters"))
        return self._source.text(parameters[0].child_by_field_name("name")) if parameters else ""

    def _is_subtest(self, function: Node) -> bool:
        """Whether a function with a named state is passed to `t.Run`."""
        call = function.parent.parent if function.parent is not None else None
        name = self._source.text(call.child_by_field_name("function")) if call is not None else ""
        declared = parts(function.child_by_field_name("parameters"))
        is_test = [self._source.text(part.child_by_field_name("type")) for part in declared] == ["*testing.T"]
        return is_test and name.endswith(".Run") and self._state_of(function) not in {"", "_"}

    def _add_assertion(self, found: GoAssertion, *, is_in_test: bool) -> None:
        is_sampled = found.is_in_goroutine or (self._is_random and found.is_in_branch)
        outcome = "sampled" if is_sampled else "branched" if found.node.id in self._left_out else "failed"
        before = f'({found.state}, "{found.position}", "{outcome}"'
        node = found.node
        if found.form in {AssertionForm.CHOICE, AssertionForm.CALL}:
            method = "Step" if is_in_test else "Reach"
            self._edits.insert(node.start_byte, f"{self._name}{method}{before}); ".encode())
        else:
            is_guard = found.form is AssertionForm.GUARD
            in_helper = "Held" if is_guard and self._soft else "Passed"
            method = ("Guard" if is_guard else "Seen") if is_in_test else in_helper
            self._wrap(found.condition, f"{self._name}{method}{before}, bool(", "))")
        self._compare_all(found)

    def _compare_all(self, found: GoAssertion) -> None:
        """Let the probes look at what an assertion compares."""
        if found.form is AssertionForm.GUARD:
            self._compare(found.condition, found)
        elif found.node.type == "call_expression":
            name = self._source.text(found.node.child_by_field_name("function")).rpartition(".")[2]
            for value in parts(found.node.child_by_field_name("arguments"))[1:2]:
                if name == "False":
                    self._compare(value, found)
                elif name == "True":
                    self._compare_equal(value, found)

    def _wrap(self, node: Node, before: str, after: str) -> None:
        self._edits.wrap(node.start_byte, node.end_byte, before.encode(), after.encode())

    def _compare(self, condition: Node, found: GoAssertion) -> None:
        """Let the probes look at comparisons that may always be false in a condition that fails if it is true."""
        match condition.type:
            case "parenthesized_expression":
                self._compare(parts(condition)[0], found)
            case "binary_expression":
                left, right, operator = (condition.child_by_field_name(part) for part in ("left", "right", "operator"))
                if left is None or right is None or operator is None:
                    return
                if operator.type in {"&&", "||"}:
                    self._compare(left, found)
                    self._compare(right, found)
                elif operator.type in _OPPOSITES:
                    self._compare_order(condition, (left, operator, right), found)
            case "unary_expression" if self._source.text(condition).startswith("!"):
                self._compare_equal(parts(condition)[-1], found)
            case _:
                return

    def _compare_order(self, whole: Node, sides: tuple[Node, Node, Node], found: GoAssertion) -> None:
        """`a > b` may be false because one of both is NaN. What calls something is evaluated once."""
        left, operator, right = sides
        own = f"{self._name}left", f"{self._name}right"
        names = ["" if self._is_pure(side) else name for name, side in zip(own, (left, right), strict=True)]
        texts = [name or self._source.text(side) for name, side in zip(names, (left, right), strict=True)]
        before = f'{self._name}Order({found.state}, "{found.position}", '
        opposite = f", {texts[0]} {_OPPOSITES[operator.type]} {texts[1]})"
        match names:
            case ["", ""]:
                self._wrap(whole, before, opposite)
            case [name, ""]:
                self._wrap(left, f"func() bool {{ {name} := ", f"; return {before}{name}")
                self._wrap(whole, "", f"{opposite} }}()")
            case [name, other] if name and self._edits.replace(operator.start_byte, operator.end_byte, b","):
                same = f"{name} {operator.type} {other}"
                self._wrap(whole, f"func() bool {{ {name}, {other} := ", f"; return {before}{same}{opposite} }}()")
            case _:
                # The left side would have to be evaluated before.
                return

    def _compare_equal(self, call: Node, found: GoAssertion) -> None:
        """`got.Equal(want)` may be true for every value."""
        function = call.child_by_field_name("function") if call.type == "call_expression" else None
        arguments = parts(call.child_by_field_name("arguments"))
        operand = function.child_by_field_name("operand") if function is not None else None
        if function is None or operand is None or not arguments or not all(map(self._is_pure, [operand, *arguments])):
            return
        name = self._source.text(function)
        is_method = self._source.text(operand) not in self._packages and len(arguments) == 1
        if name != "errors.Is" and not (is_method and name.rpartition(".")[2] in _EQUALITIES):
            return
        values = ", ".join([name, *map(self._source.text, arguments)])
        self._wrap(call, f'{self._name}Equal({found.state}, "{found.position}", ', f", {values})")

    def _is_pure(self, node: Node) -> bool:
        """Whether an expression may be evaluated twice."""
        for part in within(node):
            if part.type in {*FUNCTIONS, "type_conversion_expression"}:
                return False
            if part.type == "call_expression" and self._source.text(part.child_by_field_name("function")) not in _PURE:
                return False
            if part.type == "unary_expression" and self._source.text(part).startswith("<-"):
                return False
        return True

    def _add_support(self) -> None:
        """The support code, at the end of the file; its imports after the name of the package."""
        package = next(node for node in parts(self._source.root) if node.type == "package_clause")
        imports, code = _support()
        marks = marks_of(self._salt)
        suffix = "_test" if self._source.text(package).endswith("_test") else ""
        known = {"RECORDS": records_name(self._path, self._salt), "TEXT": marks.text.decode(), "SUFFIX": suffix}
        for word, text in known.items():
            code = code.replace(f'"{word}"', f'"{text}"')
        code = code.replace('"SOFT"', json.dumps("\n".join(self._soft), ensure_ascii=False))
        code = re.sub(r"\bprobe(?=[A-Z])", self._name, code)
        names = {path.rpartition("/")[2]: path for path in imports}
        code = re.sub(rf"\b({'|'.join(names)})(?=\.[A-Z])", rf"{self._name}\1", code)
        loads = "; ".join(f'{self._name}{name} "{path}"' for name, path in names.items())
        self._edits.insert(package.end_byte, f"; import ({loads})".encode())
        self._edits.insert(len(self._source.source), f"\n{code}".encode())


@cache
def _support() -> tuple[tuple[str, ...], str]:
    """The imports and the declarations of the support code."""
    before, _, code = _SUPPORT.read_text(encoding="utf-8").partition("\n)\n")
    return tuple(_IMPORT.findall(before)), code


def _package(source: GoSource, spec: Node) -> str:
    """The name by which a file knows a package, as far as the path tells."""
    name = source.text(spec.child_by_field_name("name"))
    return name or source.text(spec.child_by_field_name("path")).strip('"').rpartition("/")[2]
