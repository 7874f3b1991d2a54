"""Finds changed code that could make values or assertions lie: comparisons of its own, and changes to other objects.

Most of such code is honest. It is the reason to look, by one more run, whether all tests of the base can still fail.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from loopwright.judging.syntax.javascript_source import SUFFIXES
from loopwright.judging.syntax.python_source import called_name, parse_python

_PYTHON = (".py", ".pyw")
# Methods by which a value answers what an assertion asks, or by which it runs or swallows the assertion.
_ANSWERS = frozenset(
    [
        "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__", "__bool__", "__len__",
        "__instancecheck__", "__subclasscheck__", "__getattr__", "__getattribute__", "__class__", "__iter__",
        "__next__", "__enter__", "__exit__", "__aexit__", "__call__", "__get__",
    ]
)  # fmt: skip
_OWN = frozenset({"self", "cls"})
_REACHES = frozenset({"setattr", "delattr", "__setattr__", "__subclasses__", "globals", "vars"})
_IN_JAVASCRIPT = re.compile(
    r"\b(?:valueOf|toString|toJSON|asymmetricMatch|prototype|__proto__|Proxy|Reflect|defineProper\w+"
    r"|setPrototypeOf|globalThis|Symbol)\b"
)


def may_deceive(path: str, before: bytes, after: bytes) -> bool:
    """Whether the new version of a source file has such code that the old version has not."""
    if path.endswith(_PYTHON):
        return bool(Counter(_in_python(after)) - Counter(_in_python(before)))
    if path.endswith(SUFFIXES):
        old, new = (Counter(_IN_JAVASCRIPT.findall(text.decode("utf-8", "replace"))) for text in (before, after))
        return bool(new - old)
    return False


def _in_python(source: bytes) -> Iterator[str]:
    parsed = parse_python(source)
    for node in ast.walk(parsed.tree) if parsed is not None else ():
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name in _ANSWERS or _generates(node):
                yield ast.dump(node)
            case ast.Attribute(ctx=ast.Store() | ast.Del(), value=owner) if not _is_own(owner):
                yield ast.dump(node)
            case ast.Name(id=name, ctx=ast.Store()) | ast.keyword(arg=str(name)) if name in _ANSWERS:
                yield name
            case ast.Constant(value=str(name)) if name in _ANSWERS:
                yield name
            case ast.Call(func=ast.Name(id="type"), args=[_, _, *_]):
                yield ast.dump(node)
            case ast.Call() if called_name(node) in _REACHES:
                yield ast.dump(node)
            case ast.Attribute(attr="__dict__" | "__globals__" | "__code__"):
                yield ast.dump(node)
            case _:
                continue


def _generates(function: ast.AST) -> bool:
    """Whether a function yields values: with none left, a loop over them asserts nothing."""
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(function))


def _is_own(node: ast.expr) -> bool:
    """Whether an attribute belongs to the object itself."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in _OWN
