"""Runs the test commands with changed tests, or with changed functions of the work: what still passes can't fail."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

import msgspec
from msgspec.structs import replace

from loopwright.judging.controls.model import ControlOutcome, worst
from loopwright.judging.controls.probe_records import (
    Assertions,
    cut_short,
    dead_proofs,
    swallowed_assertions,
    weakened_assertions,
    with_known_names,
)
from loopwright.judging.controls.shell import expects_failure
from loopwright.judging.proof_sentences import ControlledProof, Ignored
from loopwright.judging.same_tests import new_name, old_name
from loopwright.judging.verdict import FAILED, PASSED, CommandVerdict, Grade
from loopwright.loop.altered_files import (
    Alteration,
    AlteredFiles,
    emptied_files,
    judges_itself,
    outcome_of_raising,
    raising_files,
    stopped_files,
)
from loopwright.loop.inverted_tests import InvertedTests, Probing
from loopwright.loop.model import Tree
from loopwright.loop.split_work import SplitWork, control_trees
from loopwright.loop.test_runs import TestRun, files_of
from loopwright.loop.text_checks import ChangedText, outcome_of_text
from loopwright.runner.request import Observer
from loopwright.workspace.settings_model import TestCommand

_PROBED, _UNPROBED, _INVERTED, _PROGRAMS, _RAISING = (
    "probed-tests", "probed-tests-without-go", "inverted-tests", "inverted-programs", "raising-functions",
)  # fmt: skip
_TEXT, _EMPTIED = "altered-text", "emptied-programs"
# A run in which tests that fail on the base do not go on.
_STOPPING = "-that-stop"
# In place of the position of an assertion: the test as a whole.
_WHOLE = ""


class RunAltered(Protocol):
    """Runs the test commands on a tree with something altered; None is the base."""

    def __call__(
        self,
        tree: Tree | None,
        control: str,
        observer: Observer,
        *,
        before_s: float,
        only: tuple[str, ...] = (),
        commands: tuple[TestCommand, ...] | None = None,
    ) -> TestRun:
        """The run. `only` are the test files that matter; None: the commands as they are."""
        ...


class InvertedRun(msgspec.Struct, frozen=True):
    """A run of earlier tests with changed expectations."""

    inverted: InvertedTests
    run: TestRun
    # The same on the base.
    on_base: TestRun | None = None

    def shows_passing(self, tests: Iterable[str]) -> bool:
        """Whether each of these tests passed up to its end, where every probed test fails: all its assertions held."""
        statuses = self.run.tree_result.tests
        assertions = Assertions(statuses)
        return all(statuses.get(test) == FAILED and assertions.came_to_end(test) for test in tests)

    def tells_about(self, verdict: CommandVerdict) -> bool:
        """Whether the run has a result for each test that proves something, and no test needs more runs."""
        tests, proving = self.run.tree_result.tests, verdict.proving
        has_results = bool(proving) and all(test in tests and self.inverted.includes(test) for test in proving)
        return (
            has_results
            and self.inverted.has_failing_assertions(proving, self.run.tree_result)
            and not self.inverted.starts_programs(proving)
        )


class AlteredRuns:
    """Runs the commands on the trees of one work, with something altered."""

    def __init__(self, run: RunAltered, commands: tuple[TestCommand, ...], split: SplitWork, base: TestRun) -> None:
        self._run = run
        self._commands = commands
        self._split = split
        self._base = base
        self._base_s = base.duration_ms / 1000
        # How many expectations there was no time to change, and what else the controls found out.
        self.untried = 0
        self.controlled = ControlledProof()
        # New tests could switch the control of earlier tests off.
        self._earlier_tree = split.without_new_tests or split.verified

    def invert_earlier_tests(self) -> InvertedRun | None:
        """Run all tests of the base with changed expectations, on both trees; None if none of them names its file."""
        tests = tuple(self._base.tree_result.tests)
        seen = self._invert_both(tests, Probing.ALL)
        return self._invert_both(tests, Probing.ALL_BUT_GO) if seen is not None and self._is_unbuilt(seen) else seen

    def _invert_both(self, tests: tuple[str, ...], probes: Probing) -> InvertedRun | None:
        work = tuple(new_name(test, self._split.names) for test in tests)
        on_work = self._probe(self._earlier_tree, work, probes=probes)
        on_base = self._probe_base(tests, probes=probes)
        return replace(on_work, on_base=on_base.run) if on_work is not None and on_base is not None else None

    def _is_unbuilt(self, seen: InvertedRun) -> bool:
        """Whether Go could not build tests on one of the trees: perhaps it can without probes."""
        runs = [run for run in (seen.run, seen.on_base) if run is not None]
        tests = self._base.tree_result.tests
        return any(seen.inverted.could_not_build(tests, run.tree_result) for run in runs)

    def weakened(self, tests: tuple[str, ...], seen: InvertedRun) -> tuple[str, ...]:
        """Those of the earlier tests that could fail before the work, and can't fail now; with the line if known."""
        programs = self._with_vacuous_programs(self._earlier_tree, tests, seen)
        by_programs = self._programs_weakened(programs, seen.inverted.probes)
        return tuple(dict.fromkeys((*self._own_weakened(tests, seen), *by_programs)))

    def _own_weakened(self, tests: tuple[str, ...], seen: InvertedRun) -> tuple[str, ...]:
        """Those of these tests that can't fail by their own expectations any more."""
        suspects = self._suspects(tests, seen)
        if not suspects:
            return ()
        # Other runs at the same time may have disturbed the first ones, and tests may use random values.
        names, probes = tuple(suspects), seen.inverted.probes
        old_names = tuple(self._old_names(names).values())
        on_work = self._probe(self._earlier_tree, names, probes=probes, selects=True)
        on_base = self._probe_base(old_names, probes=probes, selects=True, commands=self._commands)
        if on_work is None or on_base is None:
            return ()
        again = self._suspects(names, replace(on_work, on_base=on_base.run))
        return tuple(
            _named(test, place)
            for test, places in suspects.items()
            for place in [place for place in places if place in again.get(test, ())][:1]
        )

    def _suspects(self, tests: tuple[str, ...], seen: InvertedRun) -> dict[str, tuple[str, ...]]:
        """The tests that seem weakened, with the places of their assertions that lost their effect."""
        if seen.on_base is None:
            return {}
        work, base = seen.run.tree_result, seen.on_base.tree_result
        silent = [test for test in tests if test not in work.tests] if work.ended else []
        passing = [
            test
            for test, old in self._old_names((*seen.inverted.passing(tests, work), *silent)).items()
            if base.tests.get(old) == FAILED
        ]
        before, after, spans = Assertions(base.tests), Assertions(work.tests), seen.inverted.assertions
        moved = frozenset((*self._split.signed_files, *self._split.same_tests))
        assertions = weakened_assertions(before, after, frozenset(tests), moved)
        fixed = [test for test in tests if self._base.tree_result.is_failing(test)]
        dead = swallowed_assertions(before, after, fixed) | dead_proofs(before, after, fixed, spans)
        known = cut_short(before, after, with_known_names(tests, work.tests))
        return assertions | dead | dict.fromkeys((*passing, *known), (_WHOLE,))

    def _programs_weakened(self, tests: tuple[str, ...], probes: Probing) -> tuple[str, ...]:
        """Those of these tests that start programs that can fail on the base, and can't fail on the work."""
        old_names = self._old_names(tests)
        old_tests = tuple(old_names.values())
        # The programs are found in a sandbox, so an earlier run does not count.
        on_base = self._probe_base(old_tests, probes=probes, selects=True, commands=self._commands)
        if on_base is None:
            return ()
        excused = self._with_vacuous_programs(None, old_tests, on_base)
        return tuple(test for test, old in old_names.items() if old not in excused)

    def _old_names(self, tests: tuple[str, ...]) -> dict[str, str]:
        """On the base a moved test has its old name."""
        return {test: old_name(test, self._split.names) for test in tests}

    def _with_vacuous_programs(self, tree: Tree | None, tests: tuple[str, ...], seen: InvertedRun) -> tuple[str, ...]:
        """The tests that pass although programs that they start have changed expectations."""
        inverted, verdict = seen.inverted, CommandVerdict(proving=tests)
        result, ran = seen.run.tree_result, [str(number) for number in range(len(self._commands))]
        while ran:
            for name in ran:
                inverted.outcome(name, result, verdict)
            ran = list(inverted.again())
            commands = tuple(self._commands[int(name)] for name in ran)
            if commands:
                only, before_s = inverted.program_files, self._base_s
                run = self._run(tree, _PROGRAMS, inverted, before_s=before_s, only=only, commands=commands)
                result = run.tree_result
        return tuple(test for test in tests if test in inverted.vacuous)

    def outcome(self, verdict: CommandVerdict, verified: TestRun, seen: InvertedRun | None) -> ControlOutcome:
        """What became of the tests that prove something when their expectations, or the work, were altered."""
        parts = control_trees(self._split, verdict)
        outcome = worst([self._outcome_on(tree, part, verified, seen) for tree, part in parts])
        if outcome is ControlOutcome.PASSED or not verdict.rests_on_new_tests:
            return outcome
        return worst([outcome, self._stopped(verdict, verified)])

    def _stopped(self, verdict: CommandVerdict, verified: TestRun) -> ControlOutcome:
        """What new tests do when the changed functions end their test: tests that all pass never run the work."""
        files, before_s = stopped_files(self._split.code), verified.duration_ms / 1000
        if not files:
            return ControlOutcome.UNALTERED
        stopped = AlteredFiles(files, Alteration.STOPPED_AT_ENTRY)
        run = self._run(self._split.verified, _RAISING, stopped, before_s=before_s, only=self._split.new_tests)
        if not all(run.tree_result.tests.get(test) == PASSED for test in verdict.proving):
            return ControlOutcome.UNALTERED
        self.controlled |= ControlledProof(unrun=verdict.proving)
        return ControlOutcome.PASSED

    def _outcome_on(
        self, tree: Tree, verdict: CommandVerdict, verified: TestRun, seen: InvertedRun | None
    ) -> ControlOutcome:
        if seen is not None and tree.tree == self._earlier_tree.tree and seen.tells_about(verdict):
            names = map(str, range(len(self._commands)))
            known = worst([seen.inverted.outcome(name, seen.run.tree_result, verdict) for name in names])
            self.controlled |= seen.inverted.controlled(verdict.proving)
            if known is ControlOutcome.PASSED:
                return known
            # A probe stands next to the right expectation, so work that reads its test still finds that.
            return worst([known, self._inverted(tree, verdict, verified, only_near=True)])
        inverted = self._inverted(tree, verdict, verified)
        if verdict.grade is not Grade.COMMAND:
            return inverted
        if inverted is ControlOutcome.PASSED:
            self.controlled |= ControlledProof(ignores=Ignored.EXPECTATIONS)
            return inverted
        raising = self._raising(tree, verified, can_fail=inverted is ControlOutcome.FAILED)
        text = self._text(tree, verified, inverted, raising)
        if text is ControlOutcome.PASSED:
            self.controlled |= ControlledProof(ignores=Ignored.FUNCTIONS)
        elif text is not ControlOutcome.SILENCED and self._passes_emptied(tree, verified):
            self.controlled |= ControlledProof(ignores=Ignored.PROGRAMS)
            return ControlOutcome.PASSED
        return inverted if text is ControlOutcome.UNALTERED else text

    def _passes_emptied(self, tree: Tree, verified: TestRun) -> bool:
        """Whether commands without a report rest on the exit code of the changed programs alone."""
        before_s, files = verified.duration_ms / 1000, emptied_files(self._split.code)
        # A program that does nothing gives such a command the failure that it expects.
        if any(expects_failure(command.command) for command in self._commands):
            return False

        def passes(alteration: Alteration) -> bool:
            return self._run(tree, _EMPTIED, AlteredFiles(files, alteration), before_s=before_s).exited_with_0

        return judges_itself(passes, files)

    def _reads_text(self, tree: Tree, text: ChangedText, before_s: float) -> Callable[[Alteration], bool]:
        def passes(alteration: Alteration) -> bool:
            return self._run(tree, _TEXT, AlteredFiles(text.files, alteration), before_s=before_s).exited_with_0

        return passes

    def _inverted(
        self, tree: Tree, verdict: CommandVerdict, verified: TestRun, *, only_near: bool = False
    ) -> ControlOutcome:
        before_s, commands = verified.duration_ms / 1000, self._commands
        inverted = InvertedTests(before_s=before_s, only_near=only_near)
        judges = (*self._split.judges, *self._split.new_tests)
        texts = {
            str(number): inverted.add(str(number), command.command, verdict, judges, command.cwd)
            for number, command in enumerate(commands)
        }
        changed = tuple(
            replace(command, command=text)
            for command, text in zip(commands, texts.values(), strict=True)
            if text is not None
        )
        if not changed:
            return ControlOutcome.UNALTERED
        only = inverted.files
        run = self._run(tree, _INVERTED, inverted, before_s=before_s, commands=changed, only=only)
        if self._base.can_select and run.ended and not all(map(run.reports_on, only)):
            # A file without a result says nothing: perhaps the command does not let it be run by itself.
            only = ()
            run = self._run(tree, _INVERTED, inverted, before_s=before_s, commands=changed)
        outcomes = {inverted.outcome(name, run.tree_result, verdict) for name in texts}
        while again := inverted.again():
            changed = tuple(replace(commands[int(name)], command=text) for name, text in again.items())
            run = self._run(tree, _INVERTED, inverted, before_s=before_s, commands=changed, only=only)
            outcomes |= {inverted.outcome(name, run.tree_result, verdict) for name in again}
        self.untried += sum(inverted.untried.values())
        self.controlled |= inverted.controlled(verdict.proving)
        return worst(outcomes)

    def _raising(self, tree: Tree, verified: TestRun, *, can_fail: bool) -> ControlOutcome:
        """What a command without a report does when the changed functions raise."""
        files, before_s = raising_files(self._split.code), verified.duration_ms / 1000
        if not files:
            return ControlOutcome.UNALTERED

        def passes(alteration: Alteration) -> bool:
            run = self._run(tree, _RAISING, AlteredFiles(files, alteration), before_s=before_s)
            return run.exited_with_0

        negated = any(expects_failure(command.command) for command in self._commands)
        return outcome_of_raising(passes, can_fail=can_fail, expects_failure=negated)

    def _text(self, tree: Tree, verified: TestRun, inverted: ControlOutcome, raising: ControlOutcome) -> ControlOutcome:
        """What a command without a report does when the text of the changed code is altered."""
        text, before_s = ChangedText(self._split.code), verified.duration_ms / 1000
        passes = self._reads_text(tree, text, before_s)
        can_be_static = {inverted, raising} == {ControlOutcome.UNALTERED} and not raising_files(self._split.code)
        return outcome_of_text(passes, text, raising=raising, can_be_static=can_be_static)

    def _probe_base(
        self,
        tests: tuple[str, ...],
        *,
        probes: Probing,
        selects: bool = False,
        commands: tuple[TestCommand, ...] | None = None,
    ) -> InvertedRun | None:
        """Run these tests on the base. There tests that fail go on, unless that ends the run early."""
        base = self._base.tree_result
        soft = frozenset(test for test in tests if base.is_failing(test))
        seen = self._probe(None, tests, probes=probes, selects=selects, commands=commands, soft=soft)
        if seen is None or not soft or (seen.run.ended and not seen.inverted.lost_tests(tests, seen.run.tree_result)):
            return seen
        return self._probe(None, tests, probes=probes, selects=selects, commands=commands)

    def _probe(
        self,
        tree: Tree | None,
        tests: tuple[str, ...],
        *,
        probes: Probing,
        selects: bool = False,
        commands: tuple[TestCommand, ...] | None = None,
        soft: frozenset[str] = frozenset(),
    ) -> InvertedRun | None:
        """Run these tests with changed expectations; None if none of them names its file."""
        inverted = InvertedTests(before_s=self._base_s, probes=probes, soft=soft)
        # Tests of Go name no file: those that moved are in their new files on the work.
        judges = (*self._split.judges, *(self._split.same_tests if tree is not None else ()))
        named = [
            inverted.add_tests(str(number), command.command, tests, judges, command.cwd)
            for number, command in enumerate(self._commands)
        ]
        if not any(named):
            return None
        only = files_of(tests) if selects else ()
        control = _PROBED if probes is Probing.ALL else _UNPROBED
        if tree is None and not soft and any(map(self._base.tree_result.is_failing, tests)):
            control += _STOPPING
        run = self._run(tree, control, inverted, before_s=self._base_s, only=only, commands=commands)
        return InvertedRun(inverted, run)


def _named(test: str, place: str) -> str:
    """A test with the line of its assertion."""
    path, _, position = place.partition(":")
    line = position.partition(":")[0]
    if place == _WHOLE:
        return test
    return f"{test} (line {line})" if test.startswith(f"{path}::") else f"{test} ({path}, line {line})"
