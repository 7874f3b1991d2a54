"""Finds the modules in which a judging script keeps its assertions. Pure; Python only.

A script also imports the product. A helper is a module whose function asserts something about its own parameters, that
a script calls without using the result, and that the product does not import.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from posixpath import dirname, join

from loopwright.judging.syntax.python_source import Function, called_name, dotted_name, parse_python

# Reading a file of the base is a process.
_MOST_READ = 100
Read = Callable[[str], bytes]


def judge_helpers(scripts: Iterable[str], files: frozenset[str], read: Read) -> frozenset[str]:
    """The helpers of these scripts that no other file imports."""
    judges = sorted(path for path in scripts if path in files and path.endswith(".py"))
    helpers = {path for script in judges for path in _asserting_modules(script, files, read)} - set(judges)
    if not helpers:
        return frozenset()
    others = sorted(path for path in files if path.endswith(".py") and path not in helpers.union(judges))[:_MOST_READ]
    return frozenset(
        helpers - {path for other in others for path in imports_of(_tree(read(other)), other, files).values()}
    )


def imported_files(path: str, files: frozenset[str], read: Read) -> Iterator[str]:
    """The files of the project that a Python file imports."""
    yield from imports_of(_tree(read(path)), path, files).values()


def _asserting_modules(script: str, files: frozenset[str], read: Read) -> Iterator[str]:
    tree = _tree(read(script))
    imports = imports_of(tree, script, files)
    for node in ast.walk(tree):
        # A judge hands over what the product did.
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and any(map(_is_computed, node.value.args)):
            owner, _, function = dotted_name(node.value.func).rpartition(".")
            path = imports.get(owner or function)
            if path is not None and _asserts(_tree(read(path)), function):
                yield path


def _tree(source: bytes) -> ast.Module:
    parsed = parse_python(source)
    return parsed.tree if parsed is not None else ast.Module([], [])


def imports_of(tree: ast.Module, path: str, files: frozenset[str]) -> dict[str, str]:
    """The file of the project behind each imported name."""
    found = {}
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                rows = [(name.asname or name.name, [name.name]) for name in names]
            case ast.ImportFrom(module=module, names=names):
                parent = f"{module}." if module else ""
                rows = [(name.asname or name.name, [f"{parent}{name.name}", module or ""]) for name in names]
            case _:
                continue
        for local, modules in rows:
            places = [
                join(folder, f"{name.replace('.', '/')}.py") for name in modules for folder in (dirname(path), "")
            ]
            file = next((place for place in places if place in files), None)
            if file is not None:
                found[local] = file
    return found


def _is_computed(node: ast.expr) -> bool:
    return any(isinstance(part, ast.Call | ast.Compare) for part in ast.walk(node))


def _asserts(tree: ast.Module, name: str) -> bool:
    """Whether a function of the module fails because of its own parameters."""
    for function in ast.walk(tree):
        if isinstance(function, Function) and function.name == name:
            return any(asserted_about_parameters(function))
    return False


def asserted_about_parameters(function: Function) -> Iterator[ast.expr]:
    """The conditions of a function that let it fail because of its own parameters."""
    parameters = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
    return (condition for condition in _conditions(function) if _is_about(condition, parameters))


def _conditions(function: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(function):
        match node:
            case ast.Assert(test=test):
                yield test
            case ast.If(test=test, body=body) if any(map(_fails, body)):
                yield test
            case ast.Expr(value=ast.Call() as call) if called_name(call).startswith("assert"):
                yield call
            case _:
                continue


def _fails(statement: ast.stmt) -> bool:
    match statement:
        case ast.Raise(exc=ast.Call(func=error)) | ast.Raise(exc=ast.Name() as error):
            return dotted_name(error) in {"AssertionError", "SystemExit"}
        case ast.Expr(value=ast.Call(func=called)):
            return dotted_name(called) in {"sys.exit", "exit", "quit", "os._exit", "pytest.fail"}
        case _:
            return False


def _is_about(condition: ast.expr, parameters: set[str]) -> bool:
    return any(isinstance(node, ast.Name) and node.id in parameters for node in ast.walk(condition))
