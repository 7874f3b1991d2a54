"""What happened to the tests of a changed test file: by its syntax tree, and by results per test. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import msgspec
from msgspec.structs import replace

from loopwright.judging.defined_tests.model import DefinedTest, DefinedTests
from loopwright.judging.defined_tests.moved import Moves
from loopwright.judging.defined_tests.read import read_tests
from loopwright.judging.protected_verdict import is_in
from loopwright.judging.verdict import FAILED, PASSED, CommandVerdict, TreeResult
from loopwright.wording.catalogue import few

_SKIPPED = "skipped"
_SKIPS = re.compile(r"\b(?:id|attr)='(?:skip|xfail|expectedFailure)")
# Where the parameters of a test begin in Python, and a subtest in Go.
_CASE = re.compile(r"[\[/]")


class ChangedTestFile(msgspec.Struct, frozen=True):
    """A changed file of tests that a person must sign: its content on the base and now, None without it."""

    path: str
    before: bytes | None
    after: bytes | None
    # The path of its package, for a file of Go.
    package: str = ""

    @property
    def owner(self) -> str:
        """What ids name in place of the file."""
        return self.package or self.path

    def has(self, test: str, names: frozenset[str]) -> bool:
        """Whether a test is in the file; `names` are the functions of the file, which share the package of others."""
        if not self.package:
            return is_in(test, frozenset([self.path]))
        owner, _, name = test.partition("::")
        return owner == self.package and _CASE.split(name)[0] in names


class ChangedTests(msgspec.Struct, frozen=True, kw_only=True):
    """The tests of one file that are others than before, by their names without the file."""

    deleted: tuple[str, ...] = ()
    # Without a result now; whether the file still has them is not known.
    missing: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    # Old and new names of tests with the same body.
    renamed: dict[str, str] = {}
    # Tests that are in another file now, with the same body and with another body; old names and new ids.
    moved: dict[str, str] = {}
    rewritten: dict[str, str] = {}
    skipped: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    # Functions with other rows than before: how many are gone, and how many are new.
    rows: dict[str, tuple[int, int]] = {}
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
        yield from self._lines_about_lost_tests()
        if names := few(self.changed):
            count = len(self.changed)
            yield f"changed the body of {count} tests: {names}" if count > 1 else f"changed the body of 1 test: {names}"
        for name, (gone, new) in self.rows.items():
            yield f"changed the rows of {name}: {gone} gone, {new} new"
        yield from self._lines_about_names()
        if self.elsewhere:
            yield "changed code outside the test functions"
        if names := few(self.added):
            count = len(self.added)
            yield f"added {count} tests: {names}" if count > 1 else f"added 1 test: {names}"
        if self.shown:
            yield f"added tests that fail on the source of the base and pass on the work: {few(self.shown)}"
        if self.idle:
            yield f"added tests that pass on the source of the base, too, and prove nothing: {few(self.idle)}"

    def _lines_about_lost_tests(self) -> Iterator[str]:
        if names := few(self.deleted):
            count = len(self.deleted)
            yield f"deleted {count} tests: {names}" if count > 1 else f"deleted 1 test: {names}"
        if names := few(self.missing):
            count = len(self.missing)
            yield f"missing {count} tests: {names}" if count > 1 else f"missing 1 test: {names}"
        if names := few(self.skipped):
            count = len(self.skipped)
            yield f"skips {count} tests: {names}" if count > 1 else f"skips 1 test: {names}"

    def _lines_about_names(self) -> Iterator[str]:
        if names := few(_arrows(self.renamed)):
            count = len(self.renamed)
            yield f"renamed {count} tests: {names}" if count > 1 else f"renamed 1 test: {names}"
        if names := few(_arrows(self.moved)):
            count = len(self.moved)
            yield f"moved {count} tests: {names}" if count > 1 else f"moved 1 test: {names}"
        if names := few(_arrows(self.rewritten)):
            yield f"moved and changed tests: {names}"


def _arrows(names: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"{old} → {new}" for old, new in names.items())


def changed_tests(file: ChangedTestFile, base: TreeResult, work: TreeResult, moves: Moves) -> ChangedTests:
    """What became of the tests of a file. `base` and `work` are results before and with the change."""
    old, new = _defined(file, file.before), _defined(file, file.after)
    if old is None or new is None:
        return _by_results(file, base, work, {}, {}, {})
    renamed, moved = _of_this_file(file, old, moves.same)
    _, rewritten = _of_this_file(file, old, moves.rewritten)
    came = {test for names in (moves.same, moves.rewritten) for test in names.values()}
    gone = {*renamed, *moved, *rewritten}
    deleted = tuple(name for name in old if name not in new and name not in gone)
    added = tuple(name for name, test in new.items() if name not in old and test.id not in came)
    same = [name for name in old if name in new and old[name].body != new[name].body]
    by_results = ChangedTests()
    if _is_loaded(file, base, work):
        by_results = _by_results(file, base, work, old, new, {**renamed, **dict.fromkeys({*moved, *rewritten}, "")})
        by_results = replace(by_results, added=tuple(name for name in by_results.added if _id(file, name) not in came))
    off = {name for name in same if len(_SKIPS.findall(new[name].body)) > len(_SKIPS.findall(old[name].body))}
    off |= {_function(test, old) for test in by_results.skipped}
    by_results = _with_rows(by_results, {*old, *new})
    return replace(
        by_results,
        deleted=by_results.deleted or deleted,
        added=by_results.added or added,
        renamed=renamed,
        moved=moved,
        rewritten=rewritten,
        skipped=by_results.skipped or tuple(sorted(off)),
        changed=tuple(name for name in same if name not in off),
        elsewhere=file.before is not None and file.after is not None and _other_code(file, renamed),
    )


def _with_rows(tests: ChangedTests, known: Iterable[str]) -> ChangedTests:
    """The same with deleted and added rows of one function told together: a changed row has another name."""
    known = frozenset(known)
    gone, new = (Counter(_row_of(name, known) for name in names) for names in (tests.deleted, tests.added))
    functions = [name for name in gone if name and name in new]
    return replace(
        tests,
        rows={name: (gone[name], new[name]) for name in functions},
        deleted=tuple(name for name in tests.deleted if _row_of(name, known) not in functions),
        added=tuple(name for name in tests.added if _row_of(name, known) not in functions),
    )


def _row_of(name: str, known: frozenset[str]) -> str:
    """The function of which a result is one row, as in pytest; empty for a whole function, and for a subtest."""
    function, bracket, _ = name.partition("[")
    return function if bracket and name not in known and function in known else ""


def with_control(
    file: ChangedTestFile, tests: ChangedTests, on_base: TreeResult | None, work: TreeResult
) -> ChangedTests:
    """The same with what a run of the changed tests on the source of the base says about added tests."""
    if on_base is None or not on_base.ended:
        return tests
    names = frozenset(_function(name, {}) for name in tests.added)
    ids = {_name(test, file): test for test in work.tests if file.has(test, names)}
    passing = [name for name in tests.added if name in ids and work.tests[ids[name]] == PASSED]
    return replace(
        tests,
        shown=tuple(name for name in passing if on_base.is_failing(ids[name])),
        idle=tuple(name for name in passing if on_base.tests.get(ids[name]) == PASSED),
    )


_Tests = Mapping[str, DefinedTest]


def _by_results(
    file: ChangedTestFile, base: TreeResult, work: TreeResult, old: _Tests, new: _Tests, elsewhere: Mapping[str, str]
) -> ChangedTests:
    """What the results say. `elsewhere` are the new names of functions in this file; empty in another file.

    A function that still exists, and did not run, is not deleted. If its code is not known, the test is missing.
    """
    functions = frozenset((*old, *new))
    before, now = (
        {_name(test, file): row for test, row in tree.tests.items() if file.has(test, functions) and "::" in test}
        for tree in (base, work)
    )
    ran = {_function(test, functions) for test in now}
    names = {test: _renamed_id(test, elsewhere, functions) for test in before}
    gone = [test for test, name in names.items() if name and name not in now]
    known = {test for test in gone if file.after is None or _function(test, functions) in functions}
    return ChangedTests(
        deleted=tuple(
            test
            for test in gone
            if test in known and (_function(test, functions) in ran or _function(test, functions) not in new)
        ),
        missing=tuple(test for test in gone if test not in known),
        added=tuple(test for test in now if test not in before and test not in names.values()) if before else (),
        skipped=tuple(
            name for test, name in names.items() if before[test] in (PASSED, FAILED) and now.get(name) == _SKIPPED
        ),
    )


def _is_loaded(file: ChangedTestFile, *trees: TreeResult) -> bool:
    """Whether each tree ran to its end, and no failure stands for the file or package itself."""
    return all(tree.ended and tree.tests.get(file.owner) != FAILED for tree in trees)


def _name(test: str, file: ChangedTestFile) -> str:
    """The name without the file: `Class::test`, also if the report names a module in place of the file."""
    suite, _, rest = test.partition("::")
    if suite == file.owner:
        return rest
    classes = suite.removeprefix(file.path.removesuffix(".py").replace("/", ".")).strip(".")
    return "::".join((*filter(None, classes.split(".")), rest))


def _id(file: ChangedTestFile, name: str) -> str:
    return f"{file.owner}::{name}"


def _function(name: str, known: Iterable[str]) -> str:
    """The test function of a result, without parameters and subtests. A title in JavaScript may have any character."""
    return name if name in known else _CASE.split(name)[0]


def _renamed_id(name: str, elsewhere: Mapping[str, str], known: Iterable[str]) -> str:
    function = _function(name, known)
    now = elsewhere.get(function, function)
    return now + name.removeprefix(function) if now else ""


def _defined(file: ChangedTestFile, source: bytes | None) -> dict[str, DefinedTest] | None:
    """The tests of a file by their names; None if the file can't be read. A missing file has none."""
    if source is None:
        return {}
    found = read_tests(file.path, source, file.package)
    return None if found is None else {test.name: test for test in found.tests}


