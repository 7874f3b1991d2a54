"""What the checks and tests said about the work of a build, and how the journal records it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
from msgspec.structs import replace

from loopwright.judging.changed_tests import changed_test_lines, with_missing_tests
from loopwright.judging.process_state import changed_state_sentence
from loopwright.judging.proof_sentences import hidden_proof_sentence, proof_sentence
from loopwright.judging.protected_verdict import judge_with_protected
from loopwright.judging.same_tests import with_new_names
from loopwright.judging.verdict import CommandResults, CommandVerdict, Problem, TreeResult, judge_command
from loopwright.kernel.digest import digest_of
from loopwright.loop.proof import LeftOut
from loopwright.loop.split_work import SplitWork
from loopwright.loop.test_runs import result_of_step
from loopwright.loop.work_verdict import WorkVerdict, left_out_of
from loopwright.runner.request import Finished
from loopwright.stages.building.altered_checks import NOT_ALTERED, AlteredCheck
from loopwright.stages.building.built_tree import BuiltTree
from loopwright.workflow.slices import Check
from loopwright.workflow.verification import PROCESS_STATE, CheckRun, ProjectTests, ProtectedChanges

MOST_NAMES = 50
Verdicts = dict[str, CommandVerdict]


class JudgedChecks(msgspec.Struct, frozen=True, kw_only=True):
    """What the checks say about the work: without its protected changes, and with them."""

    verified: Finished
    verdicts: Verdicts
    whole: Finished | None = None
    with_protected: Verdicts = {}
    # Tests of the base that pass only with the doubtful changes of the work.
    doubtful_tests: tuple[str, ...] = ()
    # The changed tests on the source of the base; None if no run tells.
    changed_on_base: TreeResult | None = None
    # What the checks change in the state of their processes on the work, and not on the base.
    changed_state: tuple[str, ...] = ()

    @property
    def passes_without(self) -> bool:
        """Whether the checks accept the work without its protected changes."""
        return all(verdict.accepts for verdict in self.verdicts.values())

    @property
    def passes_only_with(self) -> bool:
        """Whether the checks accept the work only with its protected changes."""
        return not self.passes_without and self.passes_with

    @property
    def proven_only_with(self) -> tuple[str, ...]:
        """The checks that pass anyway, and prove something only with the protected changes."""
        if not self.passes_without or not self.passes_with:
            return ()
        return tuple(name for name, now in self.with_protected.items() if now.proves and not self.verdicts[name].proves)

    @property
    def passes_with(self) -> bool:
        """Whether the checks accept the work with its protected changes."""
        return self.whole is not None and all(verdict.accepts for verdict in self.with_protected.values())

    @property
    def passes(self) -> bool:
        """Whether the checks accept the work; a person may have to sign."""
        return self.passes_without or self.passes_with


class JudgedWork(msgspec.Struct, frozen=True, kw_only=True):
    """What the checks, their controls and the project's tests say about the work."""

    split: SplitWork | None
    seen: BuiltTree
    checks: JudgedChecks
    altered: dict[str, AlteredCheck] = {}
    tests: WorkVerdict | None = None

    @property
    def needs_doubtful(self) -> bool:
        """Whether tests of the base pass only with the doubtful changes."""
        return bool(self.checks.doubtful_tests or (self.tests is not None and self.tests.doubtful_tests))

    @property
    def passes_only_with(self) -> bool:
        """Whether the checks or the project's tests accept the work only with its protected changes."""
        return self.checks.passes_only_with or (self.tests is not None and self.tests.passes_only_with)

    def left_out(self, hidden: frozenset[str]) -> LeftOut | None:
        """The protected changes without which checks fail, if these fail with them, too. Agents read it."""
        checks, split = self.checks, self.split
        if split is None or checks.passes or checks.whole is None:
            return self.tests.changes_left_out if self.tests is not None else None
        shown = [name for name in checks.verdicts if name not in hidden]
        files = tuple(change.path for change in split.protected)
        without = [checks.verdicts[name] for name in shown]
        return left_out_of(files, without, [checks.with_protected[name] for name in shown])

    @property
    def changed_state(self) -> tuple[str, ...]:
        """What checks and tests change in the state of their processes on the work, and not on the base."""
        return tuple(
            sorted({*self.checks.changed_state, *(self.tests.changed_state if self.tests is not None else ())})
        )

    @property
    def flags(self) -> tuple[str, ...]:
        """What could deceive a check: new code, and changed state of the processes."""
        flags = tuple(map(str, self.split.flags)) if self.split is not None else ()
        return (*flags, changed_state_sentence(self.changed_state)) if self.changed_state else flags

    def flaky(self, hidden: frozenset[str]) -> tuple[str, ...]:
        """The tests with both results on the base, without those of these hidden checks."""
        shown = [verdict for name, verdict in self.checks.verdicts.items() if name not in hidden]
        verdicts = [*shown, *([self.tests.verdict] if self.tests is not None else [])]
        return tuple(sorted({test for verdict in verdicts for test in verdict.flaky}))[:MOST_NAMES]

    @property
    def judges(self) -> dict[str, str]:
        """What a person must look at, by digests: files, and changed state of the processes."""
        state = {PROCESS_STATE: digest_of(list(self.changed_state))} if self.changed_state else {}
        return {**self.seen.judges, **state}

    @property
    def immune(self) -> dict[str, str]:
        """The checks that prove nothing although they pass, each with the run that shows it."""
        return {name: check.run_id for name, check in self.altered.items() if check.proves_nothing}


def vacuous_tests(altered: Mapping[str, AlteredCheck], checks: tuple[Check, ...]) -> dict[str, tuple[str, ...]]:
    """The tests of each check that can't fail; agents could read the names of hidden ones."""
    shown = {check.id for check in checks if not check.hidden}
    return {name: check.controlled.vacuous for name, check in altered.items() if name in shown and check.proves_nothing}


