"""The tests of a Python file: functions and methods whose names begin with `test`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from posixpath import dirname

from loopwright.judging.defined_tests.model import DefinedTest, DefinedTests, DefinedTestsBuilder, NameBinding

_Function = ast.FunctionDef | ast.AsyncFunctionDef
# Names that a runner looks for in a module.
_LOADED = ("setup", "teardown", "setUp", "tearDown", "pytest_", "pytestmark", "collect_ignore", "load_tests", "__")


def python_tests(path: str, source: bytes) -> DefinedTests | None:
    """The tests of the file; None if it can't be parsed."""
    try:
        module = ast.parse(source)
        return _PythonFile(path).read(module)
    except (SyntaxError, ValueError, RecursionError):
        return None


class _PythonFile:
    def __init__(self, path: str) -> None:
        self._path = path
        self._file = DefinedTestsBuilder(path)

    def read(self, module: ast.Module) -> DefinedTests:
        for statement in module.body:
            if not _is_plain_text(statement):
                self._add(statement)
        return self._file.done()

    def _add(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Import(names=names):
                for name in names:
                    bound = name.asname or name.name.partition(".")[0]
                    self._file.add_import(bound, f"import {name.name} as {name.asname}")
            case ast.ImportFrom(module=module, names=names, level=level) if all(name.name != "*" for name in names):
                place = dirname(self._path) if level else ""
                for name in names:
                    code = f"from {place}{'.' * level}{module or ''} import {name.name}"
                    self._file.add_import(name.asname or name.name, code)
            case ast.FunctionDef() | ast.AsyncFunctionDef() if _is_test(statement):
                self._add_test(statement, "", (), frozenset())
            case ast.ClassDef() if _has_tests(statement):
                self._add_class(statement, "", (), frozenset())
            case _:
                self._add_rest(statement)

    def _add_test(self, function: _Function, owner: str, groups: tuple[str, ...], uses: frozenset[str]) -> None:
        body = _body(function)
        names = uses.union(*map(_names, _parts(function)))
        self._file.add_test(
            DefinedTest(name=f"{owner}{function.name}", owner=self._path, body=body, groups=groups, uses=names)
        )
        if not owner:
            # The name of a test may hide an import or a helper.
            self._file.bind(function.name, NameBinding(body))

    def _add_class(self, found: ast.ClassDef, owner: str, groups: tuple[str, ...], uses: frozenset[str]) -> None:
        code, names = _skeleton(found)
        groups, uses = (*groups, code), uses | names
        if not owner:
            self._file.bind(found.name, NameBinding(code, names))
        for statement in found.body:
            if isinstance(statement, _Function) and _is_test(statement):
                self._add_test(statement, f"{owner}{found.name}::", groups, uses)
            elif isinstance(statement, ast.ClassDef) and _has_tests(statement):
                self._add_class(statement, f"{owner}{found.name}::", groups, uses)

    def _add_rest(self, statement: ast.stmt) -> None:
        code, names = ast.dump(statement), tuple(_bound(statement))
        is_run_only = isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test)
        is_hook = not is_run_only and not (names and all(not name.startswith(_LOADED) for name in names))
        self._file.add_rest(code, is_hook=is_hook)
        for name in names:
            self._file.bind(name, NameBinding(code, _names(statement)))


def _is_plain_text(statement: ast.stmt) -> bool:
    """Whether a statement is a text without examples that a runner may run."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and (">>>" not in str(statement.value.value))
    )


def _is_test(statement: ast.stmt) -> bool:
    return isinstance(statement, _Function) and statement.name.startswith("test")


def _has_tests(found: ast.ClassDef) -> bool:
    return any(_is_test(row) or (isinstance(row, ast.ClassDef) and _has_tests(row)) for row in found.body)


def _parts(function: _Function) -> Iterable[ast.AST]:
    returns = (function.returns,) if function.returns is not None else ()
    return (function.args, *function.decorator_list, *returns, *function.body)


def _body(function: _Function) -> str:
    return "\n".join((type(function).__name__, *map(ast.dump, _parts(function))))


def _skeleton(found: ast.ClassDef) -> tuple[str, frozenset[str]]:
    """The code of a class without its name and its tests, and the names in it."""
    own = [row for row in found.body if not _is_test(row) and not (isinstance(row, ast.ClassDef) and _has_tests(row))]
    parts = (*found.bases, *found.keywords, *found.decorator_list, *own)
    return "\n".join(("class", *map(ast.dump, parts))), frozenset[str]().union(*map(_names, parts))


def _names(node: ast.AST) -> frozenset[str]:
    """The names in a piece of code. A parameter may be a fixture, and a text may name one."""
    return frozenset(_named(node))


def _named(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        match part:
            case ast.Name(id=name) | ast.arg(arg=name):
                yield name
            case ast.Constant(value=str(text)) if text.isidentifier():
                yield text
            case _:
                pass


def _bound(statement: ast.stmt) -> Iterator[str]:
    """The names that a plain definition binds; none for code that acts without being named."""
    match statement:
        case ast.ClassDef(name=name, decorator_list=[]):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            if all(_is_plain_fixture(decorator) for decorator in statement.decorator_list):
                yield name
        case ast.Assign(targets=targets) if all(isinstance(target, ast.Name) for target in targets):
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name
        case _:
            pass


def _is_plain_fixture(decorator: ast.expr) -> bool:
    """Whether a decorator makes a fixture that a test must name."""
    text = ast.unparse(decorator)
    return text.partition("(")[0] in {"pytest.fixture", "fixture"} and "autouse" not in text and "**" not in text
