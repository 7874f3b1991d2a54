"""What an expression of a Python source refers to, in whatever way the name is spelled."""

from __future__ import annotations

import ast

_BUILTINS = ("builtins", "__builtins__")
_IMPORTS = frozenset({"__import__", "importlib.import_module", "importlib.__import__"})
_LOOKUPS = frozenset({"getattr", "inspect.getattr_static", "object.__getattribute__", "type.__getattribute__"})
_NAMESPACES = frozenset({"vars", "globals", "locals"})
# Functions that find the attributes of an object by a text.
_FINDS = frozenset({*_LOOKUPS, "hasattr", "dir", "vars", "inspect.getmembers", "operator.attrgetter"})


class PythonNames:
    """The names that one file imports, or gives to something that it imports."""

    def __init__(self, tree: ast.Module) -> None:
        self._known: dict[str, str] = {}
        self.defined: set[str] = set()
        assignments: list[tuple[str, ast.expr]] = []
        for node in ast.walk(tree):
            match node:
                case ast.Import(names=names):
                    self._known |= {name.asname: name.name for name in names if name.asname}
                case ast.ImportFrom(module=str(module), names=names, level=0):
                    self._known |= {name.asname or name.name: f"{module}.{name.name}" for name in names}
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    self.defined.add(name)
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    assignments.append((name, value))
                case ast.NamedExpr(target=ast.Name(id=name), value=value):
                    assignments.append((name, value))
                case _:
                    pass
        # A name of a name needs a second look.
        for name, value in (*assignments, *assignments):
            origin = self.origin(value)
            if origin and origin != name and isinstance(value, ast.Attribute | ast.Call | ast.Name | ast.Subscript):
                self._known.setdefault(name, origin)

    def origin(self, node: ast.expr | None) -> str:
        """The full name: `os._exit` for `e` after `from os import _exit as e`, and for `getattr(os, "_exit")`."""
        match node:
            case ast.Name(id=name):
                found = self._known.get(name, name)
            case ast.Attribute(value=value, attr=attr):
                found = self._member(self.origin(value), attr)
            case ast.Subscript(value=value, slice=index):
                found = self._entry(self.origin(value), constant(index))
            case ast.Call():
                found = self._result(node)
            case _:
                found = ""
        first, _, rest = found.partition(".")
        return rest if first in _BUILTINS and rest else found

    def _member(self, owner: str, name: str) -> str:
        if owner.endswith("()"):
            return ""
        return f"{owner}.{name}" if owner else ""

    def _entry(self, owner: str, name: str | None) -> str:
        """`sys.modules["os"]`, `os.__dict__["_exit"]`, `globals()["__builtins__"]`."""
        if name is None:
            return ""
        if owner in {"sys.modules", "globals()", "locals()", *_BUILTINS}:
            return name
        return f"{owner.removesuffix('.__dict__')}.{name}" if owner.endswith(".__dict__") else ""

    def _result(self, call: ast.Call) -> str:
        name = self.origin(call.func)
        first = call.args[0] if call.args else None
        text = constant(call.args[1]) if len(call.args) > 1 else None
        if name in _IMPORTS:
            return constant(first) or ""
        if name in _LOOKUPS and text is not None:
            return self._member(self.origin(first), text)
        if name.endswith((".__getattribute__", ".__dict__.get", "sys.modules.get", ".__dict__.__getitem__")):
            owner = self.origin(call.func.value) if isinstance(call.func, ast.Attribute) else ""
            return self._entry(
                owner if owner.endswith(("__dict__", "modules")) else f"{owner}.__dict__", constant(first)
            )
        if name in _NAMESPACES:
            return f"{self.origin(first)}.__dict__" if first is not None else f"{name}()"
        return ""


def asks_for_names(nodes: list[ast.AST], names: PythonNames) -> bool:
    """Whether code may ask an object for `call_count` by that text, or by a text that is not known."""
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr in {"__dict__", "__getattribute__", "__getattr__"}:
            return True
        if isinstance(node, ast.Call) and names.origin(node.func) in _FINDS:
            asked = node.args[1:2] or node.args[:1]
            if constant(asked[0] if asked else None) in {None, "call_count"}:
                return True
    return False


def constant(node: ast.expr | None) -> str | None:
    """The text of an expression that always has the same text: `"_ex" + "it"`; None for every other."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Constant(value=bytes(data)):
            return data.decode("utf-8", "replace")
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _joined("", [left, right])
        case ast.JoinedStr(values=values):
            return _joined("", values)
        case ast.FormattedValue(value=value, format_spec=None):
            return constant(value)
        case ast.Call(
            func=ast.Attribute(value=between, attr="join"), args=[ast.List(elts=parts) | ast.Tuple(elts=parts)]
        ):
            separator = constant(between)
            return _joined(separator, parts) if separator is not None else None
        case ast.Subscript(value=value, slice=ast.Slice(lower=None, upper=None, step=ast.UnaryOp(op=ast.USub()))):
            forwards = constant(value)
            return forwards[::-1] if forwards is not None else None
        case _:
            return None


def _joined(separator: str, parts: list[ast.expr]) -> str | None:
    texts = [text for part in parts if (text := constant(part)) is not None]
    return separator.join(texts) if len(texts) == len(parts) else None
