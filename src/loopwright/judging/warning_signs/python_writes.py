"""Finds writes into the namespace of another module: by a name, an attribute, `__dict__`, `vars` or `sys.modules`.

What counts is the object that is written, not the spelling. It is followed through imports, lookups and variables.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator

from loopwright.judging.warning_signs.python_names import PythonNames, constant

_IMPORTS = frozenset({"__import__", "importlib.import_module", "importlib.__import__", "importlib.reload"})
_LOOKUPS = frozenset({"getattr", "inspect.getattr_static", "object.__getattribute__", "type.__getattribute__"})
_SETTERS = frozenset({"setattr", "delattr"})
_SETTING_METHODS = frozenset({"__setattr__", "__delattr__"})
_CHANGES = frozenset(
    {"update", "setdefault", "pop", "popitem", "clear", "__setitem__", "__delitem__", "__ior__"}
)  # fmt: skip
# What takes a table and does not change it. Other functions could.
_READERS = frozenset(
    ["all", "any", "bool", "copy.copy", "dict", "enumerate", "eval", "exec", "filter", "frozenset", "id", "isinstance",
     "iter", "len", "list", "map", "max", "min", "print", "repr", "set", "sorted", "str", "sum", "tuple", "type", "zip",
     "collections.ChainMap", "types.MappingProxyType", "mock.patch.dict", "unittest.mock.patch.dict"]
)  # fmt: skip
_LIBRARIES = sys.stdlib_module_names | {"pytest", "_pytest", "hypothesis"}
_FAMILY = frozenset({"__mro__", "__bases__", "__base__"})
_PATCHERS = frozenset({"setattr", "setitem", "delattr", "delitem"})


class ForeignWrites:
    """The writes of one file into modules other than its own, and into parts of these."""

    def __init__(self, nodes: Iterable[ast.AST], names: PythonNames) -> None:
        self._names = names
        self._imported = {"__builtins__": "builtins"}
        bound: dict[str, list[ast.expr]] = {}
        parameters, variables = set[str](), set[str]()
        for node in nodes:
            match node:
                case ast.Import(names=found):
                    pairs = ((name.asname, name.name) if name.asname else (_top(name.name),) * 2 for name in found)
                    self._imported |= dict(pairs)
                case ast.ImportFrom(module=str(module), names=found, level=0) if _top(module) in _LIBRARIES:
                    self._imported |= {name.asname or name.name: f"{module}.{name.name}" for name in found}
                case ast.arg(arg=name):
                    parameters.add(name)
                case ast.Name(id=name, ctx=ast.Store()):
                    variables.add(name)
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    bound.setdefault(name, []).append(value)
                case ast.NamedExpr(target=ast.Name(id=name), value=value):
                    bound.setdefault(name, []).append(value)
                case _:
                    pass
        for name in (parameters | variables) & self._imported.keys():
            del self._imported[name]
        self._known: dict[str, ast.expr] = {}
        for name, values in sorted(bound.items(), key=lambda row: row[1][0].lineno):
            used = {part.id for part in ast.walk(values[0]) if isinstance(part, ast.Name)}
            # Without circles.
            if len(values) == 1 and name not in parameters and not (used & bound.keys()) - self._known.keys():
                self._known[name] = values[0]

    def at(self, node: ast.AST) -> Iterator[str]:
        """The full names of what a node writes: `time.perf_counter`; `sys.modules.x` for the module itself."""
        for target in stored(node):
            match target:
                case ast.Attribute(value=value, attr=name):
                    yield _entry(self.owner(value), name)
                case ast.Subscript(value=table, slice=key) if not _is_own(key):
                    yield _entry(self._table(table), constant(key))
                case ast.Name() if isinstance(node, ast.AugAssign):
                    yield self._table(target)
                case _:
                    pass
        if isinstance(node, ast.Call):
            yield from self._by_call(node)

    def _by_call(self, call: ast.Call) -> Iterator[str]:
        name, receiver = self._names.origin(call.func), None
        first = call.args[0] if call.args else None
        part = next((text for text in map(constant, call.args[:2]) if text is not None), None)
        if isinstance(call.func, ast.Attribute):
            name, receiver = call.func.attr, call.func.value
        if (name in _SETTERS and receiver is None) or name in _SETTING_METHODS:
            yield _entry(self.owner(first) or (self.owner(receiver) if len(call.args) < 3 else ""), part)
        elif receiver is not None and name in _CHANGES and not _is_own(first):
            yield _entry(self._table(receiver), constant(first) or next((key.arg for key in call.keywords), None))
        elif name in _PATCHERS and self._made_by(receiver).endswith("MonkeyPatch"):
            yield constant(first) or _entry(self.owner(first), part)
        elif name == "start" and self._made_by(receiver).startswith("unittest.mock.patch"):
            made = self._value(receiver)
            given = made.args[:1] if isinstance(made, ast.Call) else []
            yield from (constant(target) or self.owner(target) for target in given)
        is_reader = self._names.origin(call.func) in _READERS
        if not is_reader and (name != "update" or self._names.origin(receiver) == "dict"):
            # A function that gets the table can write into it.
            yield from (self._table(given) for given in call.args)

    def owner(self, node: ast.expr | None) -> str:
        """The full name of an object if another module has it; empty for objects of this file."""
        match self._value(node):
            case ast.Name(id=name):
                return self._imported.get(name, "")
            case ast.Attribute(value=value, attr="__class__"):
                return self._made_by(value)
            case ast.Attribute(value=value, attr=name):
                found = self.owner(value)
                return f"{found}.{name}" if found else f"{ast.unparse(value)}.{name}" if name in _FAMILY else ""
            case ast.Subscript(value=value, slice=key):
                if (table := self._table(value)) and not _is_own(key):
                    return _entry(table, constant(key)).removeprefix("sys.modules.")
                if self._names.origin(value) == "globals()":
                    return self.owner(ast.Name(constant(key) or "", ast.Load()))
                found = self.owner(value)
                return found if found.rpartition(".")[2] in _FAMILY else ""
            case ast.Call() as call:
                return self._result(call)
            case _:
                return ""

    def _result(self, call: ast.Call) -> str:
        name, first = self._names.origin(call.func), call.args[0] if call.args else None
        if name in _IMPORTS or (name == "sys.modules.get" and not _is_own(first)):
            return constant(first) or "?"
        if name in _LOOKUPS and len(call.args) > 1:
            owner = self.owner(first)
            return _entry(owner, constant(call.args[1]))
        if name == "type" and len(call.args) == 1:
            return self._made_by(first)
        if isinstance(call.func, ast.Attribute) and call.func.attr in {"mro", "__subclasses__"}:
            return f"{self.owner(call.func.value) or ast.unparse(call.func.value)}.__mro__"
        return ""

    def _made_by(self, node: ast.expr | None) -> str:
        """The full name of what an object was made by: its class, or a function."""
        value = self._value(node)
        return self.owner(value.func) if isinstance(value, ast.Call) else self.owner(value)

    def _table(self, node: ast.expr | None) -> str:
        """The full name of the module whose namespace this table is; `sys.modules` for the table of modules."""
        match value := self._value(node):
            case ast.Call(func=function, args=[owner]) if self._names.origin(function) == "vars":
                return self.owner(owner)
            case ast.Attribute(attr="__globals__" | "f_globals" | "f_builtins" as name):
                return name
            case ast.expr() if self._names.origin(value) == "sys.modules":
                return "sys.modules"
            case _:
                found = self.owner(value)
                return found.removesuffix(".__dict__") if found.endswith(".__dict__") else ""

    def _value(self, node: ast.expr | None) -> ast.expr | None:
        """What a variable has got, if that comes from another module; else the expression itself."""
        while isinstance(node, ast.Name) and node.id in self._known:
            node = self._known[node.id]
        return node


def stored(node: ast.AST) -> list[ast.expr]:
    """The names, attributes and entries that a statement, a loop or a `with` writes or deletes."""
    match node:
        case ast.Assign(targets=targets) | ast.Delete(targets=targets):
            pass
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target) | ast.For(target=target):
            targets = [target]
        case (
            ast.AsyncFor(target=target)
            | ast.comprehension(target=target)
            | ast.withitem(optional_vars=ast.expr() as target)
        ):
            targets = [target]
        case _:
            return []
    parts = (part for target in targets for part in ast.walk(target))
    return [
        part
        for part in parts
        if isinstance(part, ast.Attribute | ast.Subscript | ast.Name) and not isinstance(part.ctx, ast.Load)
    ]


def _top(module: str) -> str:
    return module.partition(".")[0]


def _entry(owner: str, key: str | None) -> str:
    return f"{owner}.{key or '?'}" if owner else ""


def _is_own(key: ast.expr | None) -> bool:
    """Whether a key is the name of this module, or of a module in this package: `__name__ + ".moves"`."""
    match key:
        case ast.Name(id="__name__"):
            return True
        case ast.BinOp(left=left):
            return _is_own(left)
        case ast.JoinedStr(values=[ast.FormattedValue(value=value), *_]):
            return _is_own(value)
        case _:
            return False
