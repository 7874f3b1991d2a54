"""Watches what Python tests expect: they record the values in their assertions that no call of the product gives.

If such a value differs between base and work, the work moved the expectation to its answer.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator

import msgspec

from loopwright.judging.controls import record_values
from loopwright.judging.controls.files_of_tests import FileOfTests, IsProduct, ReadTests, nothing
from loopwright.judging.controls.record_values import OVERWRITTEN, UNKNOWN
from loopwright.judging.controls.value_origins import Origin, ValueOrigins, children
from loopwright.judging.syntax.nesting import unless_too_deep
from loopwright.judging.syntax.python_source import Function, PythonSource, called_name, dotted_name, parse_python

_EXPECTS_ERROR = (
    "raises",
    "warns",
    "assertRaises",
    "assertRaisesRegex",
    "assertWarns",
    "assertWarnsRegex",
    "assertLogs",
)


# Methods by which a table of the product is asked for one of its values.
_LOOK_UP = ("get", "index", "count")
# Expressions that are recorded as a whole or not at all.
_OPAQUE = (
    ast.Attribute, ast.Subscript, ast.Starred, ast.NamedExpr, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.GeneratorExp, ast.JoinedStr,
)  # fmt: skip


class WatchedPart(msgspec.Struct, frozen=True):
    """A recorded part of an assertion: its test function, its text, and the recorded part around it (0: none)."""

    function: str
    text: str
    around: int = 0


class WatchedFile(msgspec.Struct, frozen=True):
    """A test file that records values, its recorded parts by their numbers, and the name of the record next to it."""

    source: bytes
    parts: dict[int, WatchedPart]
    record: str

    def with_pinned(self, values: dict[int, object]) -> WatchedFile:
        """The file with these values in the places of its parts."""
        pins = f"{self.record[1:]}_pinned = ".encode()
        return msgspec.structs.replace(self, source=self.source.replace(pins + b"{}", pins + repr(values).encode(), 1))


class RecordedValues(msgspec.Struct, frozen=True):
    """The values of each part in one run: all of them, and those of assertions that failed."""

    seen: dict[int, frozenset[str]]
    failed: dict[int, frozenset[str]]
    # Values as literals, by their digests.
    literals: dict[str, str]


def watch(
    source: bytes,
    tests: frozenset[str] | None,
    is_product: Callable[[str], IsProduct],
    data_files: frozenset[str],
    *,
    name: str,
    path: str = "",
    read: ReadTests = nothing,
) -> WatchedFile | None:
    """The file with recorded values in these functions; None if nothing in them is worth watching.

    Without `tests`, the file is a script: all of it is watched. `is_product` takes the path of the importing file.
    `name` is that of the record, next to the file, and of the recorder in it. `read` reads other files of the tests.
    """
    parsed = parse_python(source)
    if parsed is None:
        return None
    watcher = _Watcher(ValueOrigins(FileOfTests(parsed.tree, is_product, path, read), data_files), name)
    return unless_too_deep(None, lambda: _watched(parsed, tests, watcher, name))


def _watched(parsed: PythonSource, tests: frozenset[str] | None, watcher: _Watcher, name: str) -> WatchedFile | None:
    if tests is None:
        watcher.watch_script(parsed.tree)
    functions = list(_functions(parsed.tree.body, None))
    watched = tests and _with_called(tests, functions)
    for function, owner in functions:
        if watched is None or function.name in watched:
            watcher.watch(function, owner)
    if not watcher.parts:
        return None
    _load_recorder(parsed.tree, name)
    return WatchedFile(ast.unparse(ast.fix_missing_locations(parsed.tree)).encode(), watcher.parts, f".{name}")


def read_record(lines: str) -> RecordedValues:
    """The values of a record. An assertion without an end failed."""
    seen: dict[int, set[str]] = {}
    failed: dict[int, set[str]] = {}
    literals: dict[str, str] = {}
    running: dict[str, list[tuple[int, dict[int, str]]]] = {}
    for line in lines.splitlines():
        match line.split("\t"):
            case [process, "begin", number, _]:
                running.setdefault(process, []).append((int(number), {}))
            case [process, "value", number, value, *literal]:
                literals |= dict.fromkeys([value], literal[0]) if literal and literal[0] else {}
                seen.setdefault(int(number), set()).add(value)
                if running.get(process):
                    running[process][-1][1][int(number)] = value
            case [process, "end", number, _]:
                stack = running.get(process, [])
                place = next((at for at in range(len(stack) - 1, -1, -1) if stack[at][0] == int(number)), None)
                if place is not None:
                    del stack[place]
            case _:
                pass
    for _, values in (frame for stack in running.values() for frame in stack):
        for part, value in values.items():
            failed.setdefault(part, set()).add(value)
    frozen = [{part: frozenset(found) for part, found in each.items()} for each in (seen, failed)]
    return RecordedValues(frozen[0], frozen[1], literals)


def pins(moved: Iterable[int], base: RecordedValues) -> dict[int, object]:
    """The values of the base for these parts, as far as there is one for each, which can be made again."""
    found = {}
    for number in moved:
        match sorted(base.failed.get(number, ())):
            case [value] if value in base.literals:
                found[number] = ast.literal_eval(base.literals[value])
            case _:
                pass
    return found


def held(number: int, pinned: RecordedValues) -> bool:
    """Whether each assertion with this part held."""
    return number in pinned.seen and number not in pinned.failed


def moved_parts(parts: dict[int, WatchedPart], base: Iterable[RecordedValues], work: RecordedValues) -> tuple[int, ...]:
    """The parts of failed assertions that had the same values in all runs on the base, and have others on the work."""
    first, *others = base

    def is_moved(number: int, part: WatchedPart) -> bool:
        before, now = first.failed.get(number, frozenset()), work.seen.get(number, frozenset())
        # What a known value is made of does not count.
        around = first.failed.get(part.around, frozenset([UNKNOWN]))
        is_stable = all(other.failed.get(number) == before for other in others)
        is_known = UNKNOWN not in before | now and OVERWRITTEN not in before and UNKNOWN in around
        return bool(before and now) and is_stable and is_known and not before <= now

    return tuple(number for number, part in sorted(parts.items()) if is_moved(number, part))


class _Watcher:
    """Wraps the parts of assertions in calls of the recorder."""

    def __init__(self, origins: ValueOrigins, recorder: str) -> None:
        self._origins = origins
        self._recorder = recorder
        self._function = ""
        self._assertions = 0
        self.parts: dict[int, WatchedPart] = {}

    def watch(self, function: Function, owner: ast.ClassDef | None) -> None:
        """Watch the assertions of this function."""
        self._origins.inside(function, owner)
        self._function = function.name
        self._watch_body(function)

    def watch_script(self, module: ast.Module) -> None:
        """Watch the assertions outside functions."""
        self._watch_body(module)

    def _watch_body(self, node: ast.AST) -> None:
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if isinstance(body, list):
                setattr(node, field, [made for statement in body for made in self._watched(statement)])
        for handler in getattr(node, "handlers", ()):
            self._watch_body(handler)

    def _watched(self, statement: ast.stmt) -> Iterator[ast.stmt]:
        operands = list(self._operands(statement))
        before = len(self.parts)
        if any(Origin.ANSWER in self._origins.of(operand) for operand in operands) or isinstance(statement, ast.With):
            changed = {id(operand): self._wrapped(operand, is_operand=True) for operand in operands}
            _replace(statement, changed)
        if not isinstance(statement, Function | ast.ClassDef):
            self._watch_body(statement)
        if len(self.parts) == before or not operands:
            yield statement
            return
        self._assertions += 1
        yield self._call("begin", self._assertions)
        yield statement
        yield self._call("end", self._assertions)

    def _operands(self, statement: ast.stmt) -> Iterator[ast.expr]:
        match statement:
            case ast.Assert(test=ast.Compare(left=left, comparators=comparators)):
                yield from (left, *comparators)
            case ast.Assert(test=test):
                yield test
            case ast.Expr(value=ast.Call() as call) if called_name(call).startswith("assert") or not (
                self._origins.is_call_of_product(call)
            ):
                yield from (*call.args, *(keyword.value for keyword in call.keywords))
            case ast.With(items=items):
                for expected in (item.context_expr for item in items):
                    if isinstance(expected, ast.Call) and called_name(expected) in _EXPECTS_ERROR:
                        yield from (*expected.args[1:], *(keyword.value for keyword in expected.keywords))
            case _:
                pass

    def _wrapped(self, node: ast.expr, *, is_operand: bool) -> ast.expr:
        """The expression with its parts recorded. Data of the test counts only as a whole side of a comparison."""
        origin = self._origins.of(node)
        if Origin.ANSWER in origin:
            is_input = isinstance(node, ast.Call) and (
                self._origins.is_call_of_product(node) or called_name(node) in _LOOK_UP
            )
            return node if is_input or isinstance(node, _OPAQUE) else self._with_wrapped(node, children(node))
        if isinstance(node, ast.Starred):
            return node
        if origin is Origin.PRODUCT:
            return self._record_value(node)
        if is_operand and isinstance(node, ast.Name) and (literal := self._origins.literal_of(node.id)) is not None:
            return self._call("data", self._add(node), node, literal).value
        return node

    def _record_value(self, node: ast.expr, around: int = 0) -> ast.expr:
        """Record a value. A call may return an object that can't be compared: its arguments are recorded, too."""
        number = self._add(node, around)
        if isinstance(node, ast.Call):
            arguments = (*node.args, *(keyword.value for keyword in node.keywords))
            of_product = [one for one in arguments if self._origins.of(one) is Origin.PRODUCT]
            plain = [one for one in of_product if not isinstance(one, ast.Starred)]
            _replace(node, {id(one): self._record_value(one, number) for one in plain})
        return self._call("value", number, node).value

    def _with_wrapped(self, node: ast.expr, inner: Iterable[ast.expr]) -> ast.expr:
        _replace(node, {id(child): self._wrapped(child, is_operand=False) for child in inner})
        return node

    def _add(self, shown: ast.expr, around: int = 0) -> int:
        number = len(self.parts) + 1
        self.parts[number] = WatchedPart(self._function, ast.unparse(shown), around)
        return number

    def _call(self, method: str, number: int, *values: ast.expr) -> ast.Expr:
        func = ast.Attribute(value=ast.Name(id=self._recorder, ctx=ast.Load()), attr=method, ctx=ast.Load())
        return ast.Expr(value=ast.Call(func=func, args=[ast.Constant(number), *values], keywords=[]))


