"""Adds probes to Python tests: each assertion is also tried with a changed expectation, and the test goes on.

An inverted test fails by its first assertion and hides the others. A probed test tells about each of them. Lines and
positions stay: a probe follows its assertion on the same line, and the values that the assertion compares are kept.
"""

from __future__ import annotations

import ast
import builtins
import codecs
import inspect
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache

import msgspec

from loopwright.judging.controls import probe_blocks, probe_support
from loopwright.judging.controls.marks import marks_of, records_name
from loopwright.judging.controls.python_assertions import (
    EQUAL,
    PythonAssertions,
    arguments_before_call,
    fails,
    is_guard,
)
from loopwright.judging.controls.python_branches import uncertain_lines
from loopwright.judging.controls.python_operands import KeptOperands, checked, is_bound_to_function, on_one_line
from loopwright.judging.controls.python_soft import is_alone
from loopwright.judging.controls.python_tests import is_test, names_of_tests
from loopwright.judging.controls.python_values import PythonValues
from loopwright.judging.controls.slight_forms import SlightForm, SlightForms
from loopwright.judging.syntax.edits import Edits
from loopwright.judging.syntax.nesting import unless_too_deep
from loopwright.judging.syntax.python_source import Function, PythonSource, called_name, dotted_name, parse_python

_SET_UP = frozenset({
    "setUp", "tearDown", "setUpClass", "tearDownClass", "setUpModule", "tearDownModule", "asyncSetUp", "asyncTearDown",
    "setup_method", "teardown_method", "setup_class", "teardown_class", "setup_module", "teardown_module",
    "setup_function", "teardown_function",
})  # fmt: skip
_FIXTURES = frozenset({"fixture", "yield_fixture", "contextmanager", "asynccontextmanager"})
_COMPOUND = (
    Function
    | ast.ClassDef
    | ast.If
    | ast.For
    | ast.AsyncFor
    | ast.While
    | ast.With
    | ast.AsyncWith
    | ast.Try
    | ast.TryStar
    | ast.Match
)


_BLOCKS = b"from %s import ProbedBlock, SoftAssertion, SoftBlock\n" % probe_blocks.__name__.encode()
_FUTURE = b"from __future__ import annotations\n"
_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class Probed(msgspec.Struct, frozen=True):
    """A test file with probes."""

    source: bytes
    # The positions of its probed assertions, `line:column`, in the original file, with the lines of their statements.
    assertions: Mapping[str, tuple[int, int]] = {}
    # The names of its tests, such as `TestClass.test_name`.
    tests: frozenset[str] = frozenset()
    # Assertions that evaluate a part twice, and assertions without a probe.
    evaluated_twice: tuple[str, ...] = ()
    unprobed: tuple[str, ...] = ()


def probes_name(salt: str) -> str:
    """The name of the probes in the module of the tests."""
    return f"_{salt}"


def probe_python(path: str, source: bytes, *, salt: str, soft: Collection[str] = ()) -> Probed:
    """The file with probes; `path` is relative to the project. A file that can't be probed stays. Never raises.

    `soft` are tests by their ids that go on after an assertion that fails.
    """
    return unless_too_deep(Probed(source), lambda: _probed(path, source, salt, soft))


def _probed(path: str, source: bytes, salt: str, soft: Collection[str]) -> Probed:
    parsed = parse_python(source)
    if parsed is None:
        return Probed(source)
    probed = _ProbedFile(parsed, path, salt, soft).probed()
    return probed if parse_python(probed.source) is not None else Probed(source, unprobed=tuple(probed.assertions))


