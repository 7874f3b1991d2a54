"""Runs the checks of a plan on the current checkout, with evidence. The result opens no gate."""

from __future__ import annotations

from typing import Any

import msgspec

from loopwright.errors import WorkflowRefused
from loopwright.kernel.process import Cancellation
from loopwright.stages.building.checking import check_runs, end_of_output, run_checks
from loopwright.stages.context import Context, workflows_of
from loopwright.stages.names import slug_of

_MOST_OUTPUT = 1500


class Tried(msgspec.Struct, frozen=True):
    """The result of one check."""

    id: str
    command: str
    passed: bool
    exit_code: int | None
    # The end of its output, redacted, if it failed.
    output: str = msgspec.field(default="", name="said")


class TriedChecks(msgspec.Struct, frozen=True):
    """All results, with the run and the tree. Hidden checks are counted; only `build` runs them."""

    run_id: str
    tree: str
    checks: tuple[Tried, ...]
    hidden: int

    def document(self) -> dict[str, Any]:
        """The results for programs."""
        builtins: dict[str, Any] = msgspec.to_builtins(self)
        return {"passed": all(check.passed for check in self.checks), **builtins}


def try_checks(context: Context, name: str, cancellation: Cancellation) -> TriedChecks:
    """Run every check that is not hidden, in a new sandbox with the current project."""
    slug = slug_of(name)
    with workflows_of(context).changing(slug) as opened:
        checks = opened.facts().readable_slices.checks
    shown = tuple(check for check in checks if not check.hidden)
    if not shown:
        raise WorkflowRefused.see_status(slug, "no_checks", f"{slug} has no checks to run")
    finished = run_checks(
        context, slug, shown, name="tried", sandbox=context.sandbox_request(), cancellation=cancellation
    )
    runs, base = check_runs(finished, shown), finished.evidence.base
    tried = []
    for check, run in zip(shown, runs.values(), strict=True):
        output = "" if run.passed else end_of_output(finished, check, _MOST_OUTPUT)
        tried.append(Tried(check.id, check.command, run.passed, run.exit_code, output))
    tree = base.tree if base is not None else ""
    return TriedChecks(finished.evidence.run_id, tree, tuple(tried), len(checks) - len(shown))
