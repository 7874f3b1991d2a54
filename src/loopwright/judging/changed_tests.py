"""What happened to the tests of a changed test file: by the syntax tree (Python), and by results per test. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

import msgspec
from msgspec.structs import replace

from loopwright.judging.protected_verdict import is_in
from loopwright.judging.scope import kind_of
from loopwright.judging.verdict import FAILED, PASSED, CommandVerdict, TreeResult
from loopwright.wording.catalogue import few

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_SKIPPED = "skipped"
_SKIPS = ("skip", "xfail", "expectedFailure")


class ChangedTestFile(msgspec.Struct, frozen=True):
    """A changed file of tests that a person must sign: its content on the base and now, None without it."""

    path: str
    before: bytes | None
    after: bytes | None


class ChangedTests(msgspec.Struct, frozen=True, kw_only=True):
    """The tests of one file that are others than before, by their names without the file."""

    deleted: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    # Old and new names of tests with the same body.
    renamed: dict[str, str] = {}
    skipped: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    # The added tests that fail on the source of the base and pass on the work, and those that pass on both. None: no
    # run tells.
    shown: tuple[str, ...] | None = None
    idle: tuple[str, ...] | None = None
    # Whether code outside the test functions changed: a fixture, a helper, an import, a table.
    elsewhere: bool = False

    @property
    def lines(self) -> tuple[str, ...]:
        """What happened, a line for each kind of change; empty if nothing is known."""
        return tuple(filter(None, self._lines()))

    def _lines(self) -> Iterator[str]:
        if names := few(self.deleted):
            count = len(self.deleted)
            yield f"deleted {count} tests: {names}" if count > 1 else f"deleted 1 test: {names}"
        if names := few(self.skipped):
            count = len(self.skipped)
            yield f"skips {count} tests: {names}" if count > 1 else f"skips 1 test: {names}"
        if names := few(self.changed):
            count = len(self.changed)
            yield f"changed the body of {count} tests: {names}" if count > 1 else f"changed the body of 1 test: {names}"
        if names := few(tuple(f"{old} → {new}" for old, new in self.renamed.items())):
            count = len(self.renamed)
            yield f"renamed {count} tests: {names}" if count > 1 else f"renamed 1 test: {names}"
        if self.elsewhere:
            yield "changed code outside the test functions"
        if names := few(self.added):
            count = len(self.added)
            yield f"added {count} tests: {names}" if count > 1 else f"added 1 test: {names}"
        if self.shown:
            yield f"added tests that fail on the source of the base and pass on the work: {few(self.shown)}"
        if self.idle:
            yield f"added tests that pass on the source of the base, too, and prove nothing: {few(self.idle)}"


def changed_tests(
    path: str, before: bytes | None, after: bytes | None, base: TreeResult, work: TreeResult
) -> ChangedTests:
    """What became of the tests of a file. `base` and `work` are results before and with the change."""
    old, new = _functions(path, before), _functions(path, after)
    ran = (_of_file(path, base), _of_file(path, work))
    if old is None or new is None:
        return _by_results(*ran, functions=frozenset(), is_deleted=after is None)
    renamed = _renamed(old, new)
    deleted = [name for name in old if name not in new and name not in renamed]
    added = [name for name in new if name not in old and name not in renamed.values()]
    same = [name for name in old if name in new and ast.dump(old[name]) != ast.dump(new[name])]
    by_results = ChangedTests()
    if _is_loaded(path, base, work):
        by_results = _by_results(*ran, functions=frozenset(new), is_deleted=after is None, renamed=renamed)
    off = {name for name in same if _skips(new[name]) > _skips(old[name])}
    off |= {_function(test) for test in by_results.skipped}
    return ChangedTests(
        deleted=by_results.deleted or tuple(deleted),
        added=by_results.added or tuple(added),
        renamed=renamed,
        skipped=by_results.skipped or tuple(sorted(off)),
        changed=tuple(name for name in same if name not in off),
        elsewhere=before is not None and after is not None and _rest(before) != _rest(after),
    )


def with_control(path: str, tests: ChangedTests, on_base: TreeResult | None, work: TreeResult) -> ChangedTests:
    """The same with what a run of the changed tests on the source of the base says about added tests."""
    if on_base is None or not on_base.ended:
        return tests
    ids = {_name(test, path): test for test in work.tests if is_in(test, frozenset([path]))}
    passing = [name for name in tests.added if name in ids and work.tests[ids[name]] == PASSED]
    return replace(
        tests,
        shown=tuple(name for name in passing if on_base.is_failing(ids[name])),
        idle=tuple(name for name in passing if on_base.tests.get(ids[name]) == PASSED),
    )


def renamed_tests_of(path: str, before: bytes | None, after: bytes | None) -> dict[str, str]:
    """The ids of tests that got another name in a changed file, and have the same body; old and new."""
    old, new = _functions(path, before), _functions(path, after)
    renamed = _renamed(old, new) if old is not None and new is not None else {}
    return {f"{path}::{was}": f"{path}::{now}" for was, now in renamed.items()}


def _by_results(
    before: Mapping[str, str],
    now: Mapping[str, str],
    *,
    functions: frozenset[str],
    is_deleted: bool,
    renamed: Mapping[str, str] | None = None,
) -> ChangedTests:
    """What the results say. A function that still exists, and did not run, is not deleted."""
    ran = {_function(test) for test in now}
    names = {test: _renamed_id(test, renamed or {}) for test in before}
    gone = [test for test, name in names.items() if name not in now]
    return ChangedTests(
        deleted=tuple(
            test for test in gone if is_deleted or _function(test) in ran or _function(test) not in functions
        ),
        added=tuple(test for test in now if test not in before and test not in names.values()) if before else (),
        skipped=tuple(
            name for test, name in names.items() if before[test] in (PASSED, FAILED) and now.get(name) == _SKIPPED
        ),
    )


def _is_loaded(path: str, *trees: TreeResult) -> bool:
    """Whether each tree ran to its end, and no failure stands for the file itself."""
    return all(tree.ended and tree.tests.get(path) != FAILED for tree in trees)


def _of_file(path: str, tree: TreeResult) -> dict[str, str]:
    found = ((test, status) for test, status in tree.tests.items() if is_in(test, frozenset([path])))
    return {_name(test, path): status for test, status in found if "::" in test}


def _name(test: str, path: str) -> str:
    """The name without the file: `Class::test`, also if the report names a module in place of the file."""
    suite, _, rest = test.partition("::")
    classes = suite.removeprefix(path.removesuffix(".py").replace("/", ".")).strip(".") if suite != path else ""
    return "::".join((*filter(None, classes.split(".")), rest))


def _function(name: str) -> str:
    return name.partition("[")[0]


def _renamed_id(name: str, renamed: Mapping[str, str]) -> str:
    function, bracket, rest = name.partition("[")
    return renamed.get(function, function) + bracket + rest


def _functions(path: str, source: bytes | None) -> dict[str, _Function] | None:
    """The test functions of a file by their names; None if the file can't be read. A missing file has none."""
    if source is None:
        return {}
    if kind_of(path) != ".py":
        return None
    try:
        return dict(_tests(ast.parse(source).body, ""))
    except (SyntaxError, ValueError, RecursionError):
        return None