class _ProbedFile:
    def __init__(self, source: PythonSource, path: str, salt: str, soft: Collection[str]) -> None:
        self._source = source
        self._soft = sorted(soft)
        self._path = path
        self._salt = salt
        self._marks = marks_of(salt)
        self._name = probes_name(salt)
        self._edits = Edits(source.source)
        self._local = frozenset(node.name for node in ast.walk(source.tree) if isinstance(node, Function))
        self._handled: tuple[ast.expr, ...] = ()
        self._done: dict[str, tuple[int, int]] = {}
        # The blocks that expect an exception, with their lines.
        self._expecting: dict[str, tuple[int, int]] = {}
        # Its lines, and the twins of its forms, for each assertion that has some.
        self._twins: dict[str, tuple[int, int, tuple[str, ...]]] = {}
        self._twice: list[str] = []
        self._unprobed: list[str] = []

    def probed(self) -> Probed:
        """The file with its probes."""
        tests: dict[int, str] = {}
        for name, function in _functions(self._source.tree.body, ""):
            if is_test(function.name):
                tests[min([function.lineno, *(item.lineno for item in function.decorator_list)])] = name
            self._probe_function(function)
        self._load(tests)
        return Probed(
            self._edits.applied(),
            assertions={key: self._decides(key, lines) for key, lines in self._done.items()},
            tests=names_of_tests(self._source, self._marks),
            evaluated_twice=tuple(self._twice),
            unprobed=tuple(self._unprobed),
        )

    def _decides(self, key: str, lines: tuple[int, int]) -> tuple[int, int]:
        """The lines of an assertion; none inside a block that expects an exception: right work ends the block."""
        blocks = [other for name, other in self._expecting.items() if name != key]
        return (0, 0) if any(first <= lines[0] and lines[1] <= last for first, last in blocks) else lines

    def _load(self, tests: dict[int, str]) -> None:
        """Load the probes before the first statement that may run a test, if possible on an existing line."""
        body = self._source.tree.body
        head = [node for number, node in enumerate(body) if _must_come_first(node, number)]
        if head:
            self._edits.insert(self._source.span(head[-1])[1], b"; " + self._loading(tests))
        elif body and not isinstance(body[0], _COMPOUND):
            self._edits.insert(self._source.span(body[0])[0], self._loading(tests) + b"; ")
        else:
            later = {line + 1: name for line, name in tests.items()}
            start = len(codecs.BOM_UTF8) if self._source.source.startswith(codecs.BOM_UTF8) else 0
            self._edits.insert(start, self._loading(later) + b"\n")

    def _loading(self, tests: dict[int, str]) -> bytes:
        name, support = self._name.encode(), repr(_support()).encode()
        given = (self._name, self._path, records_name(self._path, self._salt), tests, self._twins)
        arguments = b"%r, %r, __file__, %r, %r, %r" % given
        load = b"%s = {}; exec(%s, %s); %s = %s['Probes'](%s)" % (name, support, name, name, name, arguments)
        if not self._soft:
            return load
        lines = uncertain_lines(self._source.tree)
        more = (name, self._soft, sorted(self._done), lines.branches, lines.handled)
        return load + b"; %s.go_on(%r, %r, %r, %r)" % more

    def _probe_function(self, function: Function) -> None:
        names = {_last_name(item) for item in function.decorator_list}
        # Set-up is no expectation: a fixture changes only in the functions that it hands out.
        is_set_up = function.name in _SET_UP or bool(names & _FIXTURES)
        for statement, handled in _handled_statements(function.body):
            if isinstance(statement, Function):
                self._probe_function(statement)
            elif isinstance(statement, ast.ClassDef):
                for _, method in _functions(statement.body, ""):
                    self._probe_function(method)
            elif not is_set_up:
                self._handled = handled
                self._probe(statement)
                for call, keeps in _inner_calls(statement):
                    self._probe_inner(call, keeps=keeps)

    def _probe(self, statement: ast.stmt) -> None:
        if self._soft and self._can_go_on(statement) and is_alone(self._source, statement):
            before = b"with %s.soft(%r): " % (self._name.encode(), _key(statement))
            self._edits.insert(self._source.span(statement)[0], before)
        match statement:
            case ast.Assert(test=test):
                self._probe_condition(statement, test)
            case ast.Expr(value=ast.Call() as call):
                self._probe_call(statement, call)
            case ast.Assign(value=ast.Call() as call) if self._expects(call) is not None:
                self._probe_call(statement, call)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                has_assertions = any(self._is_assertion(node) for part in body for node in ast.walk(part))
                for item in items:
                    self._probe_manager(statement, item.context_expr, has_assertions=has_assertions)
            case ast.If(test=test, body=body) if is_guard(statement):
                # A failure in its branch may be in a path that right work does not take.
                self._probe_guard(test, fails_if_true=fails(body[-1]))
            case ast.Expr(value=ast.BoolOp(op=op, values=[condition, ast.Call() as call])):
                if fails(ast.Expr(value=call)):
                    self._probe_guard(condition, fails_if_true=isinstance(op, ast.And))
            case _:
                return

    def _can_go_on(self, statement: ast.stmt) -> bool:
        """Whether a statement asserts something, or calls a function of the file that may do so."""
        match statement:
            case ast.Assert(test=test):
                return not isinstance(test, ast.Constant)
            case ast.Expr(value=ast.Call() as call) | ast.Expr(value=ast.Await(value=ast.Call() as call)):
                return self._is_assertion(call) or called_name(call) in EQUAL or self._expects(call) is not None
            case _:
                return False

    def _probe_condition(self, statement: ast.Assert, test: ast.expr) -> None:
        """Each part of `a and b` must be able to fail."""
        parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
        kept = KeptOperands(self._source, self._name)
        altered = [text for part in parts if (text := self._altered_part(part, kept)) is not None]
        single = [form for part in parts for form in self._slight_forms(part, kept)] if altered else []
        kept.hold_arguments()
        self._append(statement, "condition", " or ".join(f"({text})" for text in altered), kept, single)

    def _altered_part(self, part: ast.expr, kept: KeptOperands, *, to: bool = False) -> str | None:
        """A condition that is the opposite of what it is for right work."""
        edits = Edits(self._source.source)
        values = PythonValues(self._source, edits, self._marks)
        if not (values.make_true(part) if to else values.falsify(part)):
            return None
        kept.keep(part, edits)
        return on_one_line(edits.applied_within(*self._source.span(part)))

    def _slight_forms(
        self, node: ast.expr, kept: KeptOperands, expected: ast.expr | None = None
    ) -> Iterator[SlightForm]:
        return SlightForms(self._source, self._marks, kept).of(node, expected)

    def _probe_guard(self, test: ast.expr, *, fails_if_true: bool) -> None:
        """Each part of `a or b` must be able to fail the test."""
        splits = isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) and fails_if_true
        parts = test.values if splits and isinstance(test, ast.BoolOp) else [test]
        kept = KeptOperands(self._source, self._name)
        altered = [form for part in parts for form in self._altered_guards(part, kept, to=fails_if_true)]
        key, method = _key(test), b"guard" if fails_if_true else b"branch"
        more = b"".join(map(_form, altered))
        self._edits.wrap(*self._source.span(test), b"%s.%s(%r, (" % (self._name.encode(), method, key), b")%s)" % more)
        kept.keep_in(self._edits)
        self._done[key] = _lines(test)
        self._know_twins(key, altered)

    def _altered_guards(self, part: ast.expr, kept: KeptOperands, *, to: bool) -> Iterator[SlightForm]:
        text = self._altered_part(part, kept, to=to) if isinstance(part, ast.Compare) else None
        if text is None:
            return
        yield SlightForm(text)
        match part:
            case ast.Compare(ops=[ast.NotEq()], comparators=[expected]) if to:
                yield from self._slight_forms(part, kept, expected)
            case ast.Compare() if not to:
                yield from self._slight_forms(part, kept)

    def _probe_call(self, statement: ast.stmt, call: ast.Call) -> None:
        kept, needed = KeptOperands(self._source, self._name), self._expects(call)
        if needed is not None:
            if len(call.args) > needed:
                block = ast.Call(func=call.func, args=call.args[:needed], keywords=[])
                self._append(statement, "expects", checked(block) or "", kept)
            return
        edits = Edits(self._source.source)
        if self._changes(call, edits):
            kept.keep_arguments(call, edits)
            altered = on_one_line(edits.applied_within(*self._source.span(call))) or ""
            self._append(statement, "call", altered, kept, self._slight_forms(call, kept))

    def _probe_inner(self, call: ast.Call, *, keeps: bool) -> None:
        """An assertion inside an expression, such as a callback. Where values can't be kept it may call nothing."""
        kept, edits = KeptOperands(self._source, self._name), Edits(self._source.source)
        if self._expects(call) is not None or not self._changes(call, edits):
            return None
        if keeps:
            kept.keep_arguments(call, edits)
        altered = on_one_line(edits.applied_within(*self._source.span(call)))
        if altered is None or (not keeps and _calls(call)):
            return self._unprobed.append(_key(call))
        probe = self._call("call", _key(call), altered).removeprefix(b";")
        self._edits.wrap(*self._source.span(call), b"(", b"," + probe + b")[0]")
        kept.keep_in(self._edits)
        self._done[_key(call)] = _lines(call)
        return None

    def _changes(self, call: ast.Call, edits: Edits) -> bool:
        return PythonAssertions(self._source, edits, self._local, self._marks).change(call)

    def _probe_manager(self, statement: ast.stmt, manager: ast.expr, *, has_assertions: bool) -> None:
        if isinstance(manager, ast.Call) and self._expects(manager) is not None:
            self._wrap(statement, manager, "expects", b"lambda: ")
            self._expecting[_key(manager)] = _lines(statement)
        elif has_assertions and isinstance(manager, ast.Call | ast.Name | ast.Attribute):
            self._wrap(statement, manager, "block")

    def _wrap(self, statement: ast.stmt | ast.expr, node: ast.expr, method: str, prefix: bytes = b"") -> None:
        key = _key(node)
        if prefix and is_bound_to_function(node):
            return self._unprobed.append(key)
        before = b"%s.%s(%r, %s(" % (self._name.encode(), method.encode(), key, prefix)
        self._edits.wrap(*self._source.span(node), before, b"))")
        # What fails inside a block that expects nothing is another statement.
        self._done[key] = _lines(statement) if method == "expects" else (0, 0)
        return None

    def _append(
        self, statement: ast.stmt, method: str, altered: str, kept: KeptOperands, single: Iterable[SlightForm] = ()
    ) -> None:
        key = _key(statement)
        if not altered:
            return self._unprobed.append(key)
        more = list(single)
        kept.keep_in(self._edits)
        # Kept values would keep objects alive.
        clear = b"".join(b"; %s = None" % name.encode() for name in kept.names)
        probe = self._call(method, key, altered, more)
        probe += clear
        if self._handled:
            probe += self._call("handlers", f"{key}:handled", ast.unparse(ast.Tuple(elts=[*self._handled])))
        self._edits.insert(self._source.span(statement)[1], probe)
        if kept.is_evaluated_twice:
            self._twice.append(key)
        self._done[key] = _lines(statement)
        self._know_twins(key, more)
        return None

    def _know_twins(self, key: str, forms: Iterable[SlightForm]) -> None:
        """Keep the twins of an assertion by which a test may fail: its probe is not reached then."""
        twins = tuple(form.twin for form in forms if form.twin)
        if twins:
            self._twins[key] = (*self._done[key], twins)

    def _call(self, method: str, key: str, altered: str, more: Iterable[SlightForm] = ()) -> bytes:
        forms = b"".join(map(_form, (SlightForm(altered), *more)))
        return b"; %s.%s(%r%s)" % (self._name.encode(), method.encode(), key, forms)

    def _expects(self, call: ast.Call) -> int | None:
        return None if called_name(call) in self._local else arguments_before_call(call)

    def _is_assertion(self, node: ast.AST) -> bool:
        name = called_name(node) if isinstance(node, ast.Call) else ""
        return isinstance(node, ast.Assert) or name.startswith("assert") or name in self._local