def _functions(body: list[ast.stmt], owner: ast.ClassDef | None) -> Iterator[tuple[Function, ast.ClassDef | None]]:
    for node in body:
        if isinstance(node, Function):
            yield node, owner
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, node)


def _with_called(tests: frozenset[str], functions: list[tuple[Function, ast.ClassDef | None]]) -> frozenset[str]:
    """The tests and the functions of the same file that they call, also through others."""
    called = {
        function.name: {
            dotted_name(node.func).removeprefix("self.") for node in ast.walk(function) if isinstance(node, ast.Call)
        }
        for function, _ in functions
    }
    found: frozenset[str] = frozenset()
    ahead = tests
    while ahead:
        found |= ahead
        ahead = frozenset(name for test in ahead for name in called.get(test, ()) if name in called) - found
    return found


def _replace(node: ast.AST, changed: dict[int, ast.expr]) -> None:
    """Put other expressions in the places of those that an expression or a statement holds, at any depth."""
    for field, value in ast.iter_fields(node):
        if isinstance(value, list):
            setattr(node, field, [changed.get(id(item), item) for item in value])
        elif id(value) in changed:
            setattr(node, field, changed[id(value)])
            continue
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.keyword | ast.withitem | ast.Compare | ast.Call | ast.Attribute):
                _replace(item, changed)


def _load_recorder(tree: ast.Module, name: str) -> None:
    """Load the recorder before the tests: in a namespace of its own, after the docstring and `__future__`."""
    code = (
        f"exec({inspect.getsource(record_values)!r}, {name} := dict(__name__='recorder'))\n"
        f"{name}_pinned = {{}}\n"
        f"{name}_path = __import__('os').path.abspath(__file__).rpartition('/')[0] + '/.{name}'\n"
        f"{name} = {name}['ValueRecorder']({name}_path, {name}_pinned)\n"
    )
    first = next(
        (
            index
            for index, node in enumerate(tree.body)
            if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
            and not (isinstance(node, ast.ImportFrom) and node.module == "__future__")
        ),
        len(tree.body),
    )
    tree.body[first:first] = ast.parse(code).body
