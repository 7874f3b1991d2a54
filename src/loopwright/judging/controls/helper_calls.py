"""Finds what tests of Python hand to helpers of other files that compare it: `same(greet("Ann"), "hello Ann")`. Pure.

Such a test has no assertion of its own. A changed assertion of the helper would also change what other tests do before
their own assertions, so the expectation changes in the call.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

import msgspec

from loopwright.judging.controls.python_assertions import EQUAL, fails
from loopwright.judging.judge_helpers import Read, imports_of
from loopwright.judging.syntax.python_source import Function, called_name, dotted_name, parse_python

# A base class may inherit from another one.
_DEEPEST = 3
_MESSAGES = (ast.JoinedStr, ast.Raise)


class HandedValue(msgspec.Struct, frozen=True):
    """The parameters of a helper of which one is an expected value, by their places in a call, best first."""

    places: tuple[tuple[int, str], ...]
    # Whether the helper only asks if the value is true.
    is_condition: bool = False

    def arguments(self, call: ast.Call) -> list[ast.expr]:
        """The arguments of a call for these parameters."""
        if any(isinstance(argument, ast.Starred) for argument in call.args):
            return []
        named = {keyword.arg: keyword.value for keyword in call.keywords}
        found = (call.args[at] if at < len(call.args) else named.get(name) for at, name in self.places)
        return [argument for argument in found if argument is not None]


def helper_calls(path: str, source: bytes, files: frozenset[str], read: Read) -> Mapping[str, HandedValue]:
    """The helpers of a test file, by the names that calls have there: `same`, `util.same`, and `.check` for methods."""
    parsed = parse_python(source)
    return dict(_helpers(parsed.tree, path, files, read, _DEEPEST)) if parsed is not None else {}


def called_helper(call: ast.Call) -> str:
    """The name of a call as `helper_calls` has it."""
    name = dotted_name(call.func)
    owner, _, method = name.rpartition(".")
    return f".{method}" if owner in {"self", "cls"} else name


def _helpers(
    tree: ast.Module, path: str, files: frozenset[str], read: Read, depth: int
) -> Iterator[tuple[str, HandedValue]]:
    originals = {
        alias.asname or alias.name: alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    bases = {dotted_name(base) for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for base in node.bases}
    for local, file in imports_of(tree, path, files).items():
        parsed = parse_python(read(file)) if file != path else None
        if parsed is None:
            continue
        for node in parsed.tree.body:
            match node:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    if (expected := _expectation(node, is_method=False)) is not None:
                        # The local name stands for the function, or for its module.
                        yield (local if originals.get(local) == name else f"{local}.{name}"), expected
                case ast.ClassDef(name=name) if {local, f"{local}.{name}"} & bases and depth:
                    yield from _methods(node)
                    yield from _inherited(parsed.tree, file, files, read, depth)
                case _:
                    continue


def _methods(owner: ast.ClassDef) -> Iterator[tuple[str, HandedValue]]:
    for node in owner.body:
        if isinstance(node, Function) and (expected := _expectation(node, is_method=True)) is not None:
            yield f".{node.name}", expected


def _inherited(
    tree: ast.Module, path: str, files: frozenset[str], read: Read, depth: int
) -> Iterator[tuple[str, HandedValue]]:
    for name, expected in _helpers(tree, path, files, read, depth - 1):
        if name.startswith("."):
            yield name, expected


def _expectation(function: Function, *, is_method: bool) -> HandedValue | None:
    """What a call of this function hands to its first assertion that compares a parameter."""
    parameters = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    is_static = any(dotted_name(decorator) == "staticmethod" for decorator in function.decorator_list)
    parameters = parameters[1:] if is_method and not is_static else parameters
    used = [node.id for node in _without_messages(function) if isinstance(node, ast.Name)]
    for condition, is_condition in _asserted(function.body):
        names = [node.id for node in condition if isinstance(node, ast.Name)]
        # A parameter that the helper also uses elsewhere may be an input of the work.
        places = tuple((parameters.index(name), name) for name in names if name in parameters and used.count(name) == 1)
        if places:
            return HandedValue(places, is_condition)
    return None


def _asserted(body: list[ast.stmt]) -> Iterator[tuple[list[ast.expr], bool]]:
    """The sides of each comparison, the expected one first; or a condition. Branches may not be reached."""
    for node in body:
        match node:
            case ast.With(body=inner) | ast.AsyncWith(body=inner) | ast.For(body=inner):
                yield from _asserted(inner)
            case ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right])):
                yield [right, left], False
            case ast.If(test=ast.Compare(left=left, ops=[ast.NotEq()], comparators=[right]), body=inner, orelse=[]):
                yield from [([right, left], False)] if fails(inner[-1]) else []
            case ast.Expr(value=ast.Call(args=[left, right, *_]) as call) if called_name(call) in EQUAL:
                yield [right, left], False
            case ast.Assert(test=ast.Name() as condition):
                yield [condition], True
            case ast.Expr(value=ast.Call(args=[condition, *_]) as call) if called_name(call) == "assertTrue":
                yield [condition], True
            case _:
                continue


def _without_messages(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _MESSAGES) or (isinstance(node, ast.Assert) and child is node.msg):
            continue
        yield child
        yield from _without_messages(child)
