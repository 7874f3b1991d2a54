"""`loopwright analyze calibration, all`: these need the extra `analysis`, but their --help does not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
import msgspec

from loopwright.analysis.history import Progress
from loopwright.analysis.preregistered import Experiment
from loopwright.cli.analyze.experiments import echo_decision, gate_record
from loopwright.cli.analyze.output import Output, analysing, announce, as_record, progress, show, within
from loopwright.cli.lazy import load
from loopwright.cli.options import command_with_examples, echo, echo_json
from loopwright.stages.context import Context
from loopwright.verbs.experiments import (
    Analysed,
    AnalysisRequest,
    analyze_board_history,
    analyze_gate,
    analyze_git_history,
)


@command_with_examples("""
  loopwright analyze calibration corpus.jsonl --plot calibration.svg
  loopwright analyze calibration                       the reflections of this workspace, judged by git history

\b
A line of the corpus: {"confidence": 0.9, "correct": true}. Optional: "point" (before, after, adversarial, hook),
"task_ref", "session_id", "churn" (lines), "surface" (auth, data, infra, build, ui, test, docs, none).
""")
@click.argument("corpus", required=False, type=click.Path(path_type=Path))
@click.option("--until", metavar="WHEN", help="Judge as of this moment; default: now.")
@analysing
def calibration_command(context: Context, request: AnalysisRequest, output: Output, corpus: Path | None) -> None:
    """P1: measure whether high confidence predicts correct work better than churn and surface do."""
    analyze = _statistics()
    announce(Experiment.CALIBRATION, output)
    show(analyze(context, request, corpus, progress(output)), output)


@command_with_examples("""
  loopwright analyze all
  loopwright analyze all --corpus corpus.jsonl --board board.csv
  loopwright analyze all --plot results.svg            writes results-P1.svg, results-P2.svg and results-P3.svg
""")
@click.option(
    "--corpus", type=click.Path(path_type=Path), help="Corpus for P1; default: the reflections of the workspace."
)
@click.option(
    "--board", type=click.Path(path_type=Path), help="Board export for P3; default: the git history of task files."
)
@within
@analysing
def everything_command(
    context: Context, request: AnalysisRequest, output: Output, corpus: Path | None, board: Path | None
) -> None:
    """Run all three experiments, then show whether the gate is open; exit 0 in both cases."""
    analyze, plot, count = _statistics(), output.plot, progress(output)
    experiments: dict[Experiment, Callable[[], Analysed]] = {
        Experiment.CALIBRATION: lambda: analyze(context, request, corpus, count),
        Experiment.GIT_HISTORY: lambda: analyze_git_history(context, request, count),
        Experiment.BOARD_HISTORY: lambda: analyze_board_history(context, request, board, (), count),
    }
    results = []
    for question, experiment in experiments.items():
        announce(question, output)
        analysed = experiment()
        results.append(as_record(analysed))
        named = plot.with_name(f"{plot.stem}-{question}{plot.suffix}") if plot else None
        show(analysed, msgspec.structs.replace(output, plot=named, quiet=output.as_json))
        if not output.as_json:
            echo()
    decision = analyze_gate(context)
    if output.as_json:
        echo_json({"results": results, "gate": gate_record(decision)})
    else:
        echo_decision(decision)


def _statistics() -> Callable[[Context, AnalysisRequest, Path | None, Progress | None], Analysed]:
    """Import the statistics when they are needed, and before anything is printed."""
    analyze: Callable[..., Analysed] = load("loopwright.verbs.calibration").analyze_calibration
    return analyze
