"""Inverts Python files: tests, the helpers that they call, scripts that check at their top level, and doctests."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from loopwright.judging.controls.doctests import change_examples
from loopwright.judging.controls.helper_calls import HandedValue, called_helper
from loopwright.judging.controls.marks import Marks
from loopwright.judging.controls.model import NO_ASSERTION, SCRIPT, UNREADABLE, UNSAFE, Inverted
from loopwright.judging.controls.python_assertions import PythonAssertions
from loopwright.judging.controls.python_exits import change_exits
from loopwright.judging.controls.python_near import NearPythonAssertions
from loopwright.judging.controls.python_soft import soften
from loopwright.judging.controls.python_values import PythonValues, is_literal
from loopwright.judging.syntax.edits import Edits, any_done
from loopwright.judging.syntax.python_source import Function, PythonSource, dotted_name, parse_python

_RUNNERS = frozenset({"unittest", "pytest", "doctest", "nose", "nose2"})


def invert_python(
    source: bytes, only: frozenset[str] | None, marks: Marks, helpers: Mapping[str, HandedValue] = MappingProxyType({})
) -> Inverted:
    """The file with changed expectations of its tests, or of the given ones.

    A test without an assertion changes what it hands to helpers of other files.
    """
    parsed = parse_python(source)
    if parsed is None:
        return Inverted(source, unaltered=dict.fromkeys(only or (SCRIPT,), UNREADABLE))
    inverted = PythonFile(parsed, marks).inverted(only, helpers)
    if inverted.altered and parse_python(inverted.source) is None:
        return Inverted(source, unaltered=dict.fromkeys([*inverted.altered, *inverted.unaltered], UNSAFE))
    return inverted


def names_of_tests(source: PythonSource, marks: Marks) -> frozenset[str]:
    """The names of all tests of a file, such as `TestClass.test_name`, with those that its classes inherit in it."""
    return frozenset(name for name, _ in PythonFile(source, marks).tests())


class PythonFile:
    """The functions of one file, which of them are tests, and which refer to which."""

    def __init__(self, source: PythonSource, marks: Marks) -> None:
        self._source = source
        self._marks = marks
        self._functions: dict[str, list[Function]] = {}
        self._classes: dict[str, ast.ClassDef] = {}
        self._index(source.tree.body, "")
        self._begin_edits()
        self._by_last_name: dict[str, list[str]] = {}
        for name in self._functions:
            self._by_last_name.setdefault(name.rpartition(".")[2], []).append(name)
        self._changed: dict[str, bool] = {}
        self._mentions: dict[str, list[str]] = {}
        # Changed, these would keep the file from being loaded, and pytest from running any other file.
        self._at_import: frozenset[str] = frozenset()

    def inverted(
        self, only: frozenset[str] | None, helpers: Mapping[str, HandedValue] = MappingProxyType({})
    ) -> Inverted:
        """Change all tests, or the given ones; a file without tests is a script."""
        tests = dict(self.tests())
        if tests:
            self._at_import = frozenset(self._reachable(self._referred(_called_at_import(self._source.tree.body))))
        chosen = {test: name for test, name in tests.items() if only is None or test in only}
        results = {test: self._change_reachable(name) for test, name in chosen.items()}
        if helpers and not self._marks.is_near:
            # Of two tests with the same function, each has its expectations changed.
            handed = {name: self._change_handed(name, helpers) for test, name in chosen.items() if not results[test]}
            results |= {test: handed[name] for test, name in chosen.items() if name in handed}
        if not tests and (only is None or SCRIPT in only):
            results[SCRIPT] = self._change_script()
        examples = change_examples(self._source, self._edits, only, self._marks)
        results |= dict.fromkeys(examples, True)
        if examples and not results.get(SCRIPT, True):
            del results[SCRIPT]
        altered = frozenset(test for test, changed in results.items() if changed)
        unaltered = {test: NO_ASSERTION for test in results if test not in altered}
        return Inverted(self._edits.applied(), altered, unaltered)

    def _begin_edits(self) -> None:
        self._edits = Edits(self._source.source)
        local = frozenset(name.rpartition(".")[2] for name in self._functions)
        self._near = (
            NearPythonAssertions(self._source, self._edits, local, self._marks) if self._marks.is_near else None
        )
        self._assertions = self._near or PythonAssertions(self._source, self._edits, local, self._marks)

    def single_changes(self) -> Iterator[tuple[ast.AST, bytes]]:
        """For a script: each node that expects something, with the file in which only that node changed."""
        for function, nodes in self._parts_of_script():
            begun: Edits | None = None
            for node in nodes:
                if function is not None and begun is not self._edits:
                    self._assertions.begin(function)
                    begun = self._edits
                if self._assertions.change(node):
                    yield node, self._edits.applied()
                    self._begin_edits()

    def single_exits(self) -> Iterator[tuple[ast.AST, bytes]]:
        """The same for the exit codes of a script that checks without assertions."""
        if self._hands_over():
            return
        for node in (node for _, nodes in self._parts_of_script() for node in nodes):
            if self._near is not None:
                is_changed = self._near.change_exit(node)
            else:
                is_changed = change_exits(PythonValues(self._source, self._edits, self._marks), [node])
            if is_changed:
                yield node, self._edits.applied()
                self._begin_edits()

    def _parts_of_script(self) -> Iterator[tuple[Function | None, list[ast.AST]]]:
        """The nodes outside functions, and those of each function that the script may call."""
        top = list(_within(self._source.tree.body, into_functions=False))
        yield None, top
        for name in self._reachable([*dict(self.tests()).values(), *self._referred(top)]):
            for function in self._functions[name]:
                yield function, list(_within([function]))

    def _index(self, body: list[ast.stmt], prefix: str) -> None:
        for node in _statements(body):
            if isinstance(node, Function):
                self._functions.setdefault(f"{prefix}{node.name}", []).append(node)
            elif isinstance(node, ast.ClassDef):
                self._classes[f"{prefix}{node.name}"] = node
                self._index(node.body, f"{prefix}{node.name}.")

    def tests(self) -> Iterator[tuple[str, str]]:
        """Each test with the function that it runs: its own, or an inherited one of the same file."""
        for name in self._functions:
            if is_test(name.rpartition(".")[2]):
                yield name, name
        for name, node in self._classes.items():
            for base in self._bases(node, {name}):
                for inherited in self._functions:
                    owner, _, method = inherited.rpartition(".")
                    if owner == base and is_test(method) and f"{name}.{method}" not in self._functions:
                        yield f"{name}.{method}", inherited

    def _bases(self, node: ast.ClassDef, seen: set[str]) -> Iterator[str]:
        for base in map(dotted_name, node.bases):
            if base in self._classes and base not in seen:
                seen.add(base)
                yield base
                yield from self._bases(self._classes[base], seen)

    def _change_reachable(self, name: str) -> bool:
        """Change a test and the helpers of the file that it can reach; True if anything changed."""
        reached = self._reachable([name])
        return any_done(self._change_function(function) for function in reached)

    def _change_handed(self, name: str, helpers: Mapping[str, HandedValue]) -> bool:
        """Change the expectations that a test hands to helpers."""
        values = PythonValues(self._source, self._edits, self._marks)
        return any_done(
            _change_argument(values, helpers[called_helper(call)].arguments(call), helpers[called_helper(call)])
            for function in self._reachable([name])
            if function not in self._at_import
            for node in _within(self._functions[function])
            if (call := _called_for_itself(node)) is not None and called_helper(call) in helpers
        )

    def _reachable(self, names: Iterable[str]) -> list[str]:
        reached: dict[str, None] = {}
        ahead = list(names)
        while ahead:
            name = ahead.pop(0)
            if name in reached:
                continue
            reached[name] = None
            if name not in self._mentions:
                self._mentions[name] = self._referred(_within(self._functions[name]), besides=name)
            ahead += self._mentions[name]
        return list(reached)

    def _referred(self, nodes: Iterable[ast.AST], besides: str = "") -> list[str]:
        """The functions of the file that code mentions: called, passed on, or asked for as a fixture."""
        last_names = dict.fromkeys(filter(None, map(mentioned, nodes)))
        return [name for last in last_names for name in self._by_last_name.get(last, ()) if name != besides]

    def _change_function(self, name: str) -> bool:
        if name not in self._changed:
            self._changed[name] = name not in self._at_import and any_done(
                map(self._change_definition, self._functions[name])
            )
        return self._changed[name]

    def _change_definition(self, node: Function) -> bool:
        self._assertions.begin(node)
        # Set-up is no expectation: a fixture changes only in the functions that it hands out.
        changed = self._change_nodes(_within(_inner(node) if _is_fixture(node) else [node]))
        if self._near is not None and is_test(node.name):
            soften(self._source, self._edits, self._marks, node, changed)
        return bool(changed)

    def _change_nodes(self, nodes: Iterable[ast.AST]) -> list[ast.AST]:
        return [node for node in nodes if self._assertions.change(node)]

    def _change_script(self) -> bool:
        top = list(_within(self._source.tree.body, into_functions=False))
        reached = self._reachable(self._referred(top))
        at_top = self._change_nodes(top)
        changed = [bool(at_top), *map(self._change_function, reached)]
        if self._near is not None:
            soften(self._source, self._edits, self._marks, self._source.tree, at_top)
        if any(changed) or self._hands_over():
            return any(changed)
        # Two changes could cancel each other, so exits change only where no assertion did.
        nodes = [*top, *_within([node for name in reached for node in self._functions[name]])]
        if self._near is not None:
            return any_done(map(self._near.change_exit, nodes))
        return change_exits(PythonValues(self._source, self._edits, self._marks), nodes)

    def _hands_over(self) -> bool:
        """Whether the script runs a test runner: then tests decide its exit code."""
        for node in ast.walk(self._source.tree):
            match node:
                case ast.Import(names=names):
                    modules = [name.name for name in names]
                case ast.ImportFrom(module=str(module)):
                    modules = [module]
                case _:
                    continue
            if any(module.partition(".")[0] in _RUNNERS for module in modules):
                return True
        return False


def _called_for_itself(node: ast.AST) -> ast.Call | None:
    """The call of a statement that does not use its result."""
    match node:
        case ast.Expr(value=ast.Call() as call) | ast.Expr(value=ast.Await(value=ast.Call() as call)):
            return call
        case _:
            return None


def _change_argument(values: PythonValues, arguments: list[ast.expr], expectation: HandedValue) -> bool:
    constants = [argument for argument in arguments if is_literal(argument)]
    if not arguments or len(constants) > 1:
        return False
    if expectation.is_condition:
        return values.falsify(arguments[0])
    argument = constants[0] if constants else arguments[0]
    return values.change_literals(argument) or values.replace_value(argument)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements, also those in branches: a test may be defined under a condition."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With):
            yield from _statements([child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)])


def _within(nodes: Iterable[ast.AST], *, into_functions: bool = True) -> Iterator[ast.AST]:
    """All nodes, outer ones first."""
    ahead = list(nodes)[::-1]
    while ahead:
        node = ahead.pop()
        if not into_functions and isinstance(node, Function | ast.ClassDef):
            continue
        yield node
        ahead += list(ast.iter_child_nodes(node))[::-1]


def _called_at_import(body: list[ast.stmt]) -> Iterator[ast.expr]:
    """What a module calls when it is loaded, not when it is run as a script."""
    loaded = [node for node in body if not (isinstance(node, ast.If) and mentions_main(node.test))]
    for node in _within(loaded, into_functions=False):
        if isinstance(node, ast.Call):
            yield node.func


def mentions_main(node: ast.expr) -> bool:
    """Whether a condition asks if the file runs as a script."""
    return any(isinstance(part, ast.Constant) and part.value == "__main__" for part in ast.walk(node))


def _inner(node: Function) -> list[ast.AST]:
    return [part for part in ast.walk(node) if isinstance(part, Function) and part is not node]


def mentioned(node: ast.AST) -> str:
    """The name that a node mentions; empty for other nodes."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
            return name
        case _:
            return ""


def _is_fixture(node: Function) -> bool:
    names = [dotted_name(item.func if isinstance(item, ast.Call) else item) for item in node.decorator_list]
    return any(name.rpartition(".")[2] in {"fixture", "yield_fixture", "contextmanager"} for name in names)


def is_test(name: str) -> bool:
    """Whether runners take a function of this name for a test."""
    return name.startswith("test") or name == "runTest"
