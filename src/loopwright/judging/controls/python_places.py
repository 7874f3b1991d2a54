"""The assertions of a Python script, each changed by itself: the first that fails would hide the others."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator

from loopwright.judging.controls.marks import Marks
from loopwright.judging.controls.python_assertions import fails, is_guard
from loopwright.judging.controls.python_tests import PythonFile, is_test, mentioned, mentions_main
from loopwright.judging.controls.reach import ScriptPlace, ScriptReach, reach_of_calls
from loopwright.judging.syntax.edits import Edits
from loopwright.judging.syntax.python_source import Function, PythonSource, dotted_name, parse_python

_FAILURE = b"(_ for _ in ()).throw(SystemExit(1))"
_MISSING = frozenset({"ImportError", "ModuleNotFoundError"})


def python_places(source: bytes, marks: Marks) -> Iterator[ScriptPlace]:
    """The script, with another assertion changed each time; without assertions, with another exit code changed."""
    parsed = parse_python(source)
    if parsed is None:
        return
    reaches, has_assertions = PythonReaches(parsed), False
    for node, changed in PythonFile(parsed, marks).single_changes():
        has_assertions = True
        if parse_python(changed) is not None:
            yield ScriptPlace(changed, reaches.of(node), _failing(parsed, node))
    if has_assertions:
        return
    for node, changed in PythonFile(parsed, marks).single_exits():
        if parse_python(changed) is not None:
            yield ScriptPlace(changed, reaches.of(node), _failing(parsed, node))


def _failing(source: PythonSource, node: ast.AST) -> bytes | None:
    match node:
        case ast.Assert(test=expression) | ast.If(test=expression):
            pass
        case ast.Call() | ast.Expr(value=ast.BoolOp()):
            expression = node if isinstance(node, ast.Call) else node.value
        case _:
            return None
    edits = Edits(source.source)
    edits.replace(*source.span(expression), _FAILURE)
    return edits.applied() if parse_python(edits.applied()) is not None else None


class PythonReaches:
    """How surely a script comes to its nodes."""

    def __init__(self, source: PythonSource) -> None:
        self._parents = {
            id(child): (node, child) for node in ast.walk(source.tree) for child in ast.iter_child_nodes(node)
        }
        self._mentions: dict[str, list[ast.AST]] = {}
        for node in ast.walk(source.tree):
            if (name := mentioned(node)) and not isinstance(node, ast.arg):
                self._mentions.setdefault(name, []).append(node)
        self._machine = _names_of_machine(source.tree)
        self._functions: dict[int, ScriptReach] = {}

    def of(self, node: ast.AST) -> ScriptReach:
        """How surely the script comes to a node."""
        found = ScriptReach.ALWAYS
        while id(node) in self._parents and found is not ScriptReach.OPTIONAL:
            parent, child = self._parents[id(node)]
            if isinstance(child, Function):
                return min(found, self._of_function(child))
            found = min(found, self._of_part(parent, child))
            node = parent
        return found

    def _of_function(self, function: Function) -> ScriptReach:
        if any("skip" in ast.unparse(decorator).lower() for decorator in function.decorator_list):
            return ScriptReach.OPTIONAL
        if id(function) not in self._functions:
            # A function that calls itself is no reason to call it.
            self._functions[id(function)] = ScriptReach.OPTIONAL
            mentions = self._mentions.get(function.name, ())
            calls = (
                ScriptReach.ALWAYS
                if is_test(function.name) and not mentions
                else reach_of_calls(map(self.of, mentions))
            )
            self._functions[id(function)] = calls
        return self._functions[id(function)]

    def _of_part(self, parent: ast.AST, child: ast.AST) -> ScriptReach:
        """How surely a part of a node runs if the node does."""
        match parent:
            case ast.If(test=test):
                if child is test or mentions_main(test) or is_guard(parent) or fails(parent.body[-1]):
                    return ScriptReach.ALWAYS
                return self._of_condition(test)
            case ast.IfExp(test=test):
                return ScriptReach.ALWAYS if child is test else self._of_condition(test)
            case ast.BoolOp(values=[first, *_]):
                return ScriptReach.ALWAYS if child is first else self._of_condition(first)
            case ast.ExceptHandler(type=expected):
                return ScriptReach.OPTIONAL if dotted_name(expected) in _MISSING else ScriptReach.IN_BRANCH
            case ast.Try(orelse=orelse) if child in orelse:
                return ScriptReach.IN_BRANCH
            case ast.match_case():
                return ScriptReach.IN_BRANCH
            case _:
                return ScriptReach.ALWAYS

    def _of_condition(self, test: ast.expr) -> ScriptReach:
        return ScriptReach.OPTIONAL if _is_about_machine(test, self._machine) else ScriptReach.IN_BRANCH


def _names_of_machine(tree: ast.Module) -> frozenset[str]:
    """The names of a script that tell about the machine: modules of the library, and values made of them."""
    names = set(dir(builtins))
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=aliases):
                names |= {alias.asname or alias.name.partition(".")[0] for alias in aliases if _is_library(alias.name)}
            case ast.ImportFrom(module=str(module), names=aliases, level=0) if _is_library(module):
                names |= {alias.asname or alias.name for alias in aliases}
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_about_machine(value, frozenset(names)):
                names.add(name)
    return frozenset(names)


def _is_library(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names


def _is_about_machine(node: ast.expr, names: frozenset[str]) -> bool:
    return all(part.id in names for part in ast.walk(node) if isinstance(part, ast.Name))
