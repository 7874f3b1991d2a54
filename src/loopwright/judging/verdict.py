"""What a command proves about the work, from its results on the base and on the work. Pure.

A test counts by its result on both trees, never by the exit code of its runner. The exit code decides only where no
report can be had.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cached_property

import msgspec

PASSED = "passed"
FAILED = "failed"
_RAN = (PASSED, FAILED)
_SEPARATOR = re.compile(r"::|[./]")
# The suite of commands without a report: each is one test among those of other commands.
SILENT = "commands"
# The name that stands for a command without a report.
WHOLE_COMMAND = ""
_DOUBTFUL_RUNS = 2


class Grade(StrEnum):
    """What a proof rests on."""

    TESTS = "tests"
    COMMAND = "command"
    PERSON = "person"


class Problem(StrEnum):
    """Why a command does not accept the work."""

    REPORT_MISSING = "report_missing"
    REPORT_INCOMPLETE = "report_incomplete"
    TESTS_BROKEN = "tests_broken"
    TESTS_FAILING = "tests_failing"
    NEW_TESTS_FAILING = "new_tests_failing"
    COMMAND_FAILED = "command_failed"
    NOTHING_RAN = "nothing_ran"


class TreeResult(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What a command said on one tree."""

    run_id: str = ""
    exited_with_0: bool
    # Whether the command came to its own end, with a complete report if it has one.
    ended: bool = True
    # Whether it was ended because its time was over.
    timed_out: bool = False
    # The status of each test by its id; empty without a report. A file that could not be loaded is a failed test.
    tests: Mapping[str, str] = {}
    # What the tests changed in the state of their processes; None if that is not known.
    state: tuple[str, ...] | None = None
    # The failed tests that only missed a name or a module, as far as a report tells.
    nameless: frozenset[str] = frozenset()

    def misses_name(self, test: str) -> bool:
        """Whether a test failed, or could not be loaded, only because a name or a module was missing."""
        return test in self.nameless or not self.nameless.isdisjoint(_containers(test))

    def has(self, test: str) -> bool:
        """Whether the report has the test, or its file because that could not be loaded."""
        return test in self.tests or self.is_failing(test)

    def passing(self, *, is_silent: bool) -> frozenset[str]:
        """The tests that passed. Commands without a report count if `is_silent`."""
        tests = (test for test, status in self.tests.items() if status == PASSED)
        found = frozenset(test for test in tests if is_silent or not _is_silent(test))
        return found | {WHOLE_COMMAND} if is_silent and not self.tests and self.exited_with_0 else found

    def is_failing(self, test: str) -> bool:
        """Whether a test failed, or could not be loaded because its file failed."""
        if test in self.tests:
            return self.tests[test] == FAILED
        return not self._failed.isdisjoint(_containers(test))

    @cached_property
    def _failed(self) -> frozenset[str]:
        return frozenset(test for test, status in self.tests.items() if status == FAILED)


class CommandResults(msgspec.Struct, frozen=True, kw_only=True):
    """The results of one command on all trees that matter."""

    base: TreeResult
    # On the work without its new tests.
    work: TreeResult
    # On base and work with the new tests; None without new tests.
    new_on_base: TreeResult | None = None
    new_on_work: TreeResult | None = None
    # Whether the command names a new test: then the command can't pass without it.
    names_new_tests: bool = False
    # Tests that fail on the base and are to pass; None: all that fail there.
    named: tuple[str, ...] | None = None
    known_failures: frozenset[str] = frozenset()
    # Tests that failed on the base and did not always fail there: see `flaky`.
    flaky: frozenset[str] = frozenset()
    # Tests that not every run on the base has: their names depend on the time, for example. They do not count.
    unstable: frozenset[str] = frozenset()
    # On the base with the changed tests of the work, which a person must sign; None without such a run.
    changed_on_base: TreeResult | None = None
    # More runs on the work. A flaky test has to pass in one of them; a test that is not flaky on the base in `work`.
    repeated: tuple[TreeResult, ...] = ()

    def passes_now(self, test: str) -> bool:
        """Whether a test passes on the work."""
        trees = (self.work, *self.repeated) if test in self.flaky else (self.work,)
        return any(tree.tests.get(test) == PASSED for tree in trees)


def file_of(test: str) -> str:
    """The file or module of a test, by its id."""
    return test.partition("::")[0]


class CommandVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a command accepts the work, and what the command proves about the work."""

    problems: dict[Problem, tuple[str, ...]] = {}
    # Tests that failed before the work and pass now.
    proving: tuple[str, ...] = ()
    # Those of them that failed only because a name or a module was missing, as far as a report tells.
    nameless: tuple[str, ...] = ()
    # The new tests among the proving tests, and whether the command can't run without new tests.
    new: tuple[str, ...] = ()
    names_new_tests: bool = False
    grade: Grade | None = None
    # Tests that passed before the work and pass now, and all that passed before, without flaky ones.
    kept: int = 0
    before: int = 0
    # The flaky tests of the base, and the run on the work that decides about the tests of the base.
    flaky: tuple[str, ...] = ()
    run_id: str = ""
    # New tests that pass on the base, too.
    idle: tuple[str, ...] = ()
    # Those among the earlier tests that changes to protected files removed, or skip now.
    deleted: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    # All tests of the base that these changes removed, also those that failed; and tests that only they add.
    removed: tuple[str, ...] = ()
    appeared: tuple[str, ...] = ()
    is_base_judged: bool = True
    # Whether a command without a report failed before the work and fails now: what the work broke is unknown.
    is_unread: bool = False

    @property
    def by_earlier_tests(self) -> CommandVerdict | None:
        """The verdict as far as it rests on tests of the base; None if it rests on new tests only."""
        earlier = tuple(test for test in self.proving if test not in self.new)
        if self.names_new_tests or (self.proving and not earlier):
            return None
        return msgspec.structs.replace(self, proving=earlier, new=())

    @property
    def rests_on_new_tests(self) -> bool:
        """Whether only results of new tests prove the work."""
        return self.grade is Grade.TESTS and self.by_earlier_tests is None

    @property
    def by_new_tests(self) -> CommandVerdict | None:
        """The verdict as far as it rests on new tests; None if it does not."""
        if not self.new and not self.names_new_tests:
            return None
        return self if self.names_new_tests else msgspec.structs.replace(self, proving=self.new)

    @property
    def accepts(self) -> bool:
        """Whether nothing speaks against the work."""
        return not self.problems

    @property
    def unfixed(self) -> tuple[str, ...]:
        """The tests that failed before the work and fail now, if nothing else speaks against the work."""
        return self.problems.get(Problem.TESTS_FAILING, ()) if len(self.problems) == 1 else ()

    @property
    def doubtful(self) -> tuple[str, ...]:
        """The tests that speak against the work: they may be flaky."""
        return (*self.problems.get(Problem.TESTS_BROKEN, ()), *self.problems.get(Problem.TESTS_FAILING, ()))

    def fails(self, tests: frozenset[str]) -> bool:
        """Whether one of these tests speaks against the work."""
        return bool(tests.intersection(self.doubtful)) or (
            WHOLE_COMMAND in tests and Problem.COMMAND_FAILED in self.problems
        )

    @property
    def proves(self) -> bool:
        """Whether the command failed before the work and passes now."""
        return self.accepts and self.grade is not None


def judge_command(results: CommandResults) -> CommandVerdict:
    """The verdict of one command."""
    judged = _with_its_tests(results)
    has_tests = judged.base.tests or judged.work.tests or (judged.new_on_work is not None and judged.new_on_work.tests)
    verdict = _by_tests(judged) if has_tests else _by_exit_code(judged)
    new = tuple(test for test in verdict.proving if not results.base.has(test))
    before = (results.base, results.new_on_base, results.changed_on_base)
    on_base = [tree for tree in before if tree is not None and tree.nameless]
    nameless = tuple(test for test in verdict.proving if any(tree.misses_name(test) for tree in on_base))
    return msgspec.structs.replace(
        verdict,
        new=new,
        nameless=nameless,
        names_new_tests=results.names_new_tests,
        flaky=tuple(sorted(results.flaky)),
        run_id=judged.work.run_id,
    )


def _with_its_tests(results: CommandResults) -> CommandResults:
    """The results on trees that have the tests that the command names: without them a runner only says so."""
    base, work = results.new_on_base, results.new_on_work
    if not results.names_new_tests or base is None or work is None or not base.tests:
        return results
    # The run on the base may have been of the new tests alone. unittest reports a missing module as a failed test.
    before = _judged(results).tests.items()
    known = {test: status for test, status in before if status == PASSED or test in work.tests}
    base = msgspec.structs.replace(base, tests=known | dict(base.tests))
    return msgspec.structs.replace(results, base=base, work=work, new_on_base=None, names_new_tests=False)


def names_a_file(command: str, path: str) -> bool:
    """Whether a command names a file of tests, by its path or as a module."""
    return path in command or (path.endswith(".py") and path.removesuffix(".py").replace("/", ".") in command)


def rests_on_new_tests(results: CommandResults, verdict: CommandVerdict) -> bool:
    """Whether only new tests prove the work: such a test may have failed on the base by chance."""
    if results.new_on_base is None or not verdict.proves:
        return False
    return not any(results.base.has(test) for test in verdict.proving)


def failing_each_time(results: CommandResults, again: Iterable[TreeResult]) -> CommandResults:
    """The results with new tests that failed on the base in all runs; the others do not prove anything."""
    first = results.new_on_base
    return results if first is None else msgspec.structs.replace(results, new_on_base=best_of(first, again))


def best_of(first: TreeResult, again: Iterable[TreeResult]) -> TreeResult:
    """The result of several runs on the same tree, where a test passed if it passed in one of them."""
    runs = [first, *again]
    passed = {test: PASSED for run in runs for test, status in run.tests.items() if status == PASSED}
    exited_with_0 = any(run.exited_with_0 for run in runs)
    return msgspec.structs.replace(first, tests={**first.tests, **passed}, exited_with_0=exited_with_0)


def doubtful_tests(
    base: Mapping[str, TreeResult],
    work: Mapping[str, TreeResult],
    run_without: Callable[[], Mapping[str, TreeResult]],
    old_name: Callable[[str], str] = str,
    *,
    counts_silent: bool = False,
) -> tuple[str, ...]:
    """The tests of the base that pass on the work, but not on the work without its doubtful changes.

    The results are by commands. A test may fail once by chance: it counts if it fails in two runs. A command without a
    report may be about documents: it counts only if tests moved.
    """
    found = {
        (name, old)
        for name, result in work.items()
        for test in result.passing(is_silent=counts_silent)
        if test == WHOLE_COMMAND or base[name].has(old_name(test))
        for old in (old_name(test),)
    }
    for _ in range(_DOUBTFUL_RUNS):
        if found:
            without = run_without()
            found = {(name, test) for name, test in found if test not in without[name].passing(is_silent=True)}
    return tuple(sorted(test or name for name, test in found))


def passing_alone(results: CommandResults, alone: TreeResult) -> CommandResults:
    """The results with new tests that pass on the work by themselves, too, as they ran on the base."""
    whole = results.new_on_work
    if whole is None:
        return results
    failed = {test: status for test, status in alone.tests.items() if status != PASSED and test in whole.tests}
    return msgspec.structs.replace(results, new_on_work=msgspec.structs.replace(whole, tests={**whole.tests, **failed}))


def _by_tests(results: CommandResults) -> CommandVerdict:
    base, work = _judged(results), results.work
    problems: dict[Problem, tuple[str, ...]] = {}
    if base.tests and not work.tests:
        problems[Problem.REPORT_MISSING] = ()
    elif not work.ended or (results.new_on_work is not None and not results.new_on_work.ended):
        problems[Problem.REPORT_INCOMPLETE] = ()
    elif not {*_RAN} & {*work.tests.values(), *(results.new_on_work or work).tests.values()}:
        problems[Problem.NOTHING_RAN] = ()
    passed_before = [test for test, status in base.tests.items() if status == PASSED]
    broken = tuple(test for test in passed_before if not results.passes_now(test))
    steady = frozenset(passed_before) - results.flaky
    required = _required_tests(results, base)
    failing = tuple(test for test in required if not results.passes_now(test))
    new = _new_tests(results, base)
    new_failing = tuple(test for test, passes in new.items() if not passes)
    _note(problems, Problem.TESTS_BROKEN, broken)
    _note(problems, Problem.TESTS_FAILING, failing)
    _note(problems, Problem.NEW_TESTS_FAILING, new_failing)
    is_excused = bool(base.tests) and _is_unexplained(base)
    if not problems and not is_excused and any(map(_is_unexplained, (work, results.new_on_work or work))):
        problems[Problem.COMMAND_FAILED] = ()
    fixed = [test for test in required if work.tests.get(test) == PASSED and test not in results.flaky]
    on_base = results.new_on_base
    shown = [test for test, passes in new.items() if passes and on_base is not None and on_base.is_failing(test)]
    return CommandVerdict(
        problems=problems,
        proving=(*fixed, *shown),
        grade=_grade((*fixed, *shown)),
        idle=tuple(test for test in new if on_base is not None and on_base.tests.get(test) == PASSED),
        kept=len(steady.difference(broken)),
        before=len(steady),
        is_base_judged=results.base.ended,
        is_unread=any(
            _is_silent(test) and base.is_failing(test) and not results.passes_now(test) for test in base.tests
        ),
    )


def _is_silent(test: str) -> bool:
    """Whether this is a command without a report, next to commands with one."""
    return test.startswith(f"{SILENT}::")


def _grade(proving: tuple[str, ...]) -> Grade | None:
    if not proving:
        return None
    return Grade.COMMAND if all(map(_is_silent, proving)) else Grade.TESTS


def _by_exit_code(results: CommandResults) -> CommandVerdict:
    """A command without a report must fail on the base and pass on the work."""
    now = results.new_on_work or results.work
    if WHOLE_COMMAND in results.flaky:
        passes = any(tree.exited_with_0 and tree.ended for tree in (now, *results.repeated))
        problems: dict[Problem, tuple[str, ...]] = {} if passes else {Problem.COMMAND_FAILED: ()}
        return CommandVerdict(problems=problems)
    if not now.exited_with_0 and results.named == () and not results.base.exited_with_0:
        return CommandVerdict(is_base_judged=results.base.ended, is_unread=results.base.ended)
    needs_new_tests = not results.work.exited_with_0 and results.new_on_base is not None
    if not now.exited_with_0 or not now.ended or (needs_new_tests and not results.names_new_tests):
        return CommandVerdict(problems={Problem.COMMAND_FAILED: ()}, is_base_judged=results.base.ended)
    controls = [tree for tree in (results.base, results.new_on_base) if tree is not None]
    fails_before = all(tree.ended and not tree.exited_with_0 for tree in controls)
    return CommandVerdict(grade=Grade.COMMAND if fails_before else None, is_base_judged=results.base.ended)


def _judged(results: CommandResults) -> TreeResult:
    """The base as it counts: a run that ended early counts as no tests."""
    base = results.base
    if not base.ended:
        return TreeResult(exited_with_0=False, ended=False)
    tests = {test: status for test, status in base.tests.items() if test not in results.unstable}
    return msgspec.structs.replace(base, tests=tests)


def _required_tests(results: CommandResults, base: TreeResult) -> list[str]:
    """Tests that failed on the base and are to pass now. A file that could not be loaded stands for its tests."""
    names: Iterable[str] = base.tests if results.named is None else _all_named(results.named, base)
    failing = [name for name in names if base.is_failing(name) and name not in results.known_failures]
    tests = (test for name in failing for test in _tests_of(name, results.work))
    return [test for test in tests if test not in results.known_failures]


def _all_named(named: tuple[str, ...], base: TreeResult) -> Iterator[str]:
    """The named tests; a name without its parameters stands for the test with each of them."""
    for name in named:
        yield from [test for test in base.tests if test.startswith(f"{name}[")] or [name]


def _tests_of(name: str, work: TreeResult) -> list[str]:
    """The test of this name; the tests of the file, if the name is a file that is loaded now."""
    if name in work.tests:
        return [name]
    # A test of such a file may be skipped on this machine.
    return [test for test, status in work.tests.items() if status in _RAN and name in _containers(test)] or [name]


def _new_tests(results: CommandResults, base: TreeResult) -> dict[str, bool]:
    """Tests that the base does not have, and whether each passes. A skipped test says nothing."""
    now = results.new_on_work
    if now is None:
        return {}
    known = {*base.tests, *results.unstable}
    new = ((test, status) for test, status in now.tests.items() if test not in known)
    return {test: status == PASSED for test, status in new if status in _RAN}


def _is_unexplained(tree: TreeResult) -> bool:
    """Whether the command failed although no test did."""
    return not tree.exited_with_0 and FAILED not in tree.tests.values()


def _note(problems: dict[Problem, tuple[str, ...]], problem: Problem, tests: tuple[str, ...]) -> None:
    if tests:
        problems[problem] = tests


def _containers(test: str) -> Iterator[str]:
    """The ids that the folders, files, modules and classes of a test may have.

    unittest names a module that could not be loaded, from the folder where its search began.
    """
    yield from (test[: found.start()] for found in _SEPARATOR.finditer(test))
    path = file_of(test)
    if "::" in test and path.endswith(".py"):
        module = path.removesuffix(".py").replace("/", ".")
        dots = [place for place, letter in enumerate(module) if letter == "."]
        yield from (module, *(module[:place] for place in dots), *(module[place + 1 :] for place in dots))