def _rest(source: bytes) -> str:
    """The code of a file without its test functions."""
    module = ast.parse(source)
    for owner in ast.walk(module):
        if isinstance(owner, ast.Module | ast.ClassDef):
            owner.body = [row for row in owner.body if not (isinstance(row, _Function) and row.name.startswith("test"))]
    return ast.dump(module)


def _tests(body: Iterable[ast.stmt], owner: str) -> Iterator[tuple[str, _Function]]:
    for statement in body:
        if isinstance(statement, _Function) and statement.name.startswith("test"):
            yield f"{owner}{statement.name}", statement
        elif isinstance(statement, ast.ClassDef):
            yield from _tests(statement.body, f"{owner}{statement.name}::")


def _renamed(old: Mapping[str, _Function], new: Mapping[str, _Function]) -> dict[str, str]:
    """Tests that are gone, and that are there under a new name with the same body; each new name once."""
    added = {name: _body(function) for name, function in new.items() if name not in old}
    renamed = {}
    for name, function in old.items():
        same = next((now for now, body in added.items() if body == _body(function)), None) if name not in new else None
        if same is not None:
            renamed[name] = same
            del added[same]
    return renamed


def _body(function: _Function) -> str:
    parts = (function.args, *function.decorator_list, *function.body)
    return "\n".join((type(function).__name__, *(ast.dump(part) for part in parts)))


def _skips(function: _Function) -> int:
    """How often a test is skipped or expected to fail, by its decorators and calls."""
    names = (
        node.attr if isinstance(node, ast.Attribute) else node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute | ast.Name)
    )
    return sum(name.startswith(_SKIPS) for name in names)


def changed_test_lines(
    files: Iterable[ChangedTestFile], base: TreeResult, whole: TreeResult, on_base: TreeResult | None
) -> dict[str, str]:
    """What happened to the tests of each file, by its path; files without such a change are left out.

    `base` and `whole` are results before and with the changes; `on_base` those of the changed tests on the base.
    """
    found = {}
    for file in files:
        tests = changed_tests(file.path, file.before, file.after, base, whole)
        if lines := with_control(file.path, tests, on_base, whole).lines:
            found[file.path] = "; ".join(lines)
    return found


def with_missing_tests(
    lines: Mapping[str, str], changed: Iterable[str], verdicts: Iterable[CommandVerdict]
) -> dict[str, str]:
    """The same lines, with the tests that the changes remove or skip and that are in none of these files by their ids.

    Many runners name no file. These tests stand at the first changed file of tests about which nothing else is known.
    """
    paths, seen = tuple(changed), tuple(verdicts)
    files = frozenset(paths)

    def others(tests: Iterable[str]) -> str:
        return few(tuple(dict.fromkeys(test for test in tests if not is_in(test, files))))

    removed = others(test for verdict in seen for test in verdict.removed)
    skipped = others(test for verdict in seen for test in verdict.skipped)
    if not paths or not (removed or skipped):
        return dict(lines)
    added = others(test for verdict in seen for test in verdict.appeared)
    place = next((path for path in paths if path not in lines), paths[0])
    said = (
        lines.get(place, ""),
        f"tests that are missing with the changes of tests: {removed}" if removed else "",
        f"tests that are skipped with the changes of tests: {skipped}" if skipped else "",
        f"tests that only these changes have: {added}" if added else "",
    )
    return {**lines, place: "; ".join(filter(None, said))}
