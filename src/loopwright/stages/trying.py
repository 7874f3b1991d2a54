"""A plan's checks on the checkout as it is now: a run of the tool's own, with evidence. It opens no gate."""

from __future__ import annotations

from typing import Any

import msgspec

from loopwright.errors import WorkflowRefused
from loopwright.kernel.process import Cancellation
from loopwright.runner.request import Finished
from loopwright.stages.building.checking import check_runs, end_of_output, run_checks
from loopwright.stages.context import Context, workflows_of
from loopwright.stages.names import slug_of
from loopwright.workflow.slices import Check, Slices

_MOST_SAID = 1500


class Tried(msgspec.Struct, frozen=True):
    """One check, today."""

    id: str
    command: str
    passed: bool
    exit_code: int | None
    # The end of what it printed, redacted, where it did not pass.
    said: str = ""


class TriedChecks(msgspec.Struct, frozen=True):
    """All of them, by which run, on which tree; hidden ones are counted, and run by `build` alone."""

    run_id: str
    tree: str
    checks: tuple[Tried, ...]
    hidden: int

    def document(self) -> dict[str, Any]:
        """For programs."""
        builtins: dict[str, Any] = msgspec.to_builtins(self)
        return {"passed": all(one.passed for one in self.checks), **builtins}


def try_checks(context: Context, name: str, cancellation: Cancellation) -> TriedChecks:
    """Every check that is not hidden, in a fresh sandbox of the project as it is now."""
    slug = slug_of(name)
    with workflows_of(context).changing(slug) as opened:
        slices = opened.facts().slices
    checks = slices.checks if isinstance(slices, Slices) else ()
    shown = tuple(check for check in checks if not check.hidden)
    if not shown:
        raise WorkflowRefused(
            "no_checks", f"{slug} has no checks that could be run", next_command=f"loopwright status {slug}"
        )
    finished = run_checks(
        context, slug, shown, name="tried", sandbox=context.sandbox_request(), cancellation=cancellation
    )
    runs, base = check_runs(finished, shown), finished.evidence.base
    tried = tuple(
        Tried(check.id, check.command, run.passed, run.exit_code, "" if run.passed else _said(finished, check))
        for check, run in zip(shown, runs.values(), strict=True)
    )
    return TriedChecks(finished.evidence.run_id, base.tree if base is not None else "", tried, len(checks) - len(shown))


def _said(finished: Finished, check: Check) -> str:
    return end_of_output(finished, check, _MOST_SAID)
