"""Where the values in a Python test come from: from a call of the product, from its constants, or from the test. Pure.

A call of the product gives an answer. An argument of the test, or anything else that is unknown, may be one, too.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator
from enum import Flag, auto

from loopwright.judging.syntax.python_source import Function

# Whether an import of this module and name, with this number of dots, leads to the product.
IsProduct = Callable[[str, str, int], bool]
Bindings = dict[str, list[ast.expr]]
# Methods of texts, containers and files. On a constant of the product they are no calls of the product.
_PLAIN_METHODS = frozenset([
    "copy", "count", "encode", "decode", "format", "get", "index", "items", "join", "keys", "lower", "lstrip",
    "partition", "read", "read_bytes", "read_text", "readlines", "replace",
    "rpartition", "rstrip", "split", "splitlines", "strip", "title", "upper", "values",
    "endswith", "startswith",
])  # fmt: skip

# Stands for a value that may be anything.
_ANY = ast.Await(value=ast.Constant(value=None))


class Origin(Flag):
    """What a value depends on."""

    NOTHING = 0
    # A call of the product, or something unknown.
    ANSWER = auto()
    # A constant, a docstring or a data file of the product.
    PRODUCT = auto()


class ValueOrigins:
    """The origins of values in one function of a test file."""

    def __init__(self, module: ast.Module, is_product: IsProduct, data_files: frozenset[str]) -> None:
        self._product: set[str] = set()
        self._foreign: set[str] = set(dir(builtins))
        self._data_files = data_files
        self._scopes: list[Bindings] = [bindings(module.body)]
        self._attributes: Bindings = {}
        self._seen: set[str] = set()
        for node in ast.walk(module):
            self._take_import(node, is_product)

    def inside(self, function: Function, owner: ast.ClassDef | None) -> None:
        """Look at values of this function from now on."""
        own = bindings(function.body)
        for name, values in _parameters(function).items():
            own.setdefault(name, []).extend(values)
        self._scopes = [self._scopes[0], own]
        self._attributes = bindings(owner.body) if owner is not None else {}

    def literal_of(self, name: str) -> ast.expr | None:
        """The list, table or set that the test itself assigned to this name, once and not empty."""
        for scope in reversed(self._scopes):
            if name in scope:
                match scope[name]:
                    case [ast.List() | ast.Dict() | ast.Set() as value] if _is_literal(value):
                        return value
                    case _:
                        return None
        return None

    def is_call_of_product(self, call: ast.Call) -> bool:
        """Whether the called function may be one of the product."""
        func = call.func
        if isinstance(func, ast.Name):
            return func.id in self._product or Origin.ANSWER in self.of(func)
        if not isinstance(func, ast.Attribute):
            return True
        origin = self.of(func.value)
        is_constant = isinstance(func.value, ast.Constant | ast.JoinedStr) or _last_name(func.value).isupper()
        if Origin.PRODUCT in origin:
            is_local = isinstance(func.value, ast.Name) and func.value.id not in self._product
            return func.attr not in _PLAIN_METHODS or not (is_constant or is_local or _is_made(func.value))
        return Origin.ANSWER in origin

    def of(self, node: ast.expr) -> Origin:
        """What an expression depends on."""
        match node:
            case ast.Constant(value=str() as text):
                return Origin.PRODUCT if text.rpartition("/")[2] in self._data_files else Origin.NOTHING
            case ast.Name(id=name):
                return self._of_name(name)
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=attr):
                return self._of_all(self._attributes[attr]) if attr in self._attributes else Origin.ANSWER
            case ast.Attribute(value=value):
                return self.of(value)
            case ast.Subscript(value=value) if self.of(value) is Origin.PRODUCT and not _has_call(node.slice):
                return Origin.PRODUCT
            case ast.Call() if self.is_call_of_product(node):
                return Origin.ANSWER
            case ast.Lambda() | ast.Await() | ast.Yield() | ast.YieldFrom():
                return Origin.ANSWER
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                return self._of_comprehension(node)
            case _:
                return self._of_all(list(children(node)))

    def _of_all(self, nodes: list[ast.expr]) -> Origin:
        origin = Origin.NOTHING
        for node in nodes:
            origin |= self.of(node)
        return origin

    def _of_name(self, name: str) -> Origin:
        for scope in reversed(self._scopes):
            if name in scope:
                if name in self._seen:
                    return Origin.NOTHING
                self._seen.add(name)
                try:
                    return self._of_all(scope[name])
                finally:
                    self._seen.discard(name)
        if name in self._product:
            return Origin.PRODUCT
        return Origin.NOTHING if name in self._foreign else Origin.ANSWER

    def _of_comprehension(self, node: ast.expr) -> Origin:
        scope: Bindings = {}
        for part in ast.walk(node):
            if isinstance(part, ast.comprehension):
                _bind(scope, part.target, part.iter)
        self._scopes.append(scope)
        try:
            return self._of_all(list(children(node)))
        finally:
            self._scopes.pop()

    def _take_import(self, node: ast.AST, is_product: IsProduct) -> None:
        match node:
            case ast.Import(names=names):
                for alias in names:
                    name = alias.asname or alias.name.partition(".")[0]
                    (self._product if is_product(alias.name, "", 0) else self._foreign).add(name)
            case ast.ImportFrom(names=names):
                for alias in names:
                    leads_there = is_product(node.module or "", alias.name, node.level)
                    (self._product if leads_there else self._foreign).add(alias.asname or alias.name)
            case _:
                pass


def bindings(body: list[ast.stmt]) -> Bindings:
    """The values of each name that these statements assign, without those of functions and classes in them."""
    found: Bindings = {}
    ahead: list[ast.AST] = list(body)
    while ahead:
        node = ahead.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                # A helper may call the product.
                found.setdefault(name, []).append(_ANY)
                continue
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    _bind(found, target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.AugAssign(target=target, value=value):
                _bind(found, target, value)
            case ast.NamedExpr(target=target, value=value):
                _bind(found, target, value)
            case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
                _bind(found, target, value)
            case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
                _bind(found, target, value)
            case ast.ExceptHandler(name=str() as name):
                found.setdefault(name, []).append(_ANY)
            case _:
                pass
        ahead += ast.iter_child_nodes(node)
    return found


def children(node: ast.expr) -> Iterator[ast.expr]:
    """The expressions directly in an expression. The function of a call is none of them."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.expr():
                if not (isinstance(node, ast.Call) and child is node.func):
                    yield child
                elif isinstance(child, ast.Attribute):
                    yield child.value
            case ast.keyword(value=value):
                yield value
            case ast.comprehension():
                yield from (child.iter, *child.ifs)
            case _:
                pass


