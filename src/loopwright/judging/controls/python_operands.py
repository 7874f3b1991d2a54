"""Finds the operands of an assertion that must not be evaluated twice, and keeps their values in names."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from loopwright.judging.syntax.edits import Edits
from loopwright.judging.syntax.python_source import PythonSource, dotted_name

_SIMPLE = (ast.Name, ast.Constant, ast.Lambda, ast.GeneratorExp)
_SPLIT = (ast.BoolOp, ast.Compare, ast.UnaryOp, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Starred)


class KeptOperands:
    """Keeps the operands of one assertion, in its original and in its changed form."""

    def __init__(self, source: PythonSource, name: str) -> None:
        self._source = source
        self._name = name
        self._nodes: list[ast.expr] = []
        self.is_evaluated_twice = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names that hold values."""
        return tuple(f"{self._name}_{number}" for number in range(len(self._nodes)))

    def keep(self, node: ast.expr, altered: Edits) -> None:
        """Use the value of a node in the changed form, which must have its own edits already."""
        if isinstance(node, _SIMPLE):
            return
        if isinstance(node, _SPLIT):
            for part in _parts(node):
                self.keep(part, altered)
            return
        start, end = self._source.span(node)
        # Several changed forms of one assertion share their values.
        number = next((index for index, known in enumerate(self._nodes) if known is node), len(self._nodes))
        if not isinstance(node, ast.JoinedStr) and altered.replace(start, end, f"{self._name}_{number}".encode()):
            self._nodes += [node] if number == len(self._nodes) else []
        elif isinstance(node, ast.Call):
            # A part of the call changed, as in `approx(1)`.
            self.keep_arguments(node, altered)
        else:
            self.is_evaluated_twice |= any(isinstance(part, ast.Call | ast.Await) for part in ast.walk(node))

    def hold_arguments(self) -> None:
        """Keep also the results of calls in kept calls alive, as pytest does: `hash(C()) != hash(C())` needs it."""
        for node in list(self._nodes):
            inner = [part for part in ast.walk(node) if isinstance(part, ast.Call)] if _only_calls(node) else []
            self._nodes += [part for part in inner[1:] if part not in self._nodes]

    def keep_in(self, original: Edits) -> None:
        """Let the original form give the values."""
        spans = ((*self._source.span(node), name) for name, node in zip(self.names, self._nodes, strict=True))
        # Of nested ranges the outer one must come first.
        for start, end, name in sorted(spans, key=lambda span: (span[0], -span[1])):
            original.wrap(start, end, f"({name} := (".encode(), b"))")

    def keep_arguments(self, call: ast.Call, altered: Edits) -> None:
        """The same for the arguments of a call, and for the object whose method it calls."""
        if isinstance(call.func, ast.Attribute) and not dotted_name(call.func.value):
            self.keep(call.func.value, altered)
        for argument in [*call.args, *(keyword.value for keyword in call.keywords)]:
            self.keep(argument, altered)


def on_one_line(text: bytes) -> str | None:
    """An expression on one line; None if it can't be evaluated in a function of its own."""
    try:
        return checked(ast.parse(b"(" + text + b")", mode="eval").body)
    except (SyntaxError, ValueError):
        return None


def checked(node: ast.expr) -> str | None:
    """The text of an expression; None if it can't be evaluated in a function of its own."""
    return None if is_bound_to_function(node) else ast.unparse(ast.fix_missing_locations(node))


def is_bound_to_function(node: ast.expr) -> bool:
    """Whether an expression needs the function in which it is: it awaits, yields or assigns something."""
    return any(isinstance(part, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr) for part in ast.walk(node))


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    return (part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))


def _only_calls(node: ast.AST) -> bool:
    """Whether a node consists of calls, names and constants: these have no scopes or branches of their own."""
    known = ast.Call | ast.Name | ast.Attribute | ast.Constant | ast.keyword | ast.expr_context
    return all(isinstance(part, known) for part in ast.walk(node))
