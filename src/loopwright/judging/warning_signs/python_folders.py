"""Python code that lists folders in which its judge may be: the working folder, and folders above its own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from posixpath import normpath

from loopwright.judging.folder_names import FolderKind, kind_of_folder
from loopwright.judging.warning_signs.model import Sign, reads_program
from loopwright.judging.warning_signs.python_names import PythonNames, constant

_LISTS = frozenset({"os.listdir", "os.scandir", "os.walk", "os.fwalk"})
_LISTS_PATH = frozenset({"iterdir", "glob", "rglob", "walk"})
# From the file of a module to a folder above that of the module.
_ABOVE = re.compile(r"\.parents\[[1-9]|\.parent\.parent|dirname\(.*dirname\(|['\"]\.\.['\"/]")
_HERE = frozenset({".", "./", ""})
_CURRENT = frozenset({"os.getcwd", "pathlib.Path.cwd", "os.path.curdir"})
_OF_JUDGES = (FolderKind.TESTS, FolderKind.PERHAPS_TESTS, FolderKind.OTHER)


class FolderSigns:
    """Knows which variables of one file are folders above that of the file."""

    def __init__(self, nodes: list[ast.AST], names: PythonNames) -> None:
        self._names = names
        self._above: set[str] = set()
        # A variable may be assigned from another one.
        for node in (*nodes, *nodes):
            if isinstance(node, ast.Assign) and self._is_above(node.value):
                self._above |= {target.id for target in node.targets if isinstance(target, ast.Name)}

    def at(self, node: ast.Call, name: str) -> Iterator[Sign]:
        """The signs of a call by this name."""
        first = node.args[0] if node.args else None
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        is_here = first is None or constant(first) in _HERE or self._called(first) in _CURRENT
        if name in _LISTS and is_here:
            yield reads_program(name, node.lineno)
        elif self._lists_above(node, name):
            yield reads_program("a list of the files above its own folder", node.lineno)
        elif isinstance(owner, ast.Call) and _method(node) in _LISTS_PATH:
            made = self._called(owner)
            is_path = made == "pathlib.Path" and (not owner.args or constant(owner.args[0]) in _HERE)
            if is_path or made in _CURRENT:
                yield reads_program(f"{made}.{_method(node)}", node.lineno)

    def _lists_above(self, node: ast.Call, name: str) -> bool:
        first = node.args[0] if node.args else None
        if name in _LISTS:
            return first is not None and self._is_above(first)
        if _method(node) not in _LISTS_PATH or not isinstance(node.func, ast.Attribute):
            return False
        pattern = constant(first) or ""
        return self._is_above(node.func.value) or (".." in pattern and self._leads_above(node.func.value))

    def _is_above(self, node: ast.expr) -> bool:
        """Whether an expression is a folder above that of the module: it may hold tests and hidden checks.

        A folder in it that the code names, such as `migrations`, holds none.
        """
        if not self._leads_above(node):
            return False
        below = [constant(part) for part in self._joined(node)]
        if None in below:
            return True
        path = normpath("/".join(part for part in below if part))
        folders = [folder for folder in path.split("/") if folder not in {"", ".", ".."}]
        return not folders or any(kind_of_folder(folder) in _OF_JUDGES for folder in folders)

    def _leads_above(self, node: ast.expr) -> bool:
        names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        return not names.isdisjoint(self._above) or ("__file__" in names and bool(_ABOVE.search(ast.unparse(node))))

    def _joined(self, node: ast.expr) -> list[ast.expr]:
        """What an expression joins to a folder: `"db"` and `"migrations"` of `top / "db" / "migrations"`."""
        match node:
            case ast.BinOp(left=above, op=ast.Div(), right=right):
                return [*self._joined(above), right]
            case ast.Call(func=ast.Attribute(value=above, attr="joinpath"), args=parts):
                return [*self._joined(above), *parts]
            case ast.Call(func=function, args=[above, *parts]) if self._names.origin(function) == "os.path.join":
                return [*self._joined(above), *parts]
            case _:
                return []

    def _called(self, node: ast.expr) -> str:
        return self._names.origin(node.func) if isinstance(node, ast.Call) else ""


def _method(call: ast.Call) -> str:
    """The name of the method that is called; empty for a function."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""
