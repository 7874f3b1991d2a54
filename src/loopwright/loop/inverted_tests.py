"""Changes the expectations of tests before a run: a test that still passes can't fail, and proves nothing."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from enum import Enum, auto
from pathlib import Path
from posixpath import dirname, join

from msgspec.structs import replace

from loopwright.judging.controls.called_expectations import in_command, may_call
from loopwright.judging.controls.doctests import example_id
from loopwright.judging.controls.go_tests import SUFFIX as GO_TESTS
from loopwright.judging.controls.go_tests import functions_of, probe_go
from loopwright.judging.controls.helper_calls import HandedValue, helper_calls
from loopwright.judging.controls.invert import invert
from loopwright.judging.controls.javascript_tests import probe_javascript
from loopwright.judging.controls.judged_files import judged_by
from loopwright.judging.controls.marks import records_name
from loopwright.judging.controls.model import ControlOutcome, Inverted, worst
from loopwright.judging.controls.probe_records import (
    Assertions,
    ProbeOutcome,
    ProbeRecord,
    Spans,
    as_results,
    read_records,
)
from loopwright.judging.controls.python_probes import probe_python, probes_name
from loopwright.judging.controls.time_limits import with_time_limit
from loopwright.judging.proof_sentences import ControlledProof
from loopwright.judging.reports.model import TestResult
from loopwright.judging.syntax.javascript_source import SUFFIXES
from loopwright.judging.verdict import FAILED, PASSED, CommandVerdict, Grade, TreeResult
from loopwright.kernel.relative_folder import relative_folder
from loopwright.loop.altered_files import own_file
from loopwright.loop.program_rounds import ProgramRounds
from loopwright.loop.silent_commands import SilentCommand
from loopwright.runner.request import Observer
from loopwright.sandbox.port import Changes, Sandbox

# The time for a run with altered tests, compared with the run before; and that for one test among them.
_SLOWER = 10
_SHORTEST_S = 60
_SLOWER_TEST = 2
_SHORTEST_TEST_S = 5.0
# A test that needs more time counts as failing: several endless tests must not take all the time of the others.
_LONGEST_TEST_S = 30.0


def longest_s(before_s: float) -> int:
    """The time for a run with altered tests, by the time of the run before. A time-out counts as failing."""
    return max(_SHORTEST_S, round(_SLOWER * before_s))


class Probing(Enum):
    """Whether each assertion of a test is tried by itself; the test fails at its end."""

    NONE = auto()
    # In Python, JavaScript and Go.
    ALL = auto()
    # Go can't build the files with probes.
    ALL_BUT_GO = auto()


class InvertedTests(Observer):
    """Inverts the tests that prove something, also hidden ones, in a new sandbox. Commands have names."""

    def __init__(
        self,
        inside: Observer | None = None,
        *,
        before_s: float = 0.0,
        probes: Probing = Probing.NONE,
        only_near: bool = False,
        soft: frozenset[str] = frozenset(),
    ) -> None:
        """Expectations change far first, then slightly (`only_near`: only so). `soft` tests go on after a failure."""
        self._inside = inside
        self.probes = probes
        self._soft = soft
        self._is_near = only_near
        # The files with slightly changed expectations, for the second run; and the commands that are in it.
        self._near: dict[str, Inverted] = {}
        self._in_near_run: frozenset[str] = frozenset()
        # One endless test must not keep the others from their results.
        self._test_s = min(max(_SHORTEST_TEST_S, _SLOWER_TEST * before_s), _LONGEST_TEST_S)
        # Fixed marks could be recognised by the work.
        self._salt = secrets.token_hex(4)
        # The files to invert, by the name of the command.
        self._files: dict[str, tuple[str, ...]] = {}
        self._silent: dict[str, SilentCommand] = {}
        # Files that the work may not change, and new tests.
        self._judges: set[str] = set()
        self._inverted: dict[str, Inverted] = {}
        # The probed files, with their assertions.
        self._probed: dict[str, Mapping[str, tuple[int, int]]] = {}
        # The tests of JavaScript that are probed, by their ids. Other tests of the same files are only inverted.
        self._in_javascript: set[str] = set()
        # The names of the probed tests of Go, whose ids name a package and no file.
        self._in_go: set[str] = set()
        # The programs that tests start, by the name of the command; after the first run their expectations change.
        self._before_s = before_s
        self._programs: dict[str, ProgramRounds] = {}
        self._known: dict[str, ControlOutcome] = {}
        # The tests that passed with a changed expectation, and those in which nothing could be changed.
        self._passing: set[str] = set()
        self._unaltered: set[str] = set()

    def add(
        self, name: str, command: str, verdict: CommandVerdict, judges: tuple[str, ...], cwd: str = ""
    ) -> str | None:
        """The command to run in place of this one; None if nothing about it can be inverted.

        `judges` are files that the work may not change; the command may run some of them.
        """
        if self.add_tests(name, command, verdict.proving, judges, cwd):
            return command
        if (silent := self._silent_command(command, cwd, judges)) is not None:
            self._silent[name] = silent
            self._programs[name] = self._rounds(command, cwd, (), (), judges)
            return silent.text
        files = _judged_in(cwd, command, judges)
        if not files:
            return None
        self._files[name] = files
        self._programs[name] = self._rounds(command, cwd, verdict.proving, files, judges)
        return command

    def add_tests(self, name: str, command: str, tests: Iterable[str], judges: tuple[str, ...], cwd: str = "") -> bool:
        """Invert the files of these tests when the command runs; False if no test names its file."""
        tests = tuple(tests)
        self._judges |= set(judges)
        # Only our own reporters name files, and those files ran. A module in a foreign report may be any text.
        named = dict.fromkeys(test.partition("::")[0] for test in tests if _names_a_file(test))
        files = tuple(named) or _go_files(tests, judges)
        if files:
            self._files[name] = files
            self._programs[name] = self._rounds(command, cwd, tests, files, judges)
        return bool(files)

    def _rounds(
        self, command: str, cwd: str, tests: tuple[str, ...], files: tuple[str, ...], judges: tuple[str, ...]
    ) -> ProgramRounds:
        return ProgramRounds(command, cwd, tests, files, frozenset(judges), self._before_s)

    def _silent_command(self, command: str, cwd: str, judges: tuple[str, ...]) -> SilentCommand | None:
        known = frozenset(judges)
        changes = list(in_command(command, salt=self._salt))
        if not changes and not may_call(command, cwd, known):
            return None
        return SilentCommand(command, cwd, known, changes, salt=self._salt, before_s=self._before_s)

    def again(self) -> dict[str, str]:
        """The commands that have another expectation to change, in a run of its own; empty if none is left."""
        silent = {name: text for name, silent in self._silent.items() if (text := silent.go_on()) is not None}
        if near := self._begin_near_run():
            return silent | near
        # One change in each run: programs come after the expectations of the command itself.
        ready = {name: rounds for name, rounds in self._programs.items() if name not in silent}
        return silent | {name: rounds.command for name, rounds in ready.items() if rounds.go_on()}

    def _begin_near_run(self) -> dict[str, str]:
        """The commands that failed with changed expectations, if these can change only slightly. Once."""
        self._in_near_run = frozenset()
        if not self._near or self._is_near:
            return {}
        self._is_near, self._inverted = True, self._near
        self._in_near_run = frozenset(
            name
            for name, files in self._files.items()
            if self._known.get(name) is ControlOutcome.FAILED and self._near.keys() & set(files)
        )
        return {name: self._programs[name].command for name in self._in_near_run}

    @property
    def files(self) -> tuple[str, ...]:
        """The files to invert; empty if a command without a report is among the commands."""
        return () if self._silent else tuple(dict.fromkeys(sum(self._files.values(), ())))

    def before_steps(self, sandbox: Sandbox) -> None:
        """Prepare the sandbox as for every run, then invert."""
        repo: Path = sandbox.place.repo
        if self._inside is not None:
            self._inside.before_steps(sandbox)
            self._inside.place_files(sandbox)
        for rounds in self._programs.values():
            rounds.search(repo, self._salt)
        if not self._known:
            self._invert(repo, {path for files in self._files.values() for path in files})
        for path in {path for name in self._in_near_run for path in self._files[name]} & self._near.keys():
            if (place := own_file(repo, path)) is not None:
                place.write_bytes(self._near[path].source)
        for silent in self._silent.values():
            silent.prepare(repo)
        for rounds in self._programs.values():
            rounds.prepare(repo)

    def _invert(self, repo: Path, paths: Iterable[str]) -> None:
        """Invert files in the first run, and keep their forms for the second one."""
        for path in paths:
            place = own_file(repo, path)
            source = place.read_bytes() if place is not None else b""
            inverted = self._changed(path, source, repo) if place is not None else None
            if place is not None and inverted is not None:
                place.write_bytes(inverted.source)
                self._inverted[path] = inverted
            if inverted is not None and self.probes is Probing.NONE and not self._is_near:
                near = self._changed_slightly(path, source)
                self._near |= {path: near} if near is not None else {}

    def results_of_step(self, sandbox: Sandbox) -> tuple[TestResult, ...]:
        """What the probed assertions did."""
        records: list[ProbeRecord] = []
        for path in self._probed:
            place = own_file(sandbox.place.repo, join(dirname(path), records_name(path, self._salt)))
            if place is not None:
                records += read_records(path, place.read_bytes())
                place.unlink()
        return as_results(records)

    def after_steps(self, sandbox: Sandbox) -> Changes | None:
        """The inner observer must not see the changed tests."""
        for silent in self._silent.values():
            silent.look(sandbox.place.repo)
        return None

    def outcome(self, name: str, result: TreeResult, verdict: CommandVerdict) -> ControlOutcome:
        """What a command did with changed expectations."""
        rounds = self._programs.get(name)
        if rounds is not None and rounds.is_running:
            rounds.look(result)
            return worst({self._known[name], rounds.outcome})
        if name in self._in_near_run:
            self._known[name] = worst({self._known[name], self._of_tests(name, result, verdict)})
            return self._known[name]
        silent = self._silent.get(name)
        self._known[name] = silent.outcome(result) if silent is not None else self._of_tests(name, result, verdict)
        return self._known[name]

    def _of_tests(self, name: str, result: TreeResult, verdict: CommandVerdict) -> ControlOutcome:
        files = self._files.get(name)
        if files is None or (files and not self._inverted.keys() & set(files)):
            return ControlOutcome.UNALTERED
        if files and verdict.proving and verdict.grade is not Grade.COMMAND:
            # A test without a result did not fail: a changed file may break its runner, and so may the work.
            covered = [test for test in verdict.proving if self._covers(test) and _tells_about(test, result)]
            if not self._is_near:
                self._unaltered |= set(verdict.proving).difference(covered)
            if not covered or (_is_go(files) and not any(test in result.tests for test in covered)):
                # Without any of their results, Go could not build the changed files.
                return ControlOutcome.UNALTERED
            passing = {test for test in covered if result.tests.get(test) == PASSED}
            if self._is_near:
                # A probed test of JavaScript fails at its end, whatever its assertions do.
                assertions = Assertions(result.tests)
                passing |= {test for test in covered if ProbeOutcome.PASSED in assertions.of(test)}
            self._passing |= passing
            passes = bool(passing)
        else:
            passes = result.exited_with_0
        return ControlOutcome.PASSED if passes else ControlOutcome.FAILED

    def controlled(self, tests: tuple[str, ...]) -> ControlledProof:
        """Which of these tests passed with a changed expectation, and in which nothing could be changed."""
        vacuous, shown = self._passing.union(self.vacuous), frozenset[str]()
        for rounds in self._programs.values():
            shown |= rounds.failing
        return ControlledProof(
            vacuous=tuple(test for test in tests if test in vacuous),
            unaltered=tuple(test for test in tests if test in self._unaltered and test not in vacuous | shown),
        )

    def includes(self, test: str) -> bool:
        """Whether the file of a test was to be inverted."""
        files = {path for paths in self._files.values() for path in paths}
        return bool(files.intersection(_files_of(test))) or (
            not _names_a_file(test) and any(path.endswith(GO_TESTS) for path in files)
        )

    def starts_programs(self, tests: Iterable[str]) -> bool:
        """Whether one of these tests starts a program whose expectations can change."""
        return any(rounds.concerns(test) for test in tests for rounds in self._programs.values())

    @property
    def program_files(self) -> tuple[str, ...]:
        """The files of the tests whose programs are changed in this run."""
        return tuple(dict.fromkeys(path for rounds in self._programs.values() for path in rounds.files))

    @property
    def untried(self) -> dict[str, int]:
        """The commands with expectations for which there was no time, and how many these are."""
        counts = {name: rounds.untried for name, rounds in self._programs.items()}
        for name, silent in self._silent.items():
            counts[name] = counts.get(name, 0) + silent.untried
        return {name: count for name, count in counts.items() if count}

    @property
    def vacuous(self) -> tuple[str, ...]:
        """The tests that passed although each expectation of a program that they start was changed."""
        return tuple(sorted(frozenset[str]().union(*(rounds.vacuous for rounds in self._programs.values()))))

    def passing(self, tests: Iterable[str], result: TreeResult) -> tuple[str, ...]:
        """The tests that passed although their expectation was changed."""
        return tuple(test for test in tests if result.tests.get(test) == PASSED and self._covers(test))

    @property
    def assertions(self) -> Spans:
        """The assertions of the probed files."""
        return self._probed

    def has_failing_assertions(self, tests: Iterable[str], result: TreeResult) -> bool:
        """Whether each of these tests that is probed has an assertion that failed with a changed expectation."""
        assertions = Assertions(result.tests)
        return all(assertions.within(test) - {ProbeOutcome.PASSED} for test in tests if self._is_probed(test))

    def _is_probed(self, test: str) -> bool:
        files = self._probed.keys() & set(_files_of(test))
        return test in self._in_javascript or self._is_of_go(test) or any(path.endswith(".py") for path in files)

    def _changed(self, path: str, source: bytes, repo: Path) -> Inverted | None:
        """The file with changed expectations; None if none could be changed."""
        if self._is_near:
            return self._changed_slightly(path, source)
        has_probes = self.probes is not Probing.NONE
        if has_probes and path.endswith(SUFFIXES):
            in_javascript = self._probed_javascript(path, source, is_near=False)
            if in_javascript is not None:
                return in_javascript
        if self.probes is Probing.ALL and path.endswith(GO_TESTS):
            in_go = self._probed_go(path, source, repo)
            if in_go is not None:
                return in_go
        can_probe = has_probes and path.endswith(".py")
        probed = probe_python(path, source, salt=self._salt, soft=self._soft) if can_probe else None
        if probed is not None and probed.tests:
            self._probed[path] = probed.assertions
            probes = probes_name(self._salt)
            return Inverted(with_time_limit(probed.source, probed.tests, self._test_s, probes=probes), probed.tests)
        return self._limited(path, invert(path, source, salt=self._salt, helpers=self._helpers(path, source, repo)))

    def _helpers(self, path: str, source: bytes, repo: Path) -> Mapping[str, HandedValue]:
        def read(file: str) -> bytes:
            place = own_file(repo, file)
            return place.read_bytes() if place is not None else b""

        return helper_calls(path, source, frozenset(self._judges), read) if path.endswith(".py") else {}

    def _changed_slightly(self, path: str, source: bytes) -> Inverted | None:
        """The same with expectations that differ only slightly. No assertion hides the next one where that is known."""
        if path.endswith(SUFFIXES):
            in_javascript = self._probed_javascript(path, source, is_near=True)
            if in_javascript is not None:
                return in_javascript
        return self._limited(path, invert(path, source, salt=self._salt, is_near=True))

    def _probed_javascript(self, path: str, source: bytes, *, is_near: bool) -> Inverted | None:
        probed = probe_javascript(path, source, salt=self._salt, is_near=is_near, soft=self._soft)
        if probed is None or not probed.altered:
            return None
        self._probed[path] = {}
        self._in_javascript |= {f"{path}::{test}" for test in probed.probed}
        return probed

    def _probed_go(self, path: str, source: bytes, repo: Path) -> Inverted | None:
        around = (repo / path).parent.glob(f"*{GO_TESTS}")
        helpers = (functions_of(place.read_bytes()) for place in around if place.is_file())
        known = frozenset[str]().union(*helpers)
        probed = probe_go(path, source, salt=self._salt, helpers=known, soft=self._soft)
        if probed is not None:
            self._probed[path] = probed.assertions
            self._in_go |= probed.probed
        return probed

    def could_not_build(self, tests: Iterable[str], result: TreeResult) -> bool:
        """Whether Go reports nothing but a failure about a package with one of these tests, which is probed."""
        packages = {test.partition("::")[0] for test in tests if self._is_of_go(test)}
        known = {test.partition("::")[0] for test in result.tests if "::" in test}
        return any(package not in known and result.tests.get(package) == FAILED for package in packages)

    def lost_tests(self, tests: Iterable[str], result: TreeResult) -> bool:
        """Whether a probed test of Go has no result: one that goes on may end the program with all its tests."""
        tops = (test for test in tests if self._is_of_go(test) and "/" not in test.partition("::")[2])
        return any(test not in result.tests for test in tops)

    def _is_of_go(self, test: str) -> bool:
        return not _names_a_file(test) and test.partition("::")[2].partition("/")[0] in self._in_go

    def _limited(self, path: str, inverted: Inverted) -> Inverted | None:
        if path.endswith(".py"):
            inverted = replace(inverted, source=with_time_limit(inverted.source, inverted.altered, self._test_s))
        return inverted if inverted.altered else None

    def _covers(self, test: str) -> bool:
        """Whether the expectation of a test was changed, by its id."""
        file = next((path for path in _files_of(test) if path in self._inverted), None)
        if file is None:
            go = (inverted for path, inverted in self._inverted.items() if path.endswith(GO_TESTS))
            return any(test.partition("::")[2] in inverted.altered for inverted in go)
        suite, _, name = test.partition("::")
        module = file.removesuffix(".py").replace("/", ".")
        if suite != file and suite.startswith(f"{module}."):
            name = f"{suite.removeprefix(module)[1:]}.{name}"
        inverted = self._inverted[file]
        # Tests of Python are named alike. Those of JavaScript are told apart by what could not be altered.
        short = name.partition("[")[0].replace("::", "." if file.endswith(".py") else " > ")
        if file.endswith(".py"):
            return short in inverted.altered or example_id(file, name) in inverted.altered
        return short not in inverted.unaltered


def _tells_about(test: str, result: TreeResult) -> bool:
    """Whether a run shows what became of a test. A time-out counts as failing."""
    return result.timed_out or result.has(test)


def _is_go(files: tuple[str, ...]) -> bool:
    return all(path.endswith(GO_TESTS) for path in files)


def _go_files(tests: tuple[str, ...], judges: tuple[str, ...]) -> tuple[str, ...]:
    """The test files of Go, if some of the tests may be of Go: their ids name a package, not a file."""
    may_be_go = any(test.partition("::")[2].startswith("Test") and not _names_a_file(test) for test in tests)
    return tuple(path for path in judges if path.endswith(GO_TESTS)) if may_be_go else ()


def _judged_in(cwd: str, command: str, judges: tuple[str, ...]) -> tuple[str, ...]:
    """The files that a command runs, if it starts in this folder."""
    folder = relative_folder(cwd)
    if not folder:
        return judged_by(command, judges)
    inside = (path.removeprefix(f"{folder}/") for path in judges if path.startswith(f"{folder}/"))
    return tuple(f"{folder}/{path}" for path in judged_by(command, inside))


def _files_of(test: str) -> tuple[str, ...]:
    """The files that may hold a test, by its id. JUnit files of other tools name a module in place of its file."""
    suite = test.partition("::")[0]
    if _names_a_file(test):
        return (suite,)
    parts = suite.split(".")
    return tuple("/".join(parts[:length]) + ".py" for length in range(1, len(parts) + 1))


def _names_a_file(test: str) -> bool:
    return test.partition("::")[0].endswith((".py", *SUFFIXES))
