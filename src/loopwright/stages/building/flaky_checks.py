"""Finds the flaky tests of the checks of a plan: by all known runs on the base, and by more runs in case of doubt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec.structs import replace

from loopwright.evidence.known_results import ran_beside
from loopwright.evidence.model import Evidence
from loopwright.judging.flaky import doubtful_on_base, needs_another_run, only_passes, with_known_runs
from loopwright.judging.same_tests import Names, with_new_names
from loopwright.judging.verdict import CommandResults, TreeResult, judge_command
from loopwright.kernel.process import Cancellation
from loopwright.loop.test_runs import result_of_step
from loopwright.stages.building.controls import ChecksOnBase, ControlBase
from loopwright.stages.context import Context, workflows_of
from loopwright.workflow.slices import Check

Results = dict[str, CommandResults]


class FlakyChecks:
    """The runs of checks on one base that count for one validation."""

    def __init__(
        self,
        context: Context,
        slug: str,
        checks: tuple[Check, ...],
        base: ControlBase,
        results: Mapping[str, TreeResult],
        names: Names,
        cancellation: Cancellation,
    ) -> None:
        """`results` are those of the run on the base that decides; `names` the tests that the work moved."""
        self._context = context
        self._slug = slug
        self._checks = checks
        self._base = base
        self._results = results
        self._names = names
        self._cancellation = cancellation
        # The controls may be newer than the workflow that the validation began with.
        controls = workflows_of(context).snapshot(slug).workflow.controls
        self._without = {check.id: frozenset(controls[check.id].without or ()) for check in checks}
        self._runs: dict[str, Evidence] = {}
        # The tests of each check that ran again on the base.
        self._repeated: dict[str, frozenset[str]] = {}

    def run_ids_behind(self, results: Results) -> tuple[str, ...]:
        """The runs on the base that decided about flaky tests; none if no test was in doubt."""
        return tuple(self._runs) if self._repeated or any(result.flaky for result in results.values()) else ()

    def with_known(self, results: Results) -> Results:
        """The results with the tests that are flaky by the runs that the journal has."""
        return self._with_flaky(results, self._on_base(self._checks).known(self._without)) if self._checks else results

    def with_repeats(self, results: Results, again: Callable[[], Evidence]) -> Results:
        """The results with more runs: on the base if tests may be flaky, and on the work if flaky tests fail there."""
        doubtful = {name: doubtful_on_base(result, judge_command(result)) for name, result in results.items()}
        checks = tuple(
            check for check in self._checks if not doubtful[check.id] <= self._repeated.get(check.id, frozenset())
        )
        if checks:
            for check in checks:
                self._repeated[check.id] = self._repeated.get(check.id, frozenset()) | doubtful[check.id]
            on_base = self._on_base(checks)
            runs = [run.evidence for run in on_base.again(self._without)]
            results = self._with_flaky(results, (*runs, *on_base.known(self._without)))
        while failing := [name for name, result in results.items() if needs_another_run(result, judge_command(result))]:
            evidence = again()
            results = results | {
                name: replace(results[name], repeated=(*results[name].repeated, result_of_step(evidence, name)))
                for name in failing
            }
        return results

    def _on_base(self, checks: tuple[Check, ...]) -> ChecksOnBase:
        return ChecksOnBase(self._context, self._slug, checks, self._base, self._cancellation)

    def _with_flaky(self, results: Results, runs: Iterable[Evidence]) -> Results:
        self._runs |= {evidence.run_id: evidence for evidence in runs}
        known = {name: with_known_runs(result, self._runs_of(name)) for name, result in results.items()}
        return {name: with_new_names(result, self._names) for name, result in known.items()}

    def _runs_of(self, check: str) -> tuple[TreeResult, ...]:
        """The results of a check on the base, by the same version of its runner."""
        decisive = self._results[check]
        first = self._runs.get(decisive.run_id)
        runs = [decisive]
        for evidence in self._runs.values():
            runners = _runners(evidence, check)
            if evidence is not first and runners is not None and (first is None or runners == _runners(first, check)):
                result = result_of_step(evidence, check)
                runs.append(only_passes(result) if ran_beside(evidence.result_key) else result)
        return tuple(runs)


def _runners(evidence: Evidence, check: str) -> frozenset[str] | None:
    """The runners of a check, with their versions; None if the run does not have the check."""
    steps = (step for step in evidence.steps if step.id == check)
    return next((frozenset(runner.text for runner in step.runners) for step in steps), None)
