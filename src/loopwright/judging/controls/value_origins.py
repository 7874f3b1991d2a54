"""Where the values in a Python test come from: from a call of the product, from its constants, or from the test. Pure.

A call of the product gives an answer. An argument of the test, or anything else that is unknown, may be one, too.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from enum import Flag, auto

from loopwright.judging.controls.files_of_tests import Definition, FileOfTests, inner
from loopwright.judging.project_files import CODE_KINDS
from loopwright.judging.syntax.python_source import Function, dotted_name

# A function with the attribute that it assigns, or a file with a name in it. Without a name: what a function returns.
_Place = tuple[Function | FileOfTests, str]
Bindings = dict[str, list[ast.expr]]
# Methods of texts, containers and files. On a constant of the product they are no calls of the product.
_PLAIN_METHODS = frozenset([
    "copy", "count", "encode", "decode", "format", "get", "index", "items", "join", "keys", "lower", "lstrip",
    "partition", "read", "read_bytes", "read_text", "readlines", "replace",
    "rpartition", "rstrip", "split", "splitlines", "strip", "title", "upper", "values",
    "endswith", "startswith",
])  # fmt: skip

# Built-in functions that may call what they get.
_CALLING = frozenset(["exec", "eval", "filter", "getattr", "map", "next", "vars"])
_BUILT_IN = frozenset(dir(builtins))
_MOST_VISITS = 50
# A place behind all names.
_NO_CUT = 1 << 30
# Stands for a value that may be anything.
_ANY = ast.Await(value=ast.Constant(value=None))


class Origin(Flag):
    """What a value depends on."""

    NOTHING = 0
    # A call of the product, or something unknown.
    ANSWER = auto()
    # A constant, a docstring or a data file of the product.
    PRODUCT = auto()


class ValueOrigins:
    """The origins of values in one function of a test file."""

    def __init__(
        self,
        module: FileOfTests,
        data_files: frozenset[str],
        asking: ValueOrigins | None = None,
        following: tuple[_Place, ...] = (),
    ) -> None:
        """`asking` asks for origins in another file or function; `following` are the places that led here."""
        self._module = module
        self._data_files = data_files
        self.files: dict[FileOfTests, Bindings] = asking.files if asking is not None else {}
        if module not in self.files:
            self.files[module] = bindings(module.tree.body)
        self._scopes: list[Bindings] = [self.files[module]]
        self._product = module.product_names
        self._foreign = module.foreign_names | _BUILT_IN
        self._attributes: Bindings = {}
        self._owner: ast.ClassDef | None = None
        # Parameters whose values fixtures give.
        self._parameters: frozenset[str] = frozenset()
        # The names that are followed now, with their places in the order in which they were found.
        self._seen: dict[str, int] = {}
        # What is known of expressions of this function, and the place of the first name where following them ended.
        self._settled: dict[int, tuple[ast.expr, Origin]] = {}
        self._visits: dict[int, int] = {}
        self._first_cut = _NO_CUT
        self._following = following
        self._is_helper = asking is not None
        self.known: dict[_Place, Origin] = asking.known if asking is not None else {}

    def inside(self, function: Function, owner: ast.ClassDef | None) -> None:
        """Look at values of this function from now on."""
        own = bindings(function.body)
        given = _parameters(function)
        for name, values in given.items():
            own.setdefault(name, []).extend(values)
        self._scopes = [self._scopes[0], own]
        self._settled, self._visits = {}, {}
        self._attributes = bindings(owner.body) if owner is not None else {}
        self._owner = owner
        self._parameters = frozenset(_arguments(function)) - given.keys() - {"self", "cls"}

    def literal_of(self, name: str) -> ast.expr | None:
        """The list, table or set that the test itself assigned to this name, once and not empty."""
        for scope in reversed(self._scopes):
            if name in scope:
                match scope[name]:
                    case [ast.List() | ast.Dict() | ast.Set() as value] if _is_literal(value):
                        return value
                    case _:
                        return None
        return None

    def is_call_of_product(self, call: ast.Call) -> bool:
        """Whether the called function may be one of the product."""
        func = call.func
        if (returned := self._of_helper(call)) is not None:
            return Origin.ANSWER in returned
        if isinstance(func, ast.Name):
            return func.id in self._product or Origin.ANSWER in self.of(func)
        if not isinstance(func, ast.Attribute):
            return True
        origin = self.of(func.value)
        is_constant = isinstance(func.value, ast.Constant | ast.JoinedStr) or _last_name(func.value).isupper()
        if Origin.PRODUCT in origin:
            is_local = isinstance(func.value, ast.Name) and func.value.id not in self._product
            return func.attr not in _PLAIN_METHODS or not (is_constant or is_local or _is_made(func.value))
        return Origin.ANSWER in origin

    def of(self, node: ast.expr) -> Origin:
        """What an expression depends on.

        Names may depend on each other, and then the origin depends on the name from which the search came here. Such
        expressions are visited a few times; after that they may be anything.
        """
        if id(node) in self._settled:
            return self._settled[id(node)][1]
        visits = self._visits[id(node)] = self._visits.get(id(node), 0) + 1
        before, self._first_cut = self._first_cut, _NO_CUT
        origin = self._of_expression(node) if visits <= _MOST_VISITS else Origin.ANSWER
        if self._first_cut >= len(self._seen) or visits > _MOST_VISITS:
            self._settled[id(node)] = (node, origin)
        self._first_cut = min(before, self._first_cut)
        return origin

    def _of_expression(self, node: ast.expr) -> Origin:
        match node:
            case ast.Constant(value=str() as text):
                is_program = self._is_helper and text.endswith(CODE_KINDS)
                is_data = text.rpartition("/")[2] in self._data_files
                return (Origin.ANSWER if is_program else Origin.PRODUCT) if is_data else Origin.NOTHING
            case ast.Name(id=name):
                return self._of_name(name)
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=attr):
                return self._of_attribute(attr)
            case ast.Attribute() if (imported := self._of_imported(dotted_name(node))) is not None:
                return imported
            case ast.Attribute(value=value):
                return self.of(value)
            case ast.Subscript(value=value) if self.of(value) is Origin.PRODUCT and not _has_call(node.slice):
                return Origin.PRODUCT
            case ast.Call() if self.is_call_of_product(node) or self._hands_over_product(node):
                return Origin.ANSWER
            case ast.Call() if (returned := self._of_helper(node)) is not None:
                return returned
            case ast.Lambda() | ast.Await() | ast.Yield() | ast.YieldFrom():
                return Origin.ANSWER
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                return self._of_comprehension(node)
            case _:
                return self.of_all(list(children(node)))

    def of_all(self, nodes: list[ast.expr]) -> Origin:
        """What some expressions depend on together."""
        origin = Origin.NOTHING
        for node in nodes:
            origin |= self.of(node)
        return origin

    def _of_name(self, name: str) -> Origin:
        if name in self._parameters and not any(name in scope for scope in self._scopes[1:]):
            fixture = self._module.fixture(name, self._owner)
            return _known(self._returned_by(fixture)) if fixture is not None else Origin.ANSWER
        for scope in reversed(self._scopes):
            if name in scope:
                return self._of_values(name, scope[name])
        if name in self._product:
            return Origin.PRODUCT
        if (imported := self._of_imported(name)) is not None:
            return imported
        return Origin.NOTHING if name in self._foreign else Origin.ANSWER

    def _of_values(self, name: str, values: list[ast.expr]) -> Origin:
        if name in self._seen:
            self._first_cut = min(self._first_cut, self._seen[name])
            return Origin.NOTHING
        self._seen[name] = len(self._seen)
        try:
            return self.of_all(values)
        finally:
            del self._seen[name]

    def _of_attribute(self, name: str) -> Origin:
        """The origin of `self.name`: only what a class or its set-up assigns is known."""
        found = self.of_all(self._attributes.get(name, []))
        assigning = self._module.assigned(self._owner, name)
        if not assigning:
            return found if name in self._attributes else Origin.ANSWER
        if not all(method.is_set_up for method, _ in assigning):
            return Origin.ANSWER
        for method, values in assigning:
            found |= self._at(method, name, values)
        return _known(found)

    def _of_helper(self, call: ast.Call) -> Origin | None:
        """The origin of what a function of the tests returns for plain values; None for other calls."""
        helper = self._helper(call.func)
        if helper is None:
            return None
        if self.of_all([*call.args, *(keyword.value for keyword in call.keywords)]) is not Origin.NOTHING:
            return None
        returned = self._returned_by(helper)
        return _known(returned) if helper.module is self._module else returned

    def _helper(self, func: ast.expr) -> Definition | None:
        match func:
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                return self._module.methods(self._owner).get(name)
            case ast.Name(id=name) if not any(name in scope for scope in self._scopes[1:]):
                if (helper := self._module.functions.get(name)) is not None:
                    return helper
            case _:
                pass
        module, name = self._module.imported(dotted_name(func)) or (None, "")
        return module.functions.get(name) if module is not None else None

    def _returned_by(self, helper: Definition) -> Origin:
        """The origin of what a function without arguments returns, or of what a fixture gives."""
        return self._at(helper, "", None)

    def _at(self, definition: Definition, name: str, values: list[ast.expr] | None) -> Origin:
        """The origin of values inside another function, else of its results."""
        place = (definition.function, name)
        if place in self._following:
            return Origin.NOTHING
        if place not in self.known:
            there = self._in(definition.module, place)
            there.inside(definition.function, definition.owner)
            if not definition.is_set_up:
                there.take_plain_arguments(definition.function)
            self.known[place] = there.of_results(definition.function) if values is None else there.of_all(values)
        return self.known[place]

    def of_results(self, function: Function) -> Origin:
        """What the results of a function depend on, if these are the values of this function."""
        calls = (node for node in ast.walk(function) if isinstance(node, ast.Call))
        if any(self.is_call_of_product(call) for call in calls):
            return Origin.ANSWER
        return self.of_all(list(_results(function)))

    def _of_imported(self, name: str) -> Origin | None:
        """The origin of a name at the top of another file of the tests; None for other names."""
        module, inner = self._module.imported(name) or (None, "")
        if module is None or inner in module.functions:
            return None
        place = (module, inner)
        if place in self._following:
            return Origin.NOTHING
        if place not in self.known:
            origin = self._in(module, place).of_own(inner)
            if origin is None:
                return None
            self.known[place] = origin
        return self.known[place]

    def of_own(self, name: str) -> Origin | None:
        """The origin of a name that the file itself assigns; None for other names."""
        return self._of_name(name) if name in self._scopes[0] else None

    def _in(self, module: FileOfTests, place: _Place) -> ValueOrigins:
        return ValueOrigins(module, self._data_files, self, (*self._following, place))

    def take_plain_arguments(self, function: Function) -> None:
        """The function gets only values that the test wrote."""
        defaults = [*function.args.defaults, *(value for value in function.args.kw_defaults if value is not None)]
        for name in self._parameters:
            self._scopes[1].setdefault(name, []).extend(defaults)

    def _hands_over_product(self, call: ast.Call) -> bool:
        """Whether another function gets a function or an object of the product, as in `TestClient(app)`.

        Where a test asserts, this is an expectation made from the product. A helper may make anything from it.
        """
        if not self._is_helper:
            return False
        if isinstance(call.func, ast.Name) and call.func.id in _BUILT_IN:
            return call.func.id in _CALLING
        arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
        named = [node for node in arguments if isinstance(node, ast.Name | ast.Attribute)]
        return any(not _last_name(node).isupper() and Origin.PRODUCT in self.of(node) for node in named)

    def _of_comprehension(self, node: ast.expr) -> Origin:
        scope: Bindings = {}
        for part in ast.walk(node):
            if isinstance(part, ast.comprehension):
                _bind(scope, part.target, part.iter)
        self._scopes.append(scope)
        try:
            return self.of_all(list(children(node)))
        finally:
            self._scopes.pop()


def bindings(body: list[ast.stmt]) -> Bindings:
    """The values of each name that these statements assign, without those of functions and classes in them."""
    found: Bindings = {}
    ahead: list[ast.AST] = list(body)
    while ahead:
        node = ahead.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                # A helper may call the product.
                found.setdefault(name, []).append(_ANY)
                continue
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    _bind(found, target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.AugAssign(target=target, value=value):
                _bind(found, target, value)
            case ast.NamedExpr(target=target, value=value):
                _bind(found, target, value)
            case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
                _bind(found, target, value)
            case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
                _bind(found, target, value)
            case ast.ExceptHandler(name=str() as name):
                found.setdefault(name, []).append(_ANY)
            case _:
                pass
        ahead += ast.iter_child_nodes(node)
    return found


def children(node: ast.expr) -> Iterator[ast.expr]:
    """The expressions directly in an expression. The function of a call is none of them."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.expr():
                if not (isinstance(node, ast.Call) and child is node.func):
                    yield child
                elif isinstance(child, ast.Attribute):
                    yield child.value
            case ast.keyword(value=value):
                yield value
            case ast.comprehension():
                yield from (child.iter, *child.ifs)
            case _:
                pass


