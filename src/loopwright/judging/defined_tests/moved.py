"""Which tests only moved or got another name, over all changed files of tests. Pure.

The same test has the same body, and what its names mean is the same too: helpers, imports, hooks and enclosing classes
or suites. A runner must still find the test, and the tests of the base must pass without the moves: results say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import msgspec

from loopwright.judging.defined_tests.model import DefinedTest, DefinedTests

# Old and new ids.
Names = dict[str, str]
_Key = Callable[[DefinedTests, DefinedTest], object]


class TestFileChange(msgspec.Struct, frozen=True):
    """A changed file of tests before and after the work; None for a file that does not exist there."""

    __test__ = False

    path: str
    before: DefinedTests | None
    after: DefinedTests | None

    @property
    def is_clear(self) -> bool:
        """Whether results tell the tests of the file apart."""
        return not any(side is not None and side.has_equal_names for side in (self.before, self.after))


class SameTests(msgspec.Struct, frozen=True):
    """Changed files that have the same tests together as before, and the new ids of these tests."""

    paths: frozenset[str]
    names: Names


def find_same_tests(changes: Iterable[TestFileChange]) -> SameTests:
    """The largest set of changed files in which each test is the same test, and no other code changed."""
    left = [change for change in changes if change.is_clear]
    while True:
        pairs = list(_pairs(left, _by_surroundings))
        good = [change for change in left if _is_same(change, pairs)]
        if len(good) == len(left):
            names = {was.id: now.id for (_, was), (_, now) in pairs if was.id != now.id}
            return SameTests(frozenset(change.path for change in left), names)
        left = good


class Moves(msgspec.Struct, frozen=True):
    """What became of tests that are gone: old and new ids of tests with the same body, and with another body."""

    same: Names = {}
    # By their names only.
    rewritten: Names = {}


def moves_of(changes: Iterable[TestFileChange]) -> Moves:
    """Where the tests that are gone are now, whatever the names in them mean there."""
    found = [change for change in changes if change.is_clear]
    same = {was.id: now.id for (_, was), (_, now) in _pairs(found, _by_body) if was.id != now.id}
    old, new = (
        {test.id: test.name for change in found if (side := getter(change)) for test in side.tests}
        for getter in (_before, _after)
    )
    # A method may become a function.
    added = {
        name.rpartition("::")[2]: test for test, name in new.items() if test not in old and test not in same.values()
    }
    gone = {test: name.rpartition("::")[2] for test, name in old.items() if test not in new and test not in same}
    return Moves(same, {test: added[name] for test, name in gone.items() if name in added})


def _before(change: TestFileChange) -> DefinedTests | None:
    return change.before


def _after(change: TestFileChange) -> DefinedTests | None:
    return change.after


_Side = tuple[DefinedTests, DefinedTest]
_Pair = tuple[_Side, _Side]


def _by_surroundings(file: DefinedTests, test: DefinedTest) -> object:
    return (test.body, file.surroundings(test))


def _by_body(file: DefinedTests, test: DefinedTest) -> object:
    del file
    return test.body


def _pairs(changes: Iterable[TestFileChange], key: _Key) -> Iterator[_Pair]:
    """Each test of the base with the test that it is now: the one with the same id, else in the same file, else any."""
    files = tuple(changes)
    old = {test.id: (change.before, test) for change in files if change.before for test in change.before.tests}
    new = {test.id: (change.after, test) for change in files if change.after for test in change.after.tests}
    kept = [name for name in old if name in new and key(*old[name]) == key(*new[name])]
    yield from ((old.pop(name), new.pop(name)) for name in kept)
    places: dict[object, list[_Side]] = {}
    for name, side in new.items():
        if key is _by_surroundings or name not in old:
            places.setdefault(key(*side), []).append(side)
    for name, (file, test) in old.items():
        found = places.get(key(file, test), []) if key is _by_surroundings or name not in new else []
        if found:
            found.sort(key=lambda side: (side[0].path != file.path, side[1].name != test.name))
            yield (file, test), found.pop(0)


def _is_same(change: TestFileChange, pairs: list[_Pair]) -> bool:
    """Whether each test of a file has its pair, and the other code of the file is what it was or came with a test."""
    before, after = change.before, change.after
    if _unpaired(before, [was for was, _ in pairs]) or _unpaired(after, [now for _, now in pairs]):
        return False
    # The files from which tests came, and those to which tests went.
    sources = [was for (was, _), (now, _) in pairs if now.path == change.path != was.path]
    targets = [now for (was, _), (now, _) in pairs if was.path == change.path != now.path]
    if after is None:
        return bool(targets)
    came = {code for source in sources for code in source.imports}
    if before is None:
        rest = {code for source in sources for code in source.rest}
        return bool(sources) and came.issuperset(after.imports) and rest.issuperset(after.rest)
    went = {code for target in targets for code in target.imports}
    new, old = ([code for code in side.imports if code not in other] for side, other in ((after, came), (before, went)))
    return after.rest == before.rest and (
        after.imports == before.imports
        or (set(new) <= set(before.imports) and set(old) <= set(after.imports) and bool(sources or targets))
    )


def _unpaired(side: DefinedTests | None, ends: list[_Side]) -> bool:
    return side is not None and sum(file.path == side.path for file, _ in ends) < len(side.tests)
