"""What a command proves about the work with its changes to protected files, which a person must sign. Pure.

A person looks at tests that these changes remove or skip. They do not count against the work, and are counted.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from loopwright.judging.verdict import FAILED, PASSED, CommandResults, CommandVerdict, TreeResult, judge_command

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


def needs_changed_tests(results: CommandResults, whole: TreeResult, protected: frozenset[str]) -> bool:
    """Whether a run on the base with the changed tests can tell more: a test passes that the base does not have."""
    new = (test for test, status in whole.tests.items() if status == PASSED and test not in results.base.tests)
    return any(is_in(test, protected) for test in new)


def is_in(test: str, files: frozenset[str]) -> bool:
    """Whether a test is in one of these files. JUnit files of other tools name a module in place of its file."""
    suite = test.partition("::")[0]
    modules = (path.removesuffix(".py").replace("/", ".") for path in files if path.endswith(".py"))
    return suite in files or any(suite == module or suite.startswith(f"{module}.") for module in modules)