def _bind(found: Bindings, target: ast.expr, value: ast.expr) -> None:
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.setdefault(node.id, []).append(value)


def _parameters(function: Function) -> Bindings:
    """The values of parameters that `parametrize` names."""
    found: Bindings = {}
    for decorator in function.decorator_list:
        match decorator:
            case ast.Call(
                func=ast.Attribute(attr="parametrize"), args=[ast.Constant(value=str() as names), values, *_]
            ):
                for name in names.split(","):
                    found.setdefault(name.strip(), []).append(values)
            case ast.Call(
                func=ast.Attribute(attr="parametrize"), args=[ast.List() | ast.Tuple() as listed, values, *_]
            ):
                for element in listed.elts:
                    if isinstance(element, ast.Constant):
                        found.setdefault(str(element.value), []).append(values)
            case _:
                pass
    return found


def _arguments(function: Function) -> Iterator[str]:
    arguments = function.args
    yield from (argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs))


def _results(function: Function) -> Iterator[ast.expr]:
    for node in inner(function):
        match node:
            case ast.Return(value=ast.expr() as value) | ast.Yield(value=ast.expr() as value):
                yield value
            case ast.YieldFrom(value=value):
                yield value
            case _:
                pass


def _known(origin: Origin) -> Origin:
    """What is no value of the product may be an answer."""
    return origin if origin is Origin.PRODUCT else Origin.ANSWER


def _last_name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _is_made(node: ast.expr) -> bool:
    """Whether an expression is a result, and no name of the product."""
    return isinstance(node, ast.Call | ast.Subscript | ast.JoinedStr | ast.BinOp) or _last_name(node) == "__doc__"


def _has_call(node: ast.expr) -> bool:
    return any(isinstance(part, ast.Call) for part in ast.walk(node))


def _is_literal(node: ast.expr) -> bool:
    try:
        return bool(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
