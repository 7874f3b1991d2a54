"""A Python file of the tests with the functions, classes, fixtures and other files that its tests use.

Finds definitions only. What their values depend on is decided in `value_origins.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cached_property
from posixpath import dirname, join, normpath

from loopwright.judging.syntax.python_source import Function, called_name, dotted_name, parse_python
from loopwright.kernel.relative_folder import folders_above

# Whether an import of this module and name, with this number of dots, leads to the product.
IsProduct = Callable[[str, str, int], bool]
# The source of a file of the tests at this path; None if there is none.
ReadTests = Callable[[str], bytes | None]
_SET_UPS = frozenset([
    "setUp", "asyncSetUp", "setUpClass", "setup_method", "setup_class", "setup", "__init__", "setUpTestData",
])  # fmt: skip
_FIXTURE = "fixture"
_CONFTEST = "conftest.py"
_DEEPEST = 5


def nothing(path: str) -> bytes | None:
    """No other file."""
    del path
    return None


class Definition:
    """A function of a test file, and the class to which it belongs."""

    def __init__(self, module: FileOfTests, function: Function, owner: ast.ClassDef | None) -> None:
        self.module = module
        self.function = function
        self.owner = owner

    @property
    def is_set_up(self) -> bool:
        """Whether a runner calls the function before tests."""
        return self.function.name in _SET_UPS or _is_fixture(self.function)


class FileOfTests:
    """One file of the tests."""

    def __init__(
        self, tree: ast.Module, leads_to_product: Callable[[str], IsProduct], path: str = "", read: ReadTests = nothing
    ) -> None:
        """`leads_to_product` takes the path of a file of the tests."""
        self.tree = tree
        self.path = path
        self.is_product = leads_to_product(path)
        self._leads_to_product = leads_to_product
        self._read = read
        self._known: dict[str, FileOfTests | None] = {}
        self._methods: dict[ast.ClassDef, dict[str, Definition]] = {}
        self._assigned: dict[ast.ClassDef, dict[str, list[tuple[Definition, list[ast.expr]]]]] = {}

    def methods(self, owner: ast.ClassDef | None) -> dict[str, Definition]:
        """The methods of a class and of its bases, as far as these are known, by their names."""
        if owner is None:
            return {}
        if owner not in self._methods:
            found: dict[str, Definition] = {}
            for method in self._all_methods(owner, 0):
                found.setdefault(method.function.name, method)
            self._methods[owner] = found
        return self._methods[owner]

    def assigned(self, owner: ast.ClassDef | None, name: str) -> list[tuple[Definition, list[ast.expr]]]:
        """The methods that assign `self.name`, and the values that they assign."""
        if owner is None:
            return []
        if owner not in self._assigned:
            found: dict[str, list[tuple[Definition, list[ast.expr]]]] = {}
            for method in self._all_methods(owner, 0):
                for attribute, values in _assigned(method.function).items():
                    found.setdefault(attribute, []).append((method, values))
            self._assigned[owner] = found
        return self._assigned[owner].get(name, [])

    def _all_methods(self, owner: ast.ClassDef, depth: int) -> Iterator[Definition]:
        """The nearest first."""
        for node in owner.body:
            if isinstance(node, Function):
                yield Definition(self, node, owner)
        for base in owner.bases if depth < _DEEPEST else ():
            module, name = self.imported(dotted_name(base)) or (self, dotted_name(base))
            if name in module.classes:
                yield from module._all_methods(module.classes[name], depth + 1)  # noqa: SLF001  the same class

    def fixture(self, name: str, owner: ast.ClassDef | None) -> Definition | None:
        """The pytest fixture of this name that tests of a class or of this file get."""
        modules = (self, *self._conftests())
        found = (*self.methods(owner).values(), *(each for module in modules for each in module.functions.values()))
        return next((each for each in found if _is_fixture(each.function) and _name_of(each.function) == name), None)

    def imported(self, name: str) -> tuple[FileOfTests, str] | None:
        """The file of the tests and the name in it behind a local name; None for other names."""
        first, _, rest = name.partition(".")
        if first not in self._imports:
            return None
        module, imported, level = self._imports[first]
        for path, inner in _places(self.path, module, imported, level):
            if "." not in rest and bool(inner) != bool(rest) and (found := self._at(path)) is not None:
                return found, inner or rest
        return None

    def _at(self, path: str) -> FileOfTests | None:
        if path not in self._known:
            source = self._read(path)
            parsed = parse_python(source) if source is not None else None
            made = FileOfTests(parsed.tree, self._leads_to_product, path, self._read) if parsed is not None else None
            self._known[path] = made
        return self._known[path]

    def _conftests(self) -> Iterator[FileOfTests]:
        found = (self._at(join(folder, _CONFTEST)) for folder in folders_above(self.path))
        yield from (file for file in found if file is not None)

    @cached_property
    def functions(self) -> dict[str, Definition]:
        """The functions at the top of the file."""
        return {node.name: Definition(self, node, None) for node in self.tree.body if isinstance(node, Function)}

    @cached_property
    def classes(self) -> dict[str, ast.ClassDef]:
        """The classes at the top of the file."""
        return {node.name: node for node in self.tree.body if isinstance(node, ast.ClassDef)}

    @cached_property
    def product_names(self) -> frozenset[str]:
        """The names that imports from the product give."""
        rows = ((local.partition(".")[0], row) for local, row in self._all_imports)
        return frozenset(local for local, row in rows if self.is_product(*row))

    @cached_property
    def foreign_names(self) -> frozenset[str]:
        """The names that other imports give."""
        rows = ((local.partition(".")[0], row) for local, row in self._all_imports)
        return frozenset(local for local, row in rows if not self.is_product(*row))

    @cached_property
    def _imports(self) -> dict[str, tuple[str, str, int]]:
        return {local: row for local, row in self._all_imports if not self.is_product(*row)}

    @cached_property
    def _all_imports(self) -> list[tuple[str, tuple[str, str, int]]]:
        """Each imported local name with its module, name and dots."""
        found: list[tuple[str, tuple[str, str, int]]] = []
        for node in ast.walk(self.tree):
            match node:
                case ast.Import(names=names):
                    found += ((alias.asname or alias.name, (alias.name, "", 0)) for alias in names)
                case ast.ImportFrom(module=module, names=names, level=level):
                    found += ((alias.asname or alias.name, (module or "", alias.name, level)) for alias in names)
                case _:
                    pass
        return found


def _places(path: str, module: str, name: str, level: int) -> Iterator[tuple[str, str]]:
    """The files that an import may mean, with the name in them; the name is empty if it is that of the file."""
    folder = dirname(path)
    inner = module.replace(".", "/")
    roots = [join(folder, *[".."] * (level - 1))] if level else [folder, ""]
    for root in roots:
        place = normpath(join(root, inner))
        if name:
            yield normpath(join(place, f"{name}.py")), ""
            yield from ((file, name) for file in (f"{place}.py", normpath(join(place, "__init__.py"))))
        else:
            yield f"{place}.py", ""


def _is_fixture(function: Function) -> bool:
    return any(_decorator(node) == _FIXTURE for node in function.decorator_list)


def _decorator(node: ast.expr) -> str:
    return called_name(node) or dotted_name(node).rpartition(".")[2]


def _name_of(function: Function) -> str:
    """The name by which tests ask for a fixture."""
    for node in function.decorator_list:
        if isinstance(node, ast.Call) and _decorator(node) == _FIXTURE:
            for keyword in node.keywords:
                if keyword.arg == "name" and isinstance(keyword.value, ast.Constant):
                    return str(keyword.value.value)
    return function.name


def inner(function: Function) -> Iterator[ast.AST]:
    """What a function holds, without the functions in it."""
    ahead: list[ast.AST] = list(function.body)
    while ahead:
        node = ahead.pop()
        yield node
        if not isinstance(node, Function | ast.Lambda | ast.ClassDef):
            ahead += ast.iter_child_nodes(node)


def _assigned(function: Function) -> dict[str, list[ast.expr]]:
    """The values that a function gives to attributes of its object or class."""
    found: dict[str, list[ast.expr]] = {}
    for node in inner(function):
        match node:
            case ast.Assign(targets=targets, value=value):
                pass
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.AugAssign(target=target, value=value):
                targets = [target]
            case ast.For(target=target, iter=value):
                targets = [target]
            case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
                targets = [target]
            case _:
                continue
        for part in (part for target in targets for part in ast.walk(target)):
            if isinstance(part, ast.Attribute):
                found.setdefault(part.attr, []).append(value)
    return found
