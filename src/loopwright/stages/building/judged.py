"""What the checks and tests said about the work of a build, and how the journal records it. Pure."""

from __future__ import annotations

import msgspec

from loopwright.judging.verdict import CommandVerdict
from loopwright.loop.split_work import SplitWork
from loopwright.loop.work_verdict import WorkVerdict
from loopwright.runner.request import Finished
from loopwright.stages.building.altered_checks import AlteredCheck
from loopwright.stages.building.built_tree import BuiltTree
from loopwright.workflow.slices import Check
from loopwright.workflow.verification import CheckRun, ProjectTests, ProtectedChanges

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

    @property
    def passes_without(self) -> bool:
        """Whether the checks accept the work without its protected changes."""
        return all(verdict.accepts for verdict in self.verdicts.values())

    @property
    def passes_only_with(self) -> bool:
        """Whether the checks accept the work only with its protected changes."""
        return not self.passes_without and self.passes_with

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
    def immune(self) -> dict[str, str]:
        """The checks that prove nothing although they pass, each with the run that shows it."""
        return {name: check.run_id for name, check in self.altered.items() if check.proves_nothing}


def recorded_checks(finished: Finished, checks: tuple[Check, ...], verdicts: Verdicts) -> dict[str, CheckRun]:
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
            proof=verdict.sentence,
            base_judged=verdict.is_base_judged,
        )
    return runs


def recorded_protected(
    judged: JudgedChecks, split: SplitWork, checks: tuple[Check, ...], tests: WorkVerdict | None
) -> ProtectedChanges | None:
    """What the checks and tests say about the protected changes; None without such changes."""
    if judged.whole is None:
        return None
    passes_without = judged.passes_without and (tests is None or tests.verdict.accepts)
    passes_with = judged.passes_with and (tests is None or tests.passes_with)
    base = judged.whole.evidence.base
    return ProtectedChanges(
        digest=split.protected_digest,
        files={change.path: change.kind for change in split.protected},
        test_files=tuple(change.path for change in split.protected if change.is_test),
        outcome="fails_with" if not passes_with else "passes_without" if passes_without else "passes_only_with",
        tree=base.tree if base is not None else "",
        patch_sha256=split.whole.patch_sha256,
        checks=recorded_checks(judged.whole, checks, judged.with_protected),
        tests=recorded_tests(tests, with_protected=True) if tests is not None and tests.whole is not None else None,
    )


def recorded_tests(tests: WorkVerdict, *, with_protected: bool) -> ProjectTests:
    """What the project's tests say, without the protected changes or with them."""
    verdict, run = tests.verdict, tests.verified
    if with_protected and tests.with_protected is not None and tests.whole is not None:
        verdict, run = tests.with_protected, tests.whole
    broken = tuple(tests.problems_of(verdict))
    return ProjectTests(
        base_run_id=tests.base.run_id,
        run_id=run.run_id,
        decides=verdict.before > 0 or tests.base.passed,
        base_judged=verdict.is_base_judged,
        is_unread=verdict.is_unread,
        broken=len(broken),
        names=tuple(test.id for test in broken[:MOST_NAMES]),
        kept=verdict.kept,
        before=verdict.before,
    )
