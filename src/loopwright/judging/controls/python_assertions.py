"""Edits that change what the assertions of Python tests expect. An assertion keeps its name where it can."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from loopwright.judging.controls.marks import Marks
from loopwright.judging.controls.python_parameters import PythonParameters
from loopwright.judging.controls.python_values import PythonValues, is_literal
from loopwright.judging.syntax.edits import Edits, any_done
from loopwright.judging.syntax.python_source import Function, PythonSource, called_name, dotted_name

EQUAL = frozenset({
    "assertEqual", "assertEquals", "assertListEqual", "assertDictEqual", "assertSetEqual", "assertTupleEqual",
    "assertSequenceEqual", "assertMultiLineEqual", "assertCountEqual", "assertItemsEqual", "assertAlmostEqual",
    "assertAlmostEquals", "assertIs", "assertHTMLEqual", "assertJSONEqual", "assertXMLEqual", "assertQuerySetEqual",
    "assert_equal", "assert_array_equal", "assert_allclose", "assert_almost_equal", "assert_array_almost_equal",
    "assert_frame_equal", "assert_series_equal", "assert_index_equal", "assert_is", "assert_list_equal",
    "assert_dict_equal", "assert_string_equal", "eq_",
})  # fmt: skip
_SEQUENCES = frozenset({"assertListEqual", "assertSequenceEqual", "assertCountEqual", "assertItemsEqual"})
_RENAMED = {
    "assertNotEqual": b"assertEqual", "assertNotEquals": b"assertEqual", "assertNotAlmostEqual": b"assertAlmostEqual",
    "assertIsNot": b"assertIs", "assertNotIn": b"assertIn", "assertNotIsInstance": b"assertIsInstance",
    "assertGreater": b"assertLessEqual", "assertGreaterEqual": b"assertLess", "assertLess": b"assertGreaterEqual",
    "assertLessEqual": b"assertGreater", "assert_not_called": b"assert_called", "assert_not_equal": b"assert_equal",
}  # fmt: skip
_RAISES = frozenset(
    {"raises", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp", "RaisesGroup", "assert_raises"}
)
_WARNS = frozenset({"warns", "assertWarns", "assertWarnsRegex"})
_CALLED_WITH = frozenset({"assert_called_with", "assert_called_once_with", "assert_any_call", "assert_awaited_with"})
_CALLED = frozenset({"assert_called", "assert_called_once", "assert_awaited", "assert_awaited_once"})
# If a test let one of these through, the runner would stop.
_STOPS_RUNNER = frozenset({"KeyboardInterrupt", "Exit", "SystemExit", "BaseException"})
_FAILS = frozenset({"fail", "AssertionError", "fails"})


class PythonAssertions:
    """Changes assertions of one source. Names in `local` are functions of the same file: their own bodies change."""

    def __init__(self, source: PythonSource, edits: Edits, local: frozenset[str], marks: Marks) -> None:
        self._source = source
        self._edits = edits
        self._local = local
        self._values = PythonValues(source, edits, marks)
        self._by_name: dict[str, Callable[[ast.Call], bool]] = {
            **dict.fromkeys(EQUAL, self._equal),
            **dict.fromkeys(_RENAMED, self._rename),
            **dict.fromkeys(_RAISES, self._raises),
            **dict.fromkeys(_WARNS, self._warns),
            **dict.fromkeys(_CALLED_WITH, self._called_with),
            **dict.fromkeys(_CALLED, self._called),
            "assertTrue": lambda call: self._values.falsify(call.args[0]),
            "assert_": lambda call: self._values.falsify(call.args[0]),
            "assertFalse": self._false,
            "assertIsNone": lambda call: self._values.replace_value(call.args[0]),
            "assertIsNotNone": lambda call: self._values.replace_by_none(call.args[0]),
            "assertIn": self._contained,
            "assertIsInstance": lambda call: self._values.replace(call.args[1], b"type(...)"),
            "assertRegex": lambda call: self._pattern(call, b"(?!)"),
            "assertNotRegex": lambda call: self._pattern(call, b""),
            "assertLogs": self._logs,
            "deprecated_call": self._deprecated,
            "assert_match": lambda call: self._values.replace_value(call.args[0]),
            "assert_has_calls": lambda call: self._values.replace(call.args[0], b"[((..., ...),)]"),
        }

    def begin(self, function: Function) -> None:
        """Know the parameters of the function that changes next."""
        self._values.parameters = PythonParameters(self._source, self._edits, function)

    def change(self, node: ast.AST) -> bool:
        """Change what one node expects; False if it expects nothing, or nothing that can be changed."""
        match node:
            case ast.Assert(test=test):
                return self._values.falsify(test)
            case ast.Call():
                return self._change_call(node)
            case ast.Try():
                return self._change_try(node)
            case ast.If():
                return self._change_guard(node)
            case ast.Expr(value=ast.BoolOp(op=op, values=[condition, ast.Call() as call])):
                change = self._values.falsify if isinstance(op, ast.Or) else self._values.make_true
                return fails(ast.Expr(value=call)) and change(condition)
            case _:
                return False

    def _change_call(self, call: ast.Call) -> bool:
        name = called_name(call)
        change = self._by_name.get(name)
        if change is None or name in self._local or any(isinstance(arg, ast.Starred) for arg in call.args):
            return False
        try:
            return change(call)
        except IndexError:
            # The values are keyword arguments, or missing.
            return False

    def _false(self, call: ast.Call) -> bool:
        condition = call.args[0]
        is_joined = isinstance(condition, ast.BoolOp)
        return self._values.make_true(condition) if is_joined else self._values.negate(condition)

    def _equal(self, call: ast.Call) -> bool:
        takes_sequences = called_name(call) in _SEQUENCES
        return self._values.make_unequal(call.args[0], call.args[1], sequences=takes_sequences)

    def _rename(self, call: ast.Call) -> bool:
        if len(call.args) > 1 and all(map(is_literal, call.args[:2])):
            return False
        end = self._source.span(call.func)[1]
        name = called_name(call)
        return self._edits.replace(end - len(name.encode()), end, _RENAMED[name])

    def _raises(self, call: ast.Call) -> bool:
        """Expect an exception that nothing raises: the exception of the product then fails the test."""
        expected = call.args[0]
        if {dotted_name(part).rpartition(".")[2] for part in _parts(expected)} & _STOPS_RUNNER - {"SystemExit"}:
            return False
        return self._values.replace(expected, b"GeneratorExit")

    def _warns(self, call: ast.Call) -> bool:
        return self._values.replace(call.args[0], b"BytesWarning")

    def _deprecated(self, call: ast.Call) -> bool:
        start, end = self._source.span(call.func)[1] - len("deprecated_call"), self._source.span(call)[1]
        return not call.args and self._edits.replace(start, end, b"warns(BytesWarning)")

    def _logs(self, call: ast.Call) -> bool:
        start, end = self._after_bracket(call), self._source.span(call)[1] - 1
        return self._edits.replace(start, end, b'"loopwright.nothing.logs.here"')

    def _called_with(self, call: ast.Call) -> bool:
        return self._edits.insert(self._after_bracket(call), b"..., " if call.args or call.keywords else b"...")

    def _called(self, call: ast.Call) -> bool:
        """Expect a call with arguments that no product gives."""
        start, end = self._source.span(call.func)[1], self._source.span(call)[1]
        begin = start - len(called_name(call).encode())
        name = b"assert_awaited_with" if "awaited" in called_name(call) else b"assert_called_with"
        return self._edits.replace(begin, end, name + b"(..., ...)")

    def _contained(self, call: ast.Call) -> bool:
        member = call.args[0]
        is_text = isinstance(member, ast.JoinedStr) or (
            isinstance(member, ast.Constant) and isinstance(member.value, str | bytes)
        )
        return self._values.change_literals(member) if is_text else self._values.replace_member(member)

    def _pattern(self, call: ast.Call, pattern: bytes) -> bool:
        prefix = b"b" if isinstance(call.args[1], ast.Constant) and isinstance(call.args[1].value, bytes) else b""
        return self._values.replace(call.args[1], prefix + b'"' + pattern + b'"')

    def _change_try(self, node: ast.Try) -> bool:
        """`try: …; fail() except E: …`: expect another exception."""
        ends = [*node.body[-1:], *node.orelse[-1:]]
        if not any(map(fails, ends)):
            return False
        types = [handler.type for handler in node.handlers if handler.type is not None]
        return any_done(self._values.replace(expected, b"GeneratorExit") for expected in types)

    def _change_guard(self, node: ast.If) -> bool:
        """`if wrong: fail()`: fail if right."""
        if not is_guard(node):
            return False
        return self._values.make_true(node.test) if fails(node.body[-1]) else self._values.falsify(node.test)

    def _after_bracket(self, call: ast.Call) -> int:
        return self._source.source.index(b"(", self._source.span(call.func)[1]) + 1


def exact_value(node: ast.expr) -> ast.expr | None:
    """The value that an assertion expects exactly; None for other assertions."""
    match node:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]) if "approx" not in _called_in(left):
            return right
        case ast.Call(args=[_, right, *_]) if called_name(node) in EQUAL:
            return None if re.search("lmost|close", called_name(node)) else right
        case _:
            return None


def _called_in(node: ast.expr) -> set[str]:
    return {called_name(part) for part in ast.walk(node) if isinstance(part, ast.Call)}


def arguments_before_call(call: ast.Call) -> int | None:
    """How many arguments an expected exception or warning has before the function to call; None for other calls."""
    name = called_name(call)
    if name in {"assertLogs", "deprecated_call", "RaisesGroup"}:
        return len(call.args)
    if name not in _RAISES | _WARNS:
        return None
    return 2 if "Regex" in name else 1


def is_guard(node: ast.If) -> bool:
    """Whether one branch fails the test and the other does not; `elif` is another condition."""
    fails_otherwise = bool(node.orelse) and not isinstance(node.orelse[0], ast.If) and fails(node.orelse[-1])
    return fails(node.body[-1]) != fails_otherwise


def fails(node: ast.stmt) -> bool:
    """Whether a statement fails the test or the script."""
    match node:
        case ast.Expr(value=ast.Call() as call):
            return called_name(call) in _FAILS or ends_with_failure(call)
        case ast.Raise(exc=ast.Call() as call):
            return called_name(call) in _FAILS or ends_with_failure(call)
        case ast.Raise(exc=exc):
            return dotted_name(exc) == "AssertionError"
        case ast.Assert(test=ast.Constant(value=value)):
            return not value
        case _:
            return False


def ends_with_failure(call: ast.Call) -> bool:
    """Whether a call ends the process with a constant code that means failure."""
    match call.args:
        case [ast.Constant(value=value)] if is_exit(call):
            return bool(value)
        case [ast.UnaryOp(operand=ast.Constant())] | [ast.JoinedStr()]:
            return is_exit(call)
        case _:
            return False


def is_exit(call: ast.Call) -> bool:
    """Whether a call ends the process."""
    return dotted_name(call.func) in {"sys.exit", "exit", "quit", "SystemExit", "os._exit"}


def _parts(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]
