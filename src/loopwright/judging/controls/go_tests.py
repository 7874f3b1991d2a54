"""Inverts tests of Go: the file with each test's own expectation changed.

Where no expectation can be changed, a condition is turned into its opposite, or the test fails at its end. That reveals
early exits and forged output only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from loopwright.judging.controls.go_assertions import GoAssertions
from loopwright.judging.controls.go_probes import GoProbes, ProbedGo
from loopwright.judging.controls.go_values import GoValues
from loopwright.judging.controls.marks import Marks, marks_of
from loopwright.judging.controls.model import NO_ASSERTION, SCRIPT, UNREADABLE, UNSAFE, Inverted
from loopwright.judging.controls.near_texts import near_texts
from loopwright.judging.syntax.edits import Edits, any_done
from loopwright.judging.syntax.go_source import GoSource, parse_go, parts, within

if TYPE_CHECKING:
    from tree_sitter import Node

SUFFIX = "_test.go"
_TEST = re.compile(r"Test(?![a-z])\w*")
_EXAMPLE = re.compile(r"Example(?![a-z])\w*")
_OUTPUT = re.compile(r"//\s*(?:unordered )?output:", re.IGNORECASE)
_FUNCTION = re.compile(rb"^func (\w+)[(\[]", re.MULTILINE)
_STATE = "*testing.T"


def invert_go(source: bytes, only: frozenset[str] | None, marks: Marks) -> Inverted:
    """The file with changed expectations of its tests, also of subtests and helpers, or of the given tests."""
    parsed = parse_go(source)
    if parsed is None:
        return Inverted(source, unaltered=dict.fromkeys(only or (SCRIPT,), UNREADABLE))
    inverted = _GoFile(parsed, marks, Edits(source)).inverted(only)
    if inverted.altered and parse_go(inverted.source) is None:
        return Inverted(source, unaltered=dict.fromkeys([*inverted.altered, *inverted.unaltered], UNSAFE))
    return inverted


def probe_go(
    path: str, source: bytes, *, salt: str, helpers: frozenset[str] = frozenset(), soft: Iterable[str] = ()
) -> ProbedGo | None:
    """The file with probes; None if none of its functions has an assertion that can be probed.

    `path` is relative to the project. `helpers` are the functions of the test files of the same folder; `soft` are
    tests by their ids that failed, and go on after a condition that fails them.
    """
    try:
        parsed = parse_go(source)
        if parsed is None:
            return None
        edits = Edits(source)
        probes = GoProbes(parsed, edits, path, salt, helpers, soft)
        probed = _GoFile(parsed, marks_of(salt), edits).probed(probes)
    except RecursionError:
        return None
    return probed if probed is not None and parse_go(probed.source) is not None else None


def functions_of(source: bytes) -> frozenset[str]:
    """The names of the functions that a file declares."""
    return frozenset(name.decode() for name in _FUNCTION.findall(source))


class _GoFile:
    """The tests and functions of one file."""

    def __init__(self, source: GoSource, marks: Marks, edits: Edits) -> None:
        self._source = source
        self._marks = marks
        self._edits = edits
        self._assertions = GoAssertions(source, self._edits, GoValues(source, self._edits, marks))
        self._functions = {
            source.text(node.child_by_field_name("name")): node
            for node in parts(source.root)
            if node.type in {"function_declaration", "method_declaration"}
        }
        self._negated: dict[int, bool] = {}

    def inverted(self, only: frozenset[str] | None) -> Inverted:
        """Change all tests, or the given ones."""
        chosen = [(name, node) for name, node in self._functions.items() if only is None or name in only]
        altered = {name for name, node in chosen if _TEST.fullmatch(name) and self._change_test(node)}
        altered |= self._change_outputs(chosen)
        missing = frozenset(only or (() if altered else (SCRIPT,))) - altered
        return Inverted(self._edits.applied(), frozenset(altered), dict.fromkeys(missing, NO_ASSERTION))

    def probed(self, probes: GoProbes) -> ProbedGo | None:
        """Add probes to the assertions. A test without any is changed by itself, as far as no other test is."""
        tests = {name: node for name, node in self._functions.items() if self._is_test(name, node)}
        probed = {name for name, node in tests.items() if any(map(probes.has_assertion, self._reached(node)))}
        if not any(map(probes.has_assertion, self._functions.values())):
            return None
        probes.add([tests[name] for name in probed])
        others = {name: node for name, node in tests.items() if name not in probed}
        altered = {name for name, node in others.items() if self._change_alone(node)}
        altered |= self._change_outputs(self._functions.items())
        missing = dict.fromkeys(others.keys() - altered, NO_ASSERTION)
        assertions = probes.assertions
        return ProbedGo(self._edits.applied(), frozenset(altered | probed), missing, frozenset(probed), assertions)

    def _is_test(self, name: str, function: Node) -> bool:
        """Whether Go runs a function as a test, and the test has a name for its state."""
        own = next((state for state, owner in self._states(function) if owner == function), "")
        if function.type != "function_declaration" or not _TEST.fullmatch(name) or not own:
            return False
        return len(parts(function.child_by_field_name("parameters"))) == 1

    def _change_alone(self, test: Node) -> bool:
        """Change what a test passes to helpers, or let it fail at its end."""
        states = frozenset(name for name, _ in self._states(test))
        self._assertions.reach([test])
        return any_done(self._assertions.change_call(node, states) for node in within(test)) or self._fail(test)

    def _change_test(self, test: Node) -> bool:
        states = frozenset(name for name, _ in self._states(test))
        if not states:
            return False
        reached = list(self._reached(test))
        self._assertions.reach(reached)
        # The ways that come first leave the test as it is for code that reads the test.
        ways: tuple[Callable[[Node], bool], ...] = (
            self._assertions.change,
            lambda node: self._assertions.change_call(node, states),
            self._negate_once,
        )
        # Only these keep a test as it is but for a near literal.
        chosen = ways[:2] if self._marks.is_near else ways
        return any(
            any_done(change(node) for function in reached for node in within(function)) for change in chosen
        ) or (not self._marks.is_near and self._fail(test))

    def _negate_once(self, node: Node) -> bool:
        """Two tests may share a helper: a condition that is turned twice is as before."""
        if node.id not in self._negated:
            self._negated[node.id] = self._assertions.negate(node)
        return self._negated[node.id]

    def _reached(self, test: Node) -> Iterator[Node]:
        """A test and the functions of the file that it mentions."""
        ahead, seen = [test], set[int]()
        while ahead:
            function = ahead.pop()
            if function.id in seen:
                continue
            seen.add(function.id)
            yield function
            kinds = {"identifier", "field_identifier"}
            names = dict.fromkeys(self._source.text(node) for node in within(function) if node.type in kinds)
            ahead += [self._functions[name] for name in names if name in self._functions and not _TEST.fullmatch(name)]

    def _states(self, test: Node) -> Iterator[tuple[str, Node]]:
        """The names of the test's state, and those of its subtests, with their functions."""
        for function in within(test):
            for parameter in parts(function.child_by_field_name("parameters")):
                if self._source.text(parameter.child_by_field_name("type")) == _STATE:
                    names = [self._source.text(name) for name in parameter.children_by_field_name("name")]
                    yield from ((name, function) for name in names if name != "_")

    def _fail(self, test: Node) -> bool:
        """Make a test and its subtests fail at their end."""
        places = [(name, function.child_by_field_name("body")) for name, function in self._states(test)]
        return any_done(
            self._edits.insert(body.start_byte + 1, f" defer {name}.Fail();".encode())
            for name, body in places
            if body is not None
        )

    def _change_outputs(self, functions: Iterable[tuple[str, Node]]) -> set[str]:
        return {name for name, node in functions if _EXAMPLE.fullmatch(name) and self._change_output(node)}

    def _change_output(self, example: Node) -> bool:
        """Change the output that an example expects."""
        comments = [node for node in within(example) if node.type == "comment"]
        start = next((index for index, node in enumerate(comments) if _OUTPUT.match(self._source.text(node))), None)
        if start is None:
            return False
        last = comments[-1]
        if self._marks.is_near:
            near = next(near_texts(self._source.source[last.start_byte : last.end_byte], self._marks.step), None)
            return near is not None and self._edits.replace(last.start_byte, last.end_byte, near)
        return self._edits.insert(last.end_byte, b" " + self._marks.text)
