"""Python functions that raise in place of returning.

They raise BaseException, which `except Exception` does not catch. Values are still computed, and a generator raises
in place of its first value. A function that never returns, because it exits or raises on every path, stays.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from loopwright.judging.controls.model import Raising
from loopwright.judging.controls.python_assertions import is_exit
from loopwright.judging.syntax.edits import Edits, any_done
from loopwright.judging.syntax.python_source import Function, PythonSource, dotted_name, parse_python

_RAISE = b"raise BaseException("
_RAISING_VALUE = b"(_ for _ in ()).throw(BaseException())"
_NEVER_CALLED = frozenset({"overload", "abstractmethod"})


def raise_in_python(before: bytes, after: bytes) -> Raising | None:
    """The new source with raising functions; None if no function changed, or the source can't be parsed."""
    parsed = parse_python(after)
    if parsed is None:
        return None
    edits, at_entry = Edits(after), Edits(after)
    altered, lines = [], []
    for name, node in _changed_functions(parsed, before):
        if _RaisingFunction(parsed, edits).alter(node):
            _raise_at_entry(parsed, at_entry, node)
            altered.append(name)
            lines += _body_lines(name, node)
    source = edits.applied()
    if not altered or parse_python(source) is None:
        return None
    return Raising(source, at_entry.applied(), tuple(dict.fromkeys(altered)), tuple(lines))


def stop_python(before: bytes, after: bytes) -> bytes | None:
    """The new source in which changed functions raise before they do anything, also those that never return."""
    parsed = parse_python(after)
    if parsed is None:
        return None
    edits = Edits(after)
    changed = [node for _, node in _changed_functions(parsed, before) if not _is_never_called(node)]
    for node in changed:
        _raise_at_entry(parsed, edits, node)
    source = edits.applied()
    return source if changed and parse_python(source) is not None else None


def _changed_functions(source: PythonSource, before: bytes) -> Iterator[tuple[str, Function | ast.Lambda]]:
    """The functions that the old source does not have in this form, with their names."""
    old = parse_python(before)
    known = Counter(_identity(name, node) for name, node in _functions(old.tree, "")) if old is not None else Counter()
    for name, node in _functions(source.tree, ""):
        identity = _identity(name, node)
        if known[identity]:
            known[identity] -= 1
        else:
            yield name, node


def _is_never_called(node: Function | ast.Lambda) -> bool:
    if isinstance(node, ast.Lambda):
        return False
    decorators = {dotted_name(decorator).rpartition(".")[2] for decorator in node.decorator_list}
    return node.name == "__del__" or bool(decorators & _NEVER_CALLED)


def _raise_at_entry(source: PythonSource, edits: Edits, node: Function | ast.Lambda) -> None:
    if isinstance(node, ast.Lambda):
        start, end = source.span(node.body)
        edits.replace(start, end, _RAISING_VALUE)
        return
    first = node.body[0]
    start = source.span(first)[0]
    is_own_line = first.lineno > node.lineno
    indent = source.source[start - first.col_offset : start] if is_own_line else b""
    edits.insert(start, _RAISE + (b")\n" + indent if is_own_line else b"); "))


def _body_lines(name: str, node: Function | ast.Lambda) -> list[tuple[str, int, int]]:
    """The lines of a body; the line of the definition runs when the module is loaded."""
    if isinstance(node, ast.Lambda) or node.body[0].lineno <= node.lineno:
        return []
    return [(name, node.body[0].lineno, node.end_lineno or node.body[-1].lineno)]


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, Function | ast.Lambda]]:
    """All functions with their qualified names, and lambdas that are not inside a function."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield f"{prefix}{name}", child
                yield from (
                    (inner, found) for inner, found in _functions(child, f"{prefix}{name}.") if inner != "lambda"
                )
            case ast.ClassDef(name=name):
                yield from _functions(child, f"{prefix}{name}.")
            case ast.Lambda():
                yield "lambda", child
            case _:
                yield from _functions(child, prefix)


def _identity(name: str, node: Function | ast.Lambda) -> tuple[str, str]:
    """The name and the code of a function, without its docstring."""
    if isinstance(node, ast.Lambda):
        return name, ast.dump(node)
    code = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    return name, "\n".join([ast.dump(node.args), *map(ast.dump, code)])


class _RaisingFunction:
    """Edits one function."""

    def __init__(self, source: PythonSource, edits: Edits) -> None:
        self._source = source
        self._edits = edits

    def alter(self, node: Function | ast.Lambda) -> bool:
        """Raise at each return, at each yield and at the end; False if the function has none of these."""
        if isinstance(node, ast.Lambda):
            return self._raise_after(node.body)
        if _is_never_called(node):
            return False
        return any_done([*map(self._alter_node, _own_nodes(node)), self._raise_at_end(node)])

    def _alter_node(self, node: ast.AST) -> bool:
        match node:
            case ast.Return(value=value):
                return self._raise_at(node, value)
            case ast.Yield(value=None):
                return self._edits.insert(self._source.span(node)[1], b" " + _RAISING_VALUE)
            case ast.Yield(value=ast.expr() as value) | ast.YieldFrom(value=value):
                return self._raise_after(value)
            case _:
                return False

    def _raise_at(self, node: ast.Return, value: ast.expr | None) -> bool:
        start, end = self._source.span(node)
        self._edits.replace(start, start + len(b"return"), _RAISE)
        # A value in brackets begins after its bracket, so the end is that of the statement.
        return self._edits.wrap(end, end, b"", b")") if value is not None else self._edits.insert(end, b")")

    def _raise_after(self, value: ast.expr) -> bool:
        return self._edits.wrap(*self._source.span(value), b"((", b"), " + _RAISING_VALUE + b")")

    def _raise_at_end(self, node: Function) -> bool:
        last = node.body[-1]
        if _never_ends(node.body) or (isinstance(last, ast.Expr) and isinstance(last.value, ast.Constant)):
            return False
        end = self._source.span(last)[1]
        if isinstance(
            last, ast.If | ast.For | ast.AsyncFor | ast.While | ast.With | ast.AsyncWith | ast.Try | ast.Match
        ):
            start = self._source.span(last)[0]
            indent = self._source.source[start - last.col_offset : start]
            return self._edits.insert(end, b"\n" + indent + _RAISE + b")")
        return not isinstance(last, Function | ast.ClassDef) and self._edits.insert(end, b"; " + _RAISE + b")")


def _own_nodes(function: Function) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions in it."""
    ahead: list[ast.AST] = list(function.body)
    while ahead:
        node = ahead.pop()
        if isinstance(node, Function | ast.Lambda | ast.ClassDef):
            continue
        yield node
        ahead += ast.iter_child_nodes(node)


def _never_ends(body: list[ast.stmt]) -> bool:
    """Whether the end of these statements can't be reached."""
    match body[-1]:
        case ast.Return() | ast.Raise() | ast.Continue() | ast.Break():
            return True
        case ast.Expr(value=ast.Call() as call):
            return is_exit(call)
        case ast.If(body=yes, orelse=no):
            return bool(no) and _never_ends(yes) and _never_ends(no)
        case ast.With(body=inner) | ast.AsyncWith(body=inner):
            return _never_ends(inner)
        case ast.Try(body=inner, handlers=handlers, orelse=orelse, finalbody=final):
            ways = [orelse or inner, *(handler.body for handler in handlers)]
            return all(map(_never_ends, ways)) or (bool(final) and _never_ends(final))
        case ast.While(test=ast.Constant(value=True)) as loop:
            return not any(isinstance(node, ast.Break) for node in ast.walk(loop))
        case _:
            return False