def by_check(finished: Finished, names: Iterable[str]) -> dict[str, TreeResult]:
    """What a run says about each of these checks."""
    return {name: result_of_step(finished.evidence, name) for name in names}


def verdicts_of(results: Mapping[str, CommandResults]) -> Verdicts:
    """The verdict of each check."""
    return {name: judge_command(result) for name, result in results.items()}


def with_names(results: dict[str, CommandResults], split: SplitWork | None) -> dict[str, CommandResults]:
    """The results with the names that moved tests have in the work."""
    names = split.names if split is not None else {}
    return {name: with_new_names(result, names) for name, result in results.items()}


def with_changes(results: Mapping[str, CommandResults], finished: Finished, split: SplitWork) -> Verdicts:
    """The verdicts on a tree with changes to protected files. A person looks at tests that the changes remove."""
    whole, files = by_check(finished, results), split.signing
    return {
        # With signed changes there is no run without them.
        name: judge_with_protected(result, whole[name], files, None if split.signed else result.work)
        for name, result in results.items()
    }


def merged(runs: Iterable[TreeResult | None]) -> TreeResult | None:
    """The results of several checks on the same tree; None if none of them ran there."""
    known = [run for run in runs if run is not None]
    tests = {test: status for run in known for test, status in run.tests.items()}
    return replace(known[0], tests=tests, ended=all(run.ended for run in known)) if known else None


def recorded_checks(
    finished: Finished, checks: tuple[Check, ...], verdicts: Verdicts, altered: Mapping[str, AlteredCheck]
) -> dict[str, CheckRun]:
    """What a run says about each check, and on which tree."""
    evidence = finished.evidence
    tree = evidence.base.tree if evidence.base is not None else ""
    steps = {step.id: step for step in evidence.steps}
    runs = {}
    for check in checks:
        codes = [command.exit_code for command in steps[check.id].commands] if check.id in steps else []
        verdict = verdicts[check.id]
        runs[check.id] = CheckRun(
            run_id=evidence.run_id,
            passed=verdict.accepts,
            exit_code=codes[-1] if codes else None,
            tree=tree,
            digest=check.digest,
            grade=verdict.grade.value if verdict.proves and verdict.grade is not None else "",
            proof=_proof_of(check, verdict, altered.get(check.id, NOT_ALTERED)),
            base_judged=verdict.is_base_judged,
            idle=verdict.idle[:MOST_NAMES],
        )
    return runs


def _proof_of(check: Check, verdict: CommandVerdict, altered: AlteredCheck) -> str:
    """What a check proves; agents could read the names of its tests."""
    return hidden_proof_sentence(verdict) if check.hidden else proof_sentence(verdict, altered.controlled)


def recorded_protected(work: JudgedWork, checks: tuple[Check, ...]) -> ProtectedChanges | None:
    """What the checks and tests say about the protected changes; None without such changes."""
    judged, split, tests = work.checks, work.split, work.tests
    if split is None or judged.whole is None:
        return None
    passes_without = judged.passes_without and (tests is None or tests.verdict.accepts)
    passes_with = judged.passes_with and (tests is None or tests.passes_with)
    base = judged.whole.evidence.base
    nothing, whole = TreeResult(exited_with_0=False, ended=False), tests.whole if tests is not None else None
    ran = (tests.base.tree_result, whole.tree_result) if tests is not None and whole is not None else (nothing, nothing)
    test_files = tuple(change.path for change in split.protected if change.is_test)
    lines = changed_test_lines(split.test_files, split.moves, *ran, judged.changed_on_base)
    hidden = {check.id for check in checks if check.hidden}
    verdicts = [verdict for name, verdict in judged.with_protected.items() if name not in hidden]
    if tests is not None and tests.with_protected is not None:
        verdicts.append(tests.with_protected)
    return ProtectedChanges(
        digest=split.protected_digest,
        files={change.path: change.kind for change in split.protected},
        test_files=test_files,
        test_changes=with_missing_tests(lines, test_files, split.test_files, verdicts),
        proving=test_files if judged.proven_only_with else (),
        outcome="fails_with" if not passes_with else "passes_without" if passes_without else "passes_only_with",
        tree=base.tree if base is not None else "",
        patch_sha256=split.whole.patch_sha256,
        checks=recorded_checks(judged.whole, checks, judged.with_protected, work.altered),
        tests=recorded_tests(tests, with_protected=True) if tests is not None and tests.whole is not None else None,
    )


def recorded_tests(tests: WorkVerdict, *, with_protected: bool) -> ProjectTests:
    """What the project's tests say, without the protected changes or with them."""
    verdict, run = tests.verdict, tests.verified
    if with_protected and tests.with_protected is not None and tests.whole is not None:
        verdict, run = tests.with_protected, tests.whole
    broken = tuple(tests.problems_of(verdict))
    added = verdict.problems.get(Problem.NEW_TESTS_FAILING, ())
    failing = broken[: len(broken) - len(tests.weakened)]
    return ProjectTests(
        base_run_id=tests.base.run_id,
        run_id=run.run_id,
        command="; ".join(tests.commands),
        decides=verdict.before > 0 or tests.base.passed,
        base_judged=verdict.is_base_judged,
        is_unread=verdict.is_unread,
        broken=len(broken),
        names=tuple(test.id for test in failing[:MOST_NAMES]),
        weakened=len(tests.weakened),
        weakened_names=tests.weakened[:MOST_NAMES],
        added=added[:MOST_NAMES],
        failing_new=len(added),
        deleted=len(verdict.deleted),
        skipped=len(verdict.skipped),
        kept=verdict.kept,
        before=verdict.before,
    )
