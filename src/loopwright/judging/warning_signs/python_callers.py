"""Python code that learns which file called it, or which program runs: there it could find a test."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from loopwright.judging.warning_signs.model import Sign, reads_callers, reads_program
from loopwright.judging.warning_signs.python_names import PythonNames

_STACKS = re.compile(r"findCaller|(?:format|print|extract|walk)_stack")
_OPENS = re.compile(r"(?:.*\.)?(?:open\w*|Path|PurePath|read_text|read_bytes|FileInput|input|getlines?|run_path)")
_PROGRAMS = frozenset({"sys.argv", "sys.orig_argv"})


class CallerSigns:
    """Knows what one file does with the arguments of the program, and with the places of warnings and log records."""

    def __init__(self, nodes: list[ast.AST], names: PythonNames) -> None:
        self._names = names
        # Variables with the program's own file, and with all arguments.
        self._of_program: set[str] = set()
        self._arguments: set[str] = set()
        # A variable may be assigned from another one.
        for node in (*nodes, *nodes):
            match node:
                case ast.Assign(targets=targets, value=value):
                    self._follow(targets, value)
                case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                    self._follow_each(target, value)
                case ast.NamedExpr(target=target, value=value):
                    self._follow([target], value)
                case _:
                    pass
        calls = [node for node in nodes if isinstance(node, ast.Call) and _names_a_caller(node)]
        self._names_callers = bool(calls)
        self._logs_callers = not all(map(self._is_warning, calls))
        self._own_pathnames = {
            id(part) for node in nodes if isinstance(node, ast.ClassDef) for part in self._own_parts(node)
        }

    def at(self, node: ast.AST, *, in_main: bool) -> Iterator[Sign]:
        """The signs of one node."""
        match node:
            case ast.Attribute(attr=attr) if _STACKS.fullmatch(attr):
                yield reads_callers(attr, node.lineno)
            case ast.ImportFrom(names=names):
                yield from (reads_callers(name.name, node.lineno) for name in names if _STACKS.fullmatch(name.name))
            case ast.Call() if self._names_callers and self._records_warnings(node):
                yield reads_callers("the place of a warning", node.lineno)
            case ast.Attribute(attr="pathname") if self._logs_callers and id(node) not in self._own_pathnames:
                yield reads_callers("pathname of a log record", node.lineno)
            case ast.Constant(value=str(text)) if self._logs_callers and (text == "pathname" or "(pathname)" in text):
                yield reads_callers("pathname of a log record", node.lineno)
            case ast.Call() if not in_main and self._opens_program(node):
                yield reads_program("the file in sys.argv", node.lineno)
            case _:
                return

    def _follow(self, targets: list[ast.expr], value: ast.expr) -> None:
        names = {target.id for target in targets if isinstance(target, ast.Name)}
        if self._is_arguments(value):
            self._arguments |= names
        elif self._is_of_program(value):
            self._of_program |= names

    def _follow_each(self, target: ast.expr, value: ast.expr) -> None:
        """A loop over all arguments has the program's own file, too."""
        if isinstance(target, ast.Name) and self._is_of_program(value):
            self._of_program.add(target.id)

    def _is_arguments(self, node: ast.expr) -> bool:
        """Whether a value may be the list of all arguments."""
        match node:
            case ast.IfExp(body=first, orelse=second):
                return self._is_arguments(first) or self._is_arguments(second)
            case ast.BoolOp(values=values):
                return any(map(self._is_arguments, values))
            case ast.Call(func=ast.Name(id="list" | "tuple"), args=[value]):
                return self._is_arguments(value)
            case ast.Name(id=name) if name in self._arguments:
                return True
            case _:
                return self._names.origin(node) in _PROGRAMS

    def _is_warning(self, call: ast.Call) -> bool:
        """Whether a call warns: the place of a warning is found in its record, not in that of a log."""
        return self._names.origin(call.func).startswith(("warnings.", "typing_extensions."))

    def _own_parts(self, kind: ast.ClassDef) -> Iterator[ast.AST]:
        """`self.pathname` in a class that is no kind of log record."""
        if any("Record" in ast.unparse(base) or self._names.origin(base).startswith("logging") for base in kind.bases):
            return
        for part in ast.walk(kind):
            if (
                isinstance(part, ast.Attribute)
                and isinstance(part.value, ast.Name)
                and part.value.id in {"self", "cls"}
            ):
                yield part

    def _records_warnings(self, call: ast.Call) -> bool:
        is_recording = any(keyword.arg == "record" for keyword in call.keywords)
        return is_recording and self._names.origin(call.func).endswith("catch_warnings")

    def _opens_program(self, call: ast.Call) -> bool:
        name = self._names.origin(call.func) or (call.func.attr if isinstance(call.func, ast.Attribute) else "")
        return bool(_OPENS.fullmatch(name)) and any(map(self._is_of_program, call.args))

    def _is_of_program(self, node: ast.expr) -> bool:
        """Whether a value has the program's own file in it, or all arguments. The other arguments are free."""
        match node:
            case ast.Name(id=name) if name in self._of_program:
                return True
            case ast.Subscript(value=value, slice=index) if self._is_arguments(value):
                first = index.lower if isinstance(index, ast.Slice) else index
                return not (isinstance(first, ast.Constant) and isinstance(first.value, int) and first.value > 0)
            case ast.Call(func=ast.Name(id="len")):
                return False
            case ast.Attribute() | ast.Name() | ast.Call() if self._is_arguments(node):
                return True
            case _:
                return any(
                    self._is_of_program(part) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)
                )


def _names_a_caller(call: ast.Call) -> bool:
    return any(keyword.arg == "stacklevel" and not _is_one(keyword.value) for keyword in call.keywords)


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1
