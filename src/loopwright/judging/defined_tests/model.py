"""The types for the tests of a file. A test is the same test if its body and its surroundings are the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from posixpath import dirname

import msgspec

# Names whose value depends on where a file is.
_PLACES = frozenset({"__file__", "__dirname", "__filename", "require", "import"})


class NameBinding(msgspec.Struct, frozen=True):
    """What a file binds a name to: normalized code, and the names in it."""

    code: str
    uses: frozenset[str] = frozenset()


class DefinedTest(msgspec.Struct, frozen=True, kw_only=True):
    """One test. `name` is its name in reports, without the file or package that owns the test."""

    name: str
    owner: str
    body: str
    # The code of the enclosing classes or suites, without their names and tests.
    groups: tuple[str, ...] = ()
    # The names in the body and in the groups.
    uses: frozenset[str] = frozenset()

    @property
    def id(self) -> str:
        """The test's id in reports of Loopwright's own reporters, and of Go."""
        return f"{self.owner}::{self.name}"


class DefinedTests(msgspec.Struct, frozen=True, kw_only=True):
    """The tests of one file, and the other code of the file."""

    path: str
    tests: tuple[DefinedTest, ...] = ()
    imports: tuple[str, ...] = ()
    # The other statements at the top of the file, in their order.
    rest: tuple[str, ...] = ()
    # Those of them that act without being named: hooks, calls, marks for the whole file.
    hooks: tuple[str, ...] = ()
    # What the file binds each name to; several times if the name is bound again.
    bindings: Mapping[str, tuple[NameBinding, ...]] = {}

    @property
    def has_equal_names(self) -> bool:
        """Whether two tests have the same name: then results do not tell them apart."""
        return len({test.name for test in self.tests}) < len(self.tests)

    def surroundings(self, test: DefinedTest) -> tuple[object, ...]:
        """All that decides what the body of a test means, as far as the file tells."""
        reached = dict(self._reached(test.uses))
        place = dirname(self.path) if _PLACES & (test.uses | frozenset(reached)) else ""
        meant = frozenset((name, part.code) for name, parts in reached.items() for part in parts)
        return (test.groups, self.hooks, meant, place)

    def _reached(self, uses: frozenset[str]) -> Iterator[tuple[str, tuple[NameBinding, ...]]]:
        ahead, seen = sorted(uses), set[str]()
        while ahead:
            name = ahead.pop()
            if name in seen:
                continue
            seen.add(name)
            if name in self.bindings:
                yield name, self.bindings[name]
                ahead += sorted({used for part in self.bindings[name] for used in part.uses})


class DefinedTestsBuilder:
    """Collects the tests and the other code of a file."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._tests: list[DefinedTest] = []
        self._imports: list[str] = []
        self._rest: list[str] = []
        self._hooks: list[str] = []
        self._bindings: dict[str, list[NameBinding]] = {}

    def add_test(self, test: DefinedTest) -> None:
        """Add a test."""
        self._tests.append(test)

    def add_import(self, name: str, code: str) -> None:
        """Add an imported name."""
        self._imports.append(code)
        self.bind(name, NameBinding(code))

    def add_rest(self, code: str, *, is_hook: bool) -> None:
        """Add another statement."""
        self._rest.append(code)
        if is_hook:
            self._hooks.append(code)

    def bind(self, name: str, definition: NameBinding) -> None:
        """Bind a name."""
        self._bindings.setdefault(name, []).append(definition)

    def done(self) -> DefinedTests:
        """All of it."""
        return DefinedTests(
            path=self._path,
            tests=tuple(self._tests),
            imports=tuple(self._imports),
            rest=tuple(self._rest),
            hooks=tuple(self._hooks),
            bindings={name: tuple(found) for name, found in self._bindings.items()},
        )
