"""`loopwright analyze all`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
import msgspec

from loopwright.analysis.preregistered import Experiment
from loopwright.cli.analyze import gate
from loopwright.cli.analyze.output import analysing, announce, as_record, output_of, progress, show, within
from loopwright.cli.options import context_of, say, say_json
from loopwright.verbs.analyze.calibration import analyze_calibration
from loopwright.verbs.analyze.experiments import (
    Analysed,
    AnalysisRequest,
    analyze_board_history,
    analyze_gate,
    analyze_git_history,
)

_EPILOG = """\b
Examples:
  loopwright analyze all
  loopwright analyze all --corpus corpus.jsonl --board board.csv
  loopwright analyze all --plot results.svg            draws results-P1.svg, results-P2.svg and results-P3.svg
"""


@click.command(epilog=_EPILOG)
@click.option("--corpus", type=click.Path(path_type=Path), help="For P1; default: the workspace's reflections.")
@click.option("--board", type=click.Path(path_type=Path), help="For P3; default: the history of task files.")
@within
@analysing
def command(
    corpus: Path | None,
    board: Path | None,
    revision: str,
    since: str | None,
    until: str | None,
    wanted: str,
    plot: Path | None,
    record: bool,
    project_root: Path,
    as_json: bool,
) -> int:
    """All three experiments, then whether the gate is open; exit 0 either way."""
    output = output_of(wanted, as_json, plot)
    context = context_of(project_root)
    asked = AnalysisRequest(revision=revision, since=since, until=until, record=record)
    count = progress(output)
    experiments: dict[Experiment, Callable[[], Analysed]] = {
        Experiment.CALIBRATION: lambda: analyze_calibration(context, asked, corpus, count),
        Experiment.GIT_HISTORY: lambda: analyze_git_history(context, asked, count),
        Experiment.BOARD_HISTORY: lambda: analyze_board_history(context, asked, board, (), count),
    }
    results = []
    for question, experiment in experiments.items():
        announce(question, output)
        analysed = experiment()
        results.append(as_record(analysed))
        named = plot.with_name(f"{plot.stem}-{question}{plot.suffix}") if plot else None
        show(analysed, msgspec.structs.replace(output, plot=named, quiet=output.as_json))
        if not output.as_json:
            say()
    decision = analyze_gate(context)
    if output.as_json:
        say_json({"results": results, "gate": gate.as_record(decision)})
    else:
        gate.say_decision(decision)
    return 0
