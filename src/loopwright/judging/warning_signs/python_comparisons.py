"""Comparisons that the work decides by itself: its objects may be equal to every expectation."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from loopwright.judging.syntax.python_source import dotted_name

# A plain value that compares by rules of its own: a test that expects a plain value sees no difference.
_PLAIN = frozenset({
    "int", "float", "complex", "str", "bytes", "bytearray", "bool", "list", "tuple", "decimal.Decimal",
    "fractions.Fraction", "datetime.datetime", "datetime.date", "datetime.timedelta",
})  # fmt: skip
_COMPARISONS = frozenset({"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"})
_EQUALITY = frozenset({"__eq__", "__ne__"})
# Expectations are of these types. A question for the type is no look at the value.
_PLAIN_TYPES = frozenset({"int", "float", "complex", "str", "bytes", "bool", "list", "tuple", "dict", "set", "object"})


def compares_plain_values(node: ast.AST, origin: Callable[[ast.expr], str]) -> str:
    """The plain type from which a class with comparisons of its own inherits; empty for every other node."""
    if not isinstance(node, ast.ClassDef):
        return ""
    defined = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
    defined |= {name.id for part in node.body if isinstance(part, ast.Assign) for name in _names(part.targets)}
    plain = next((name for base in node.bases if (name := origin(base)) in _PLAIN), "")
    return plain if defined & _COMPARISONS else ""


def _names(targets: list[ast.expr]) -> Iterator[ast.Name]:
    return (target for target in targets if isinstance(target, ast.Name))


def equals_everything(node: ast.AST) -> bool:
    """Whether a node defines such an equality, in a class or by hand."""
    match node:
        case ast.FunctionDef(name=name) if name in _EQUALITY:
            return _ignores_the_other(node.args, node.body, is_equal=name == "__eq__")
        case ast.Assign(targets=[target], value=value):
            return _is_blind(dotted_name(target).rpartition(".")[2], value)
        case ast.keyword(arg=str(name), value=value):
            return _is_blind(name, value)
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return any(isinstance(key, ast.Constant) and _is_blind(str(key.value), value) for key, value in pairs)
        case ast.Call(args=[_, ast.Constant(value=str(name)), value]):
            return _is_blind(name, value)
        case _:
            return False


def _is_blind(name: str, node: ast.expr) -> bool:
    if name not in _EQUALITY or not isinstance(node, ast.Lambda):
        return False
    return _ignores_the_other(node.args, [ast.Return(value=node.body)], is_equal=name == "__eq__")


def _ignores_the_other(arguments: ast.arguments, body: list[ast.stmt], *, is_equal: bool) -> bool:
    """Whether no parameter but the first is read, and what is returned may mean that the values are equal."""
    others = {argument.arg for argument in (*arguments.posonlyargs, *arguments.args)[1:]}
    others |= {argument.arg for argument in (arguments.vararg, arguments.kwarg) if argument is not None}
    nodes = [node for statement in body for node in ast.walk(statement)]
    returned = [node.value for node in nodes if isinstance(node, ast.Return) and node.value is not None]
    asked = {id(part) for node in nodes if _asks_for_plain_type(node) for part in ast.walk(node)}
    is_read = any(isinstance(node, ast.Name) and node.id in others and id(node) not in asked for node in nodes)
    refuses = all(isinstance(value, ast.Constant) and bool(value.value) is not is_equal for value in returned)
    return bool(returned) and not is_read and not refuses and not _is_not_implemented(returned)


def _asks_for_plain_type(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds]):
            parts = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
            return any(dotted_name(part).rpartition(".")[2] in _PLAIN_TYPES for part in parts)
        case _:
            return False


def _is_not_implemented(returned: list[ast.expr]) -> bool:
    return all(isinstance(value, ast.Name) and value.id == "NotImplemented" for value in returned)
