"""`loopwright verify`."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from loopwright.cli.failures import exit_code_of
from loopwright.cli.options import context_of, in_workspace, say, say_json, say_json_line, with_sandbox_root
from loopwright.cli.run import progress, stopping_on_signals
from loopwright.errors import EvidenceMismatch, NotReproduced
from loopwright.verbs.verify import rerun, verify

_VERIFY_EXAMPLES = """\b
Examples:
  loopwright verify              every run, and the chain between them
  loopwright verify demo-001     one run
"""


@click.command(epilog=_VERIFY_EXAMPLES)
@click.argument("run", required=False)
@in_workspace
def verify_command(run: str | None, project_root: Path, as_json: bool) -> int:
    """Recompute evidence and name what does not match; exit 13 when something does not."""
    verdicts = verify(context_of(project_root), run)
    wrong = [verdict for verdict in verdicts if verdict.mismatches]
    if as_json:
        say_json({"ok": not wrong, "runs": [msgspec.structs.asdict(verdict) for verdict in verdicts]})
    else:
        for verdict in verdicts:
            say(f"{verdict.run_id}: " + ("does not match" if verdict.mismatches else f"{verdict.checked} facts hold"))
            for line in verdict.mismatches:
                say(f"  ✗ {line}", fg="red")
            for line in verdict.notes:
                say(f"  note: {line}")
    if wrong:
        names = ", ".join(verdict.run_id for verdict in wrong[:5])
        raise EvidenceMismatch(
            f"{len(wrong)} of {len(verdicts)} runs do not match their evidence: {names}",
            hint="someone or something changed these files after the run; do not rely on them",
        )
    return 0


_RERUN_EXAMPLES = """\b
Examples:
  loopwright rerun demo-001
  loopwright rerun demo-001 --json | tail -1
"""


@click.command(epilog=_RERUN_EXAMPLES)
@click.argument("run")
@with_sandbox_root
@in_workspace
def rerun_command(run: str, sandbox_root: str | None, project_root: Path, as_json: bool) -> int:
    """Run a recorded plan on its recorded base again, and say whether exit codes and change reproduce.

    Your plan, latch and latest files are neither read nor written; the rerun keeps its own evidence.
    """
    context = context_of(project_root, {("sandbox", "root"): sandbox_root})
    with stopping_on_signals() as cancellation, progress(as_json) as listener:
        report = rerun(context, run, listener, cancellation)
    if report.failure is not None and report.failure.signal is not None:
        return exit_code_of(report.failure.code, report.failure.signal)
    if as_json:
        say_json_line({"ok": not report.differences, "run": report.first.run_id, "rerun": report.second.run_id,
                  "differences": list(report.differences)})  # fmt: skip
    if report.differences:
        raise NotReproduced(
            f"{report.first.run_id} did not come out the same: " + "; ".join(report.differences),
            hint=f"compare the logs of {report.first.run_id} and {report.second.run_id}; look for what is not pinned",
        )
    if not as_json:
        say(f"{report.first.run_id} is reproduced: same exit codes, same change", fg="green")
    return 0