def _bind(found: Bindings, target: ast.expr, value: ast.expr) -> None:
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.setdefault(node.id, []).append(value)


def _parameters(function: Function) -> Bindings:
    """The values of parameters that `parametrize` names."""
    found: Bindings = {}
    for decorator in function.decorator_list:
        match decorator:
            case ast.Call(
                func=ast.Attribute(attr="parametrize"), args=[ast.Constant(value=str() as names), values, *_]
            ):
                for name in names.split(","):
                    found.setdefault(name.strip(), []).append(values)
            case ast.Call(
                func=ast.Attribute(attr="parametrize"), args=[ast.List() | ast.Tuple() as listed, values, *_]
            ):
                for element in listed.elts:
                    if isinstance(element, ast.Constant):
                        found.setdefault(str(element.value), []).append(values)
            case _:
                pass
    return found


def _last_name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _is_made(node: ast.expr) -> bool:
    """Whether an expression is a result, and no name of the product."""
    return isinstance(node, ast.Call | ast.Subscript | ast.JoinedStr | ast.BinOp) or _last_name(node) == "__doc__"


def _has_call(node: ast.expr) -> bool:
    return any(isinstance(part, ast.Call) for part in ast.walk(node))


def _is_literal(node: ast.expr) -> bool:
    try:
        return bool(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