@cache
def _support() -> str:
    """The source of the probes, as one module."""
    blocks, probes = inspect.getsource(probe_blocks), inspect.getsource(probe_support)
    return blocks + probes.replace(_FUTURE.decode(), "").replace(_BLOCKS.decode(), "")


def _functions(body: Iterable[ast.stmt], prefix: str) -> Iterator[tuple[str, Function]]:
    """The functions and methods with their names in the file, without functions in functions."""
    for node in _statements(body):
        if isinstance(node, Function):
            yield f"{prefix}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{prefix}{node.name}.")


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements, also those in branches and blocks, without those of functions and classes in them."""
    for node in body:
        yield node
        if not isinstance(node, Function | ast.ClassDef):
            yield from _statements(_inner(node))


def _handled_statements(
    body: Iterable[ast.stmt], handled: tuple[ast.expr, ...] = ()
) -> Iterator[tuple[ast.stmt, tuple[ast.expr, ...]]]:
    """The same statements, each with the exceptions that `try` statements around it handle and Python does not have."""
    for node in body:
        yield node, handled
        if isinstance(node, ast.Try):
            foreign = tuple(handler.type for handler in node.handlers if _is_foreign(handler.type))
            yield from _handled_statements(node.body, (*handled, *filter(None, foreign)))
            rest = [*(part for handler in node.handlers for part in handler.body), *node.orelse, *node.finalbody]
            yield from _handled_statements(rest, handled)
        elif not isinstance(node, Function | ast.ClassDef):
            yield from _handled_statements(_inner(node), handled)


def _inner_calls(node: ast.AST, *, keeps: bool = False) -> Iterator[tuple[ast.Call, bool]]:
    """The calls inside the expressions of a statement, each with whether a name for its values stays inside."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            continue
        if isinstance(child, ast.Call) and not isinstance(node, ast.Expr | ast.Await):
            yield child, keeps
        if isinstance(child, ast.Lambda):
            yield from _inner_calls(child, keeps=True)
        else:
            yield from _inner_calls(child, keeps=keeps and not isinstance(child, _COMPREHENSIONS))


