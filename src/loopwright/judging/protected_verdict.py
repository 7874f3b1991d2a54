"""What a command proves about the work with its changes to protected files, which a person must sign. Pure.

A person looks at tests that these changes remove or skip. They do not count against the work, and are counted and
named. Few runners name the file of a test, so the run without the changes decides: what is missing only with them was
removed by them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

import msgspec
from msgspec.structs import replace

from loopwright.judging.flaky import REPEATS
from loopwright.judging.project_files import CODE_KINDS
from loopwright.judging.same_tests import new_name
from loopwright.judging.scope import kind_of
from loopwright.judging.verdict import (
    FAILED,
    PASSED,
    CommandResults,
    CommandVerdict,
    TreeResult,
    best_of,
    judge_command,
)

_RAN = (PASSED, FAILED)
# Where parameters or a subtest begin.
_CASE = re.compile(r"[\[/(]")


class ProtectedFiles(msgspec.Struct, frozen=True, kw_only=True):
    """The changed files that a person must sign, or signed."""

    paths: frozenset[str]
    # Those that hold tests, or belong to tests.
    tests: frozenset[str] = frozenset()
    # Tests of these files with the same body as before: old and new ids.
    renamed: Mapping[str, str] = {}
    # What changed code of tests was on the base; None if other files hold tests, too.
    sources: tuple[bytes, ...] | None = None


def judge_with_protected(
    results: CommandResults, whole: TreeResult, files: ProtectedFiles, without: TreeResult | None
) -> CommandVerdict:
    """The verdict with the protected changes. `without` is the work without them; None if no run tells.

    A test that the changes add is a new test: it proves something if it fails on the base with the changed tests.
    """
    base = replace(results.base, tests={_now(test, whole, files): row for test, row in results.base.tests.items()})
    kept: dict[str, str] = {}
    for test, status in base.tests.items():
        after = whole.tests.get(test)
        if after in _RAN or not (is_in(test, files.paths) or _is_by_changes(test, whole, files, without)):
            kept[test] = status
        elif after is not None:
            # A failing test does not pass because it is skipped.
            kept[test] = FAILED if status == FAILED else after
    now = replace(
        results,
        base=replace(base, tests=kept),
        work=whole,
        new_on_base=results.changed_on_base or results.new_on_base,
        new_on_work=whole,
    )
    counted = base.tests if base.ended else {}
    passed = [test for test, status in counted.items() if status == PASSED and test not in results.unstable]
    deleted = tuple(test for test in passed if test not in kept)
    skipped = tuple(test for test in passed if kept.get(test, PASSED) != PASSED)
    verdict = judge_command(now)
    return replace(
        verdict,
        before=verdict.before + len(deleted) + len(skipped),
        deleted=deleted,
        skipped=skipped,
        removed=tuple(test for test in base.tests if test not in kept),
        appeared=tuple(_new(results, whole, without)),
    )


def _is_by_changes(test: str, whole: TreeResult, files: ProtectedFiles, without: TreeResult | None) -> bool:
    """Whether changed tests may have removed or skipped a test of another file, or of a runner that names no files.

    A person is asked about it. So they did where nothing tells: for example, the work can't be built without the
    changed tests. A tree without any result says nothing about a single test.
    """
    if not files.tests or not whole.tests or not whole.ended:
        return False
    if without is None:
        return _is_mentioned(test, files)
    if not without.ended or not without.tests:
        return True
    return without.tests.get(test) in _RAN or (test not in without.tests and without.is_failing(test))


def _is_mentioned(test: str, files: ProtectedFiles) -> bool:
    """Whether one of the files may have had a test, by its name. Later work must not remove others unseen."""
    suite, _, name = test.rpartition("::")
    if kind_of(suite.partition("::")[0]) in CODE_KINDS:
        return False
    function = _CASE.split(name)[0].strip().encode()
    return files.sources is None or any(function and function in source for source in files.sources)


def _new(results: CommandResults, whole: TreeResult, without: TreeResult | None) -> Iterator[str]:
    """Tests that only the tree with the changes has."""
    earlier = results.new_on_work or without
    for test in whole.tests:
        if test not in results.base.tests and without is not None and earlier is not None and test not in earlier.tests:
            yield test


def _now(test: str, whole: TreeResult, files: ProtectedFiles) -> str:
    """The name that a test of the base has with the changes, if the test only got another name."""
    if test in whole.tests or not files.renamed:
        return test
    name = new_name(test, files.renamed)
    return name if name in whole.tests else test


def with_changed_tests(
    results: Mapping[str, CommandResults],
    whole: Mapping[str, TreeResult],
    files: frozenset[str],
    run: Callable[[], Mapping[str, TreeResult]],
    *,
    is_signed: bool = False,
) -> dict[str, CommandResults]:
    """The results of commands with runs of the changed tests on the source of the base, if a test is new by name.

    A test that fails there must do so in each of three runs. `run` runs all commands. If the changes are signed, no
    run is without them.
    """
    new = {
        name: added_tests(result, whole[name], files, None if is_signed else result.new_on_work)
        for name, result in results.items()
    }
    if not any(new.values()):
        return dict(results)
    first = run()
    fails = any(first[name].is_failing(test) for name, tests in new.items() for test in tests)
    again = [run() for _ in range(REPEATS)] if fails else []
    on_base = {name: best_of(first[name], (more[name] for more in again)) for name, tests in new.items() if tests}
    return {name: replace(result, changed_on_base=on_base.get(name)) for name, result in results.items()}


def added_tests(
    results: CommandResults, whole: TreeResult, files: frozenset[str], without: TreeResult | None
) -> tuple[str, ...]:
    """The tests that pass, that the base does not have, and that changed tests may have added."""
    new = (test for test, status in whole.tests.items() if status == PASSED and test not in results.base.tests)
    return tuple(test for test in new if is_in(test, files) or _may_be_added(test, without))


def _may_be_added(test: str, without: TreeResult | None) -> bool:
    """Whether changed tests may have added a test of another file, or of a runner that names no files."""
    if without is not None:
        return test not in without.tests
    return kind_of(test.partition("::")[0]) not in CODE_KINDS


def is_in(test: str, files: frozenset[str]) -> bool:
    """Whether a test is in one of these files. JUnit files of other tools name a module in place of its file."""
    suite = test.partition("::")[0]
    modules = (path.removesuffix(".py").replace("/", ".") for path in files if path.endswith(".py"))
    return suite in files or any(suite == module or suite.startswith(f"{module}.") for module in modules)
