"""`loopwright analyze git-history, board-history, gate`: these work without the extra `analysis`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.analysis.preregistered import Experiment
from loopwright.analysis.store import Closed, Open
from loopwright.cli.analyze.output import Output, analysing, announce, progress, show, within
from loopwright.cli.options import command_with_examples, echo, echo_json, in_context
from loopwright.errors import GateClosed
from loopwright.kernel.codec import to_builtins
from loopwright.stages.context import Context
from loopwright.verbs.experiments import AnalysisRequest, analyze_board_history, analyze_gate, analyze_git_history


@command_with_examples("""
  loopwright analyze git-history                       the whole history of HEAD
  loopwright analyze git-history --since '180 days'
  loopwright analyze git-history --range v1.0..v2.0 --json
  loopwright analyze git-history --project-root ~/another/repository --plot failures.svg
""")
@within
@analysing
def git_history_command(context: Context, request: AnalysisRequest, output: Output) -> None:
    """P2: find failures (reverts, fixes soon after a feature), and what would have caught them."""
    announce(Experiment.GIT_HISTORY, output)
    show(analyze_git_history(context, request, progress(output)), output)


@command_with_examples("""
  loopwright analyze board-history board.csv           an export: .csv, .tsv, .json or .jsonl
  loopwright analyze board-history                     the git history of task files
  loopwright analyze board-history --tasks 'work/**/*.md'
""")
@click.argument("export", required=False, type=click.Path(path_type=Path))
@click.option("--tasks", "task_files", metavar="GLOB", multiple=True, help="Paths of task files; can be repeated.")
@within
@analysing
def board_history_command(
    context: Context, request: AnalysisRequest, output: Output, export: Path | None, task_files: tuple[str, ...]
) -> None:
    """P3: measure the share of completed tasks whose result a machine can judge within 30 days."""
    announce(Experiment.BOARD_HISTORY, output)
    show(analyze_board_history(context, request, export, task_files, progress(output)), output)


@command_with_examples("""
  loopwright analyze gate            exit 0: open; exit 1 (GATE_CLOSED): lists each reason and the next command
  loopwright analyze gate --json
""")
@in_context
def gate_command(context: Context, as_json: bool) -> None:
    """Show whether the gate of the closed loop is open: P1, P2 and P3 must be recorded and passed."""
    decision = analyze_gate(context)
    if as_json:
        echo_json(gate_record(decision))
    else:
        echo_decision(decision)
    if isinstance(decision, Closed):
        first = decision.reasons[0]
        raise GateClosed(
            f"the closed loop stays off; not passed: {', '.join(reason.question for reason in decision.reasons)}",
            hint=first.next if len(decision.reasons) == 1 else "loopwright analyze all",
        )


def echo_decision(decision: Open | Closed) -> None:
    """Print the decision for people."""
    match decision:
        case Open(sentences):
            echo("The gate is open: P1, P2 and P3 are recorded and passed.")
            for sentence in sentences:
                echo(f"  {sentence}")
        case Closed(reasons):
            echo("The gate is closed:")
            for reason in reasons:
                echo(f"  {reason.question}: {reason.why}\n      → {reason.next}")


def gate_record(decision: Open | Closed) -> dict[str, object]:
    """The decision for programs."""
    reasons = to_builtins(decision.reasons) if isinstance(decision, Closed) else []
    passed = list(decision.sentences) if isinstance(decision, Open) else []
    return {"open": isinstance(decision, Open), "reasons": reasons, "passed": passed}