def _calls(call: ast.Call) -> bool:
    """Whether the arguments of a call contain calls, which must not happen twice."""
    arguments = [*call.args, *call.keywords]
    return any(isinstance(part, ast.Call | ast.Await) for argument in arguments for part in ast.walk(argument))


def _is_foreign(expected: ast.expr | None) -> bool:
    parts = expected.elts if isinstance(expected, ast.Tuple) else [expected]
    return any(dotted_name(part) and not hasattr(builtins, dotted_name(part)) for part in parts)


def _inner(node: ast.stmt) -> Iterator[ast.stmt]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, ast.ExceptHandler | ast.match_case):
            yield from child.body


def _must_come_first(node: ast.stmt, number: int) -> bool:
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            return number == 0
        case ast.ImportFrom(module="__future__"):
            return True
        case _:
            return False


def _form(form: SlightForm) -> bytes:
    text = b"lambda: " + form.text.encode()
    return b", (%s, lambda: %s)" % (text, form.twin.encode()) if form.twin else b", " + text


def _last_name(decorator: ast.expr) -> str:
    return dotted_name(decorator.func if isinstance(decorator, ast.Call) else decorator).rpartition(".")[2]


def _lines(node: ast.stmt | ast.expr) -> tuple[int, int]:
    return node.lineno, node.end_lineno or node.lineno


def _key(node: ast.stmt | ast.expr) -> str:
    return f"{node.lineno}:{node.col_offset}"
