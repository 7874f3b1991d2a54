"""What a command proves about the work with its changes to protected files, which a person must sign. Pure.

A person looks at tests that these changes remove or skip. They do not count against the work, and are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from loopwright.judging.flaky import REPEATS
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


def judge_with_protected(
    results: CommandResults, whole: TreeResult, protected: frozenset[str], renamed: Mapping[str, str] | None = None
) -> CommandVerdict:
    """The verdict with the protected changes. `renamed` are tests of these files with the same body as before.

    A test that the changes add is a new test: it proves something if it fails on the base with the changed tests.
    """
    base = replace(results.base, tests={_now(test, whole, renamed): row for test, row in results.base.tests.items()})
    kept: dict[str, str] = {}
    for test, status in base.tests.items():
        after = whole.tests.get(test)
        if not is_in(test, protected) or after in _RAN:
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
        verdict, before=verdict.before + len(deleted) + len(skipped), deleted=deleted, skipped=skipped
    )  # fmt: skip


def _now(test: str, whole: TreeResult, renamed: Mapping[str, str] | None) -> str:
    """The name that a test of the base has with the changes, if the test only got another name."""
    if test in whole.tests:
        return test
    function, bracket, rest = test.partition("[")
    name = (renamed or {}).get(function, function) + bracket + rest
    return name if name in whole.tests else test


def with_changed_tests(
    results: Mapping[str, CommandResults],
    whole: Mapping[str, TreeResult],
    protected: frozenset[str],
    run: Callable[[], Mapping[str, TreeResult]],
) -> dict[str, CommandResults]:
    """The results of commands with runs of the changed tests on the source of the base, if such a test is new by name.

    A test that fails there must do so in each of three runs. `run` runs all commands.
    """
    new = {name: _added(result, whole[name], protected) for name, result in results.items()}
    if not any(new.values()):
        return dict(results)
    first = run()
    fails = any(first[name].is_failing(test) for name, tests in new.items() for test in tests)
    again = [run() for _ in range(REPEATS)] if fails else []
    on_base = {name: best_of(first[name], (more[name] for more in again)) for name, tests in new.items() if tests}
    return {name: replace(result, changed_on_base=on_base.get(name)) for name, result in results.items()}


def _added(results: CommandResults, whole: TreeResult, protected: frozenset[str]) -> tuple[str, ...]:
    """The tests of protected files that pass on the work, and that the base does not have."""
    passing = (test for test, status in whole.tests.items() if status == PASSED and test not in results.base.tests)
    return tuple(test for test in passing if is_in(test, protected))


def is_in(test: str, files: frozenset[str]) -> bool:
    """Whether a test is in one of these files. JUnit files of other tools name a module in place of its file."""
    suite = test.partition("::")[0]
    modules = (path.removesuffix(".py").replace("/", ".") for path in files if path.endswith(".py"))
    return suite in files or any(suite == module or suite.startswith(f"{module}.") for module in modules)
