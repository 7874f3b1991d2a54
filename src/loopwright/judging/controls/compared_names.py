"""Finds the values of the names that a test file compares, in the scope of each name. It looks at each node once."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from loopwright.judging.syntax.python_source import Function, called_name


class ScopedNames:
    """The names that one function or the module uses and assigns. Functions inside a function belong to it."""

    def __init__(self, nodes: list[ast.AST]) -> None:
        self.loads: dict[str, list[ast.Name]] = {}
        # The values of each variable, also those from the rows of a table.
        self.assigned: dict[str, list[ast.expr]] = {}
        self.bound: set[str] = set()
        self._of_module: set[str] = set()
        for node in nodes:
            self._add(node)
        self.bound -= self._of_module

    def _add(self, node: ast.AST) -> None:
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                self.loads.setdefault(name, []).append(node)
            case ast.Name(id=name) | ast.arg(arg=name):
                self.bound.add(name)
            case ast.Global(names=names):
                self._of_module |= set(names)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.assigned.setdefault(name, []).append(value)
            case (
                ast.For(target=ast.Tuple(elts=targets), iter=table)
                | ast.comprehension(target=ast.Tuple(elts=targets), iter=table)
            ):
                self._add_rows(targets, table)
            case _:
                pass

    def _add_rows(self, targets: list[ast.expr], table: ast.expr) -> None:
        names = [part.id if isinstance(part, ast.Name) else "" for part in targets]
        for row in table.elts if isinstance(table, ast.List | ast.Tuple) else []:
            if isinstance(row, ast.Tuple | ast.List) and len(row.elts) == len(names):
                for name, value in zip(names, row.elts, strict=True):
                    self.assigned.setdefault(name, []).append(value)


class ComparedNames:
    """The names of one file, by their scopes."""

    def __init__(self, tree: ast.Module) -> None:
        functions: list[Function] = []
        outside = list(_outside_functions(tree.body, functions))
        self._module = ScopedNames(outside)
        self._functions = {id(node): ScopedNames(list(_inside(node))) for node in functions}
        for scope in self._functions.values():
            self._share(scope)
        self._calls: dict[str, list[ast.Call]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                self._calls.setdefault(called_name(node), []).append(node)

    def _share(self, scope: ScopedNames) -> None:
        """A function uses the names of the module that it does not bind, and may assign them."""
        module = self._module
        for name in scope.loads.keys() - scope.bound:
            module.loads.setdefault(name, []).extend(scope.loads[name])
        for name in scope.assigned.keys() - scope.bound:
            module.assigned.setdefault(name, []).extend(scope.assigned[name])

    def scope(self, name: str, function: Function | None) -> ScopedNames:
        """The scope of a name that a function uses, or the module without a function."""
        own = self._functions.get(id(function))
        return own if own is not None and name in own.bound else self._module

    def passed(self, name: str, function: Function) -> Iterator[ast.expr]:
        """What calls in the file give for a parameter of a function."""
        names = [argument.arg for argument in function.args.args if argument.arg not in {"self", "cls"}]
        for call in self._calls.get(function.name, ()) if name in names else ():
            yield from call.args[names.index(name) :][:1]
            yield from (keyword.value for keyword in call.keywords if keyword.arg == name)


def _outside_functions(body: list[ast.stmt], functions: list[Function]) -> Iterator[ast.AST]:
    """The nodes outside functions, with decorators and defaults. What a class assigns is no name of the module."""
    ahead: list[tuple[ast.AST, bool]] = [(node, False) for node in body]
    while ahead:
        node, is_in_class = ahead.pop()
        if isinstance(node, Function):
            functions.append(node)
            ahead += [(part, is_in_class) for part in (*node.decorator_list, *_defaults(node))]
            continue
        if not (is_in_class and isinstance(node, ast.Assign | ast.For)):
            yield node
        is_in_class = is_in_class or isinstance(node, ast.ClassDef)
        ahead += [(child, is_in_class) for child in ast.iter_child_nodes(node)]


def _defaults(node: Function) -> Iterator[ast.expr]:
    yield from node.args.defaults
    yield from (value for value in node.args.kw_defaults if value is not None)


def _inside(node: Function) -> Iterator[ast.AST]:
    yield from (part for part in ast.walk(node.args) if isinstance(part, ast.arg))
    for statement in node.body:
        yield from ast.walk(statement)
