"""Runs checks that prove something again with something altered: their expectations, or the functions of the work.

A check that still passes can't fail any more. Where nothing could be altered, only the base shows that it can fail.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from pathlib import Path

import msgspec

from loopwright.evidence.model import Evidence
from loopwright.judging.controls.model import ControlOutcome, worst
from loopwright.judging.controls.shell import expects_failure
from loopwright.judging.proof_sentences import ControlledProof, Ignored, together
from loopwright.judging.same_tests import old_name
from loopwright.judging.scope import WorkScope
from loopwright.judging.verdict import PASSED, CommandVerdict, Grade
from loopwright.kernel.process import Cancellation
from loopwright.loop.altered_files import (
    Alteration,
    AlteredFiles,
    emptied_files,
    judges_itself,
    outcome_of_raising,
    raising_files,
    stopped_files,
)
from loopwright.loop.inverted_tests import InvertedTests, longest_s
from loopwright.loop.model import Tree
from loopwright.loop.moved_expectations import moved_expectations
from loopwright.loop.pinned_tests import tests_by_moved_constants
from loopwright.loop.split_work import ChangedCode, SplitWork
from loopwright.loop.test_runs import can_select, reported, result_of_step
from loopwright.loop.text_checks import ChangedText, outcome_of_text
from loopwright.loop.watched_tests import proving_functions
from loopwright.loop.worker_sandbox import base_sandbox, with_work
from loopwright.runner.request import Finished, Observer
from loopwright.sandbox.port import SandboxRequest
from loopwright.stages.building.checking import ControlRecord, Hidden, hidden_folder, run_checks
from loopwright.stages.building.controls import reporting
from loopwright.stages.context import Context
from loopwright.wording.catalogue import few
from loopwright.workflow.model import Workflow
from loopwright.workflow.slices import Check
from loopwright.workspace.settings_model import TestCommand

# The suffixes of the runs.
_INVERTED = "broken-judges"
_RAISING = "raising-functions"
_WATCHED = "watched-tests"
_PINNED = "pinned-constants"
_TEXT = "altered-text"
_EMPTIED = "emptied-programs"


class JudgedTree(msgspec.Struct, frozen=True, kw_only=True):
    """The tree that the checks accept, with their verdicts; `judges` are files that the work may not change."""

    tree: Tree
    progress: Path
    verdicts: Mapping[str, CommandVerdict]
    # The run of the checks on the tree: it says how long each takes.
    evidence: Evidence
    judges: tuple[str, ...]
    # The changed files that may hold functions of the work.
    code: tuple[ChangedCode, ...]
    scope: WorkScope
    # The checks whose only proof are new tests, and the files of new tests.
    resting_on_new: frozenset[str] = frozenset()
    new_tests: tuple[str, ...] = ()

    def record(self, control: str) -> ControlRecord:
        """What the evidence of a control on this tree says: it is compared with what the run on the tree is."""
        return ControlRecord(name=control, base_run=self.evidence.base_run, scope=self.scope)


class AlteredCheck(msgspec.Struct, frozen=True):
    """What became of a check when something was altered, and in which run; without a run nothing was altered."""

    outcome: ControlOutcome
    run_id: str = ""
    # Expectations that the work changed, by values of the source, each with its test.
    moved: tuple[str, ...] = ()
    # Which of its tests can't fail, or why the whole check can't.
    controlled: ControlledProof = ControlledProof()

    @property
    def proves_nothing(self) -> bool:
        """Whether the check also passes with changed expectations, or only because the work changed them."""
        return self.outcome in (ControlOutcome.PASSED, ControlOutcome.SILENCED) or bool(self.moved)

    def why_it_passes(self, name: str) -> str:
        """Why a check that proves nothing passes, for the agent."""
        if self.moved:
            return f"{name} passes only because you changed, in the source, what its tests expect: {few(self.moved)}"
        if self.outcome is ControlOutcome.SILENCED:
            return f"{name} passes only with comments that you added: correct the code instead"
        if self.controlled.vacuous:
            tests = few(self.controlled.vacuous)
            return f"{name} passes also when the expectations of its tests are changed: {tests}"
        if self.controlled.ignores is Ignored.FUNCTIONS:
            return f"{name} passes also when your changed functions raise"
        if self.controlled.ignores is Ignored.PROGRAMS:
            return f"{name} passes also when the programs that you changed do nothing"
        return f"{name} passes also when its own expectations are changed"


NOT_ALTERED = AlteredCheck(ControlOutcome.UNALTERED)


def worst_of(checks: Collection[AlteredCheck]) -> AlteredCheck:
    """The outcome that counts, with its run, and what all controls found out."""
    outcome = worst([check.outcome for check in checks])
    found = next(check for check in checks if check.outcome is outcome)
    return msgspec.structs.replace(found, controlled=together(check.controlled for check in checks))


class AlteredChecks:
    """The controls of the checks of one build."""

    def __init__(
        self,
        context: Context,
        workflow: Workflow,
        checks: tuple[Check, ...],
        judged: JudgedTree,
        cancellation: Cancellation,
    ) -> None:
        self._context = context
        self._workflow = workflow
        self._checks = checks
        self._judged = judged
        self._cancellation = cancellation
        # The run with the last outcome of each check.
        self._inverted_runs: dict[str, str] = {}
        self._controlled: dict[str, ControlledProof] = {}
        self._raising_run = ""
        # The checks with expectations for which there was no time.
        self._untried: frozenset[str] = frozenset()

    def outcomes(self) -> dict[str, AlteredCheck]:
        """What became of each check: the worst outcome of its controls that altered something."""
        inverted = self._inverted()
        raising = {name: AlteredCheck(outcome, self._raising_run) for name, outcome in self._raising(inverted).items()}
        altered = raising | self._text(inverted, raising) | self._stopped()
        emptied = self._emptied(name for name, check in altered.items() if check.proves_nothing)
        worst_found = {
            check.id: worst_of(
                (
                    self._by_expectations(check, inverted[check.id]),
                    self._by_functions(altered.get(check.id, NOT_ALTERED)),
                    emptied.get(check.id, NOT_ALTERED),
                )
            )
            for check in self._checks
        }
        # A check with expectations that were not tried has not shown that it can fail.
        untried = {name for name in self._untried if worst_found[name].outcome is ControlOutcome.FAILED}
        return worst_found | {
            name: AlteredCheck(ControlOutcome.UNALTERED, controlled=worst_found[name].controlled) for name in untried
        }

    def _by_expectations(self, check: Check, outcome: ControlOutcome) -> AlteredCheck:
        controlled = self._controlled.get(check.id, ControlledProof())
        if outcome is ControlOutcome.PASSED and not controlled.vacuous:
            controlled |= ControlledProof(ignores=Ignored.EXPECTATIONS)
        return AlteredCheck(outcome, self._inverted_runs.get(check.id, ""), controlled=controlled)

    @staticmethod
    def _by_functions(check: AlteredCheck) -> AlteredCheck:
        if check.outcome is not ControlOutcome.PASSED:
            return check
        return msgspec.structs.replace(check, controlled=ControlledProof(ignores=Ignored.FUNCTIONS))

    def with_moved(self, outcomes: Mapping[str, AlteredCheck], split: SplitWork) -> dict[str, AlteredCheck]:
        """The outcomes with the expectations that the work moved. Hidden tests are left out: the base lacks them."""
        watched = (
            check for check in self._checks if not check.hidden and outcomes[check.id].outcome is ControlOutcome.FAILED
        )
        return {**outcomes, **{check.id: self._watched(check, outcomes[check.id], split) for check in watched}}

    def _watched(self, check: Check, outcome: AlteredCheck, split: SplitWork) -> AlteredCheck:
        progress, rests_on = self._judged.progress, self._judged.verdicts[check.id].by_earlier_tests
        if rests_on is None:
            return outcome
        earlier = tuple(old_name(test, split.names) for test in rests_on.proving)
        command = TestCommand(command=check.command, cwd=check.cwd, network=check.network)
        proving = proving_functions(earlier, (command,), split.judges)
        request = self._context.sandbox_request()
        runs: list[Evidence] = []

        def run(tree: Tree | None, observer: Observer, only: tuple[str, ...]) -> None:
            sandbox = (
                base_sandbox(request, split.whole, progress) if tree is None else with_work(request, tree, progress)
            )
            record = ControlRecord(name=_WATCHED) if tree is None else self._judged.record(_WATCHED)
            runs.append(self._run_in(sandbox, (check,), record, observer, only).evidence)

        def run_pinned(observer: Observer) -> Mapping[str, str]:
            work = with_work(request, split.without_new_tests or split.verified, progress)
            record = self._judged.record(_PINNED)
            runs.append(self._run_in(work, (check,), record, observer, ()).evidence)
            return result_of_step(runs[-1], check.id).tests

        moved = moved_expectations(split, proving, progress, request.project, run)
        moved += tests_by_moved_constants(split, earlier, progress, request.project, run_pinned)
        return AlteredCheck(outcome.outcome, runs[-1].run_id, moved) if moved else outcome

    def _inverted(self) -> dict[str, ControlOutcome]:
        """The checks with changed expectations in their own tests."""
        judged = self._judged
        inverted = InvertedTests(self._hidden(), before_s=sum(step.duration_s for step in judged.evidence.steps))
        commands = {
            check.id: inverted.add(check.id, check.command, judged.verdicts[check.id], judged.judges, check.cwd)
            for check in self._checks
        }
        changed = tuple(
            msgspec.structs.replace(check, command=command)
            for check in self._checks
            if (command := commands[check.id]) is not None
        )
        if not changed:
            return dict.fromkeys(commands, ControlOutcome.UNALTERED)
        only = inverted.files if can_select(judged.evidence) else ()
        evidence = self._run(changed, _INVERTED, inverted, only).evidence
        if len(reported(evidence, only)) < len(only) and all(step.came_to_its_end for step in evidence.steps):
            # A file without a result says nothing: perhaps a command does not let it be run by itself.
            only = ()
            evidence = self._run(changed, _INVERTED, inverted).evidence
        self._inverted_runs = dict.fromkeys(commands, evidence.run_id)
        outcomes = {
            name: inverted.outcome(name, result_of_step(evidence, name), judged.verdicts[name]) for name in commands
        }
        while again := inverted.again():
            changed = tuple(
                msgspec.structs.replace(check, command=again[check.id]) for check in self._checks if check.id in again
            )
            evidence = self._run(changed, _INVERTED, inverted, only).evidence
            self._inverted_runs |= dict.fromkeys(again, evidence.run_id)
            for name in again:
                outcomes[name] = inverted.outcome(name, result_of_step(evidence, name), judged.verdicts[name])
        self._untried = frozenset(inverted.untried)
        self._controlled = {name: inverted.controlled(judged.verdicts[name].proving) for name in commands}
        return outcomes

    def _raising(self, inverted: Mapping[str, ControlOutcome]) -> dict[str, ControlOutcome]:
        """The commands without a report that prove something, with raising functions in the work."""
        silent, files = self._silent(), raising_files(self._judged.code)
        if not silent or not files:
            return {}
        passing: dict[Alteration, frozenset[str]] = {}

        def passes(check: Check, alteration: Alteration) -> bool:
            # All commands run together, and only if one of them needs the run.
            if alteration not in passing:
                finished = self._run(silent, _RAISING, AlteredFiles(files, alteration, self._hidden()))
                self._raising_run = self._raising_run or finished.evidence.run_id
                passing[alteration] = _passing(finished, silent)
            return check.id in passing[alteration]

        return {
            check.id: outcome_of_raising(
                partial(passes, check),
                can_fail=inverted[check.id] is ControlOutcome.FAILED,
                expects_failure=expects_failure(check.command),
            )
            for check in silent
        }

    def _stopped(self) -> dict[str, AlteredCheck]:
        """The checks whose new tests all pass when the changed functions end their test: they never run the work."""
        judged, files = self._judged, stopped_files(self._judged.code)
        checks = tuple(check for check in self._checks if check.id in judged.resting_on_new)
        if not checks or not files:
            return {}
        only = judged.new_tests if can_select(judged.evidence) else ()
        stopped = AlteredFiles(files, Alteration.STOPPED_AT_ENTRY, self._hidden())
        evidence = self._run(checks, _RAISING, stopped, only).evidence

        def passes(name: str) -> bool:
            tests = result_of_step(evidence, name).tests
            return all(tests.get(test) == PASSED for test in judged.verdicts[name].proving)

        return {check.id: AlteredCheck(ControlOutcome.PASSED, evidence.run_id) for check in checks if passes(check.id)}

    def _text(
        self, inverted: Mapping[str, ControlOutcome], raising: Mapping[str, AlteredCheck]
    ) -> dict[str, AlteredCheck]:
        """The commands without a report that prove something, with altered text of the work."""
        silent = tuple(check for check in self._silent() if inverted[check.id] is not ControlOutcome.PASSED)
        if not silent:
            return {}
        text = ChangedText(self._judged.code)
        ran: dict[Alteration, Finished] = {}

        def passes(check: Check, alteration: Alteration) -> bool:
            if alteration not in ran:
                ran[alteration] = self._run(silent, _TEXT, AlteredFiles(text.files, alteration, self._hidden()))
            return check.id in _passing(ran[alteration], silent)

        outcomes = {}
        for check in silent:
            before = raising.get(check.id, NOT_ALTERED)
            # Without a result of raising functions there are none.
            can_be_static = check.id not in raising and inverted[check.id] is ControlOutcome.UNALTERED
            outcome = outcome_of_text(partial(passes, check), text, raising=before.outcome, can_be_static=can_be_static)
            if outcome is not before.outcome:
                is_silenced = outcome is ControlOutcome.SILENCED
                decisive = ran[Alteration.WITHOUT_COMMENTS if is_silenced else Alteration.UNREADABLE]
                outcomes[check.id] = AlteredCheck(outcome, decisive.evidence.run_id)
        return outcomes

    def _emptied(self, useless: Iterable[str]) -> dict[str, AlteredCheck]:
        """The commands without a report that rest on the exit code of the changed programs alone."""
        left_out, code, ran = frozenset(useless), self._judged.code, dict[Alteration, Finished]()
        silent = tuple(check for check in self._silent() if check.id not in left_out)
        files = emptied_files(code)

        def passes(check: Check, alteration: Alteration) -> bool:
            if alteration not in ran:
                ran[alteration] = self._run(silent, _EMPTIED, AlteredFiles(files, alteration, self._hidden()))
            return check.id in _passing(ran[alteration], silent)

        found = [
            check
            for check in silent
            if not expects_failure(check.command) and judges_itself(partial(passes, check), files)
        ]
        controlled = ControlledProof(ignores=Ignored.PROGRAMS)
        return {
            check.id: AlteredCheck(
                ControlOutcome.PASSED, ran[Alteration.EMPTIED].evidence.run_id, controlled=controlled
            )
            for check in found
        }

    def _silent(self) -> tuple[Check, ...]:
        """The commands without a report that prove something."""
        verdicts = self._judged.verdicts
        return tuple(
            check for check in self._checks if verdicts[check.id].proves and verdicts[check.id].grade is Grade.COMMAND
        )

    def _run(self, checks: tuple[Check, ...], name: str, observer: Observer, only: tuple[str, ...] = ()) -> Finished:
        work = with_work(self._context.sandbox_request(), self._judged.tree, self._judged.progress)
        return self._run_in(work, checks, self._judged.record(name), observer, only)

    def _run_in(
        self,
        sandbox: SandboxRequest,
        checks: tuple[Check, ...],
        record: ControlRecord,
        observer: Observer,
        only: tuple[str, ...],
    ) -> Finished:
        took_s = {step.id: step.duration_s for step in self._judged.evidence.steps}
        limited = tuple(
            msgspec.structs.replace(check, timeout_s=longest_s(took_s.get(check.id, 0.0))) for check in checks
        )
        return run_checks(
            self._context, self._workflow.slug, limited, name=record.name, sandbox=sandbox,
            cancellation=self._cancellation, observer=reporting(self._context, self._workflow, observer, only),
            control=record,
        )  # fmt: skip

    def _hidden(self) -> Hidden:
        return Hidden(hidden_folder(self._context, self._workflow.slug), self._checks)


def _passing(finished: Finished, checks: tuple[Check, ...]) -> frozenset[str]:
    """The checks that exited with 0."""
    results = {check.id: result_of_step(finished.evidence, check.id) for check in checks}
    return frozenset(name for name, result in results.items() if result.exited_with_0)