def _of_this_file(
    file: ChangedTestFile, old: _Tests, moves: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """The moves of this file's tests: new names in this file, and new ids in other files."""
    found = {name: moves[test.id] for name, test in old.items() if test.id in moves}
    owner = f"{file.owner}::"
    inside = {name: now.removeprefix(owner) for name, now in found.items() if now.startswith(owner)}
    return inside, {name: now for name, now in found.items() if name not in inside}


def _other_code(file: ChangedTestFile, renamed: Mapping[str, str]) -> bool:
    """Whether code outside the test functions changed: a helper, a fixture, an import, a part of a class."""
    before, after = (
        read_tests(file.path, source or b"", file.package) or DefinedTests(path="")
        for source in (file.before, file.after)
    )
    groups = {test.name: test.groups for test in after.tests}
    return (before.rest, before.imports) != (after.rest, after.imports) or any(
        groups.get(renamed.get(test.name, test.name), test.groups) != test.groups for test in before.tests
    )


def changed_test_lines(
    files: Iterable[ChangedTestFile], moves: Moves, base: TreeResult, whole: TreeResult, on_base: TreeResult | None
) -> dict[str, str]:
    """What happened to the tests of each file, by its path; files without such a change are left out.

    `base` and `whole` are results before and with the changes; `on_base` those of the changed tests on the base.
    """
    found = {}
    for file in files:
        tests = changed_tests(file, base, whole, moves)
        if lines := with_control(file, tests, on_base, whole).lines:
            found[file.path] = "; ".join(lines)
    return found


def with_missing_tests(
    lines: Mapping[str, str],
    changed: Iterable[str],
    files: Iterable[ChangedTestFile],
    verdicts: Iterable[CommandVerdict],
) -> dict[str, str]:
    """The same lines, with the tests that the changes remove or skip and that are in none of these files by their ids.

    Many runners name no file. These tests stand at the first changed file of tests about which nothing else is known.
    """
    paths, seen = tuple(changed), tuple(verdicts)
    told = [
        (file, frozenset((*(_defined(file, file.before) or ()), *(_defined(file, file.after) or ())))) for file in files
    ]

    def others(tests: Iterable[str]) -> str:
        found = (test for test in tests if not is_in(test, frozenset(paths)))
        return few(
            tuple(dict.fromkeys(test for test in found if not any(file.has(test, names) for file, names in told)))
        )

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
