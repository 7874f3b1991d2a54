"""`loopwright verify, rerun`."""

from __future__ import annotations

import click
import msgspec

from loopwright.cli.options import (
    command_with_examples,
    echo,
    echo_json,
    echo_json_line,
    in_context,
    with_sandbox_root,
)
from loopwright.cli.run import progress, stopping_on_signals
from loopwright.errors import EvidenceMismatch, NotReproduced
from loopwright.exit_codes import exit_code_of
from loopwright.stages.context import Context
from loopwright.verbs.verify import rerun, verify


@command_with_examples("""
  loopwright verify              every run, and the evidence chain
  loopwright verify demo-001     one run
""")
@click.argument("run", required=False)
@in_context
def verify_command(context: Context, run: str | None, as_json: bool) -> None:
    """Recompute recorded evidence and list every mismatch; exit 13 if there is one."""
    verdicts = verify(context, run)
    wrong = [verdict for verdict in verdicts if verdict.mismatches]
    if as_json:
        echo_json({"ok": not wrong, "runs": [msgspec.structs.asdict(verdict) for verdict in verdicts]})
    else:
        for verdict in verdicts:
            echo(f"{verdict.run_id}: " + ("does not match" if verdict.mismatches else _matching(verdict.checked)))
            for line in verdict.mismatches:
                echo(f"  ✗ {line}", fg="red")
            for line in verdict.notes:
                echo(f"  note: {line}")
    if wrong:
        names = ", ".join(verdict.run_id for verdict in wrong[:5])
        raise EvidenceMismatch(
            f"{len(wrong)} of {len(verdicts)} runs differ from their evidence: {names}"
            if len(verdicts) > 1
            else f"the run {names} differs from its evidence",
            hint="these files were changed after the run; do not rely on them",
        )


def _matching(count: int) -> str:
    return "1 fact matches" if count == 1 else f"{count} facts match"


@command_with_examples("""
  loopwright rerun demo-001
  loopwright rerun demo-001 --json | tail -1
""")
@click.argument("run")
@with_sandbox_root
@in_context
def rerun_command(context: Context, run: str, as_json: bool) -> int:
    """Run a recorded plan again on its recorded base, and compare exit codes and changes.

    The rerun records its own evidence. It does not read or write your plan, latch and latest files.
    """
    with stopping_on_signals() as cancellation, progress(as_json) as listener:
        report = rerun(context, run, listener, cancellation)
    if report.failure is not None and report.failure.signal is not None:
        return exit_code_of(report.failure.code, report.failure.signal)
    if as_json:
        echo_json_line({"ok": not report.differences, "run": report.first.run_id, "rerun": report.second.run_id,
                  "differences": list(report.differences), "flaky": list(report.flaky)})  # fmt: skip
    if report.differences:
        raise NotReproduced(
            f"{report.first.run_id} was not reproduced: " + "; ".join(report.differences),
            hint=f"compare the logs of {report.first.run_id} and {report.second.run_id}; look for unpinned versions",
        )
    if not as_json:
        echo(f"{report.first.run_id} was reproduced: same results, same changes", fg="green")
        if report.flaky:
            echo(f"  flaky tests left out: {', '.join(report.flaky[:5])}")
    return 0
