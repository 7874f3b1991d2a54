"""Gives the tests of the base the names that they have in the work: a test with the same body is the same test. Pure.

The same test must still pass under its new name: a name that no runner collects is a missing test.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from loopwright.judging.scope import FileChange
from loopwright.judging.syntax.javascript_source import SUFFIXES
from loopwright.judging.verdict import CommandResults

# Old and new names: of a file, or of a test in a file (`file::Class::test`).
Names = Mapping[str, str]
# What may follow the name of a file, class or test in an id: a part of it, its parameters, a subtest of Go.
_PARTS = ("::", "[", ".", "/")


def moved_files(deleted: Iterable[FileChange], added: Iterable[FileChange]) -> dict[str, str]:
    """Deleted files whose content is in an added file: old and new paths, each new path once."""
    places: dict[tuple[str, str], list[str]] = {}
    for change in added:
        if change.after is not None:
            places.setdefault((change.after.mode, change.after.blob), []).append(change.path)
    moved = {}
    for change in deleted:
        found = places.get((change.before.mode, change.before.blob)) if change.before is not None else None
        if found:
            moved[change.path] = found.pop(0)
    return moved


def with_new_names(results: CommandResults, names: Names) -> CommandResults:
    """The results of the base with the names that the same tests have in the work."""
    if not names:
        return results
    every = dict(sorted({**names, **_as_modules(names)}.items(), key=lambda row: -len(row[0])))
    base = replace(results.base, tests={_now(test, every): status for test, status in results.base.tests.items()})
    named = tuple(_now(test, every) for test in results.named) if results.named is not None else None
    sets = (results.known_failures, results.flaky, results.unstable)
    known, flaky, unstable = (frozenset(_now(test, every) for test in tests) for tests in sets)
    return replace(results, base=base, named=named, known_failures=known, flaky=flaky, unstable=unstable)


def new_name(test: str, names: Names) -> str:
    """The name that a test of the base has in the work."""
    return _now(test, {**names, **_as_modules(names)}) if names else test


def old_name(test: str, names: Names) -> str:
    """The name that a test had before the work."""
    return _now(test, {now: was for was, now in {**names, **_as_modules(names)}.items()})


def _as_modules(names: Names) -> dict[str, str]:
    """The same names as some runners write them: a module in place of its file."""
    return {_as_module(was): _as_module(now) for was, now in names.items()}


def _as_module(name: str) -> str:
    path, separator, rest = name.partition("::")
    return path.removesuffix(".py").replace("/", ".") + separator + rest


def _now(test: str, names: Names) -> str:
    if test in names:
        return names[test]
    for was, now in names.items():
        rest = test.removeprefix(was)
        # A title in JavaScript is a text: another title may begin with it.
        is_title = "::" in was and was.partition("::")[0].endswith(SUFFIXES)
        if test.startswith(was) and (not rest or (rest.startswith(_PARTS) and not is_title)):
            return now + rest
    return test
