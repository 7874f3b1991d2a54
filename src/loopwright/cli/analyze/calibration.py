"""`loopwright analyze calibration`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.analysis.preregistered import Experiment
from loopwright.cli.analyze.output import analysing, announce, output_of, progress, show
from loopwright.cli.options import context_of
from loopwright.verbs.analyze.calibration import analyze_calibration
from loopwright.verbs.analyze.experiments import AnalysisRequest

_EPILOG = """\b
Examples:
  loopwright analyze calibration corpus.jsonl --plot calibration.svg
  loopwright analyze calibration                       this workspace's reflections, judged by git

\b
A line of the corpus: {"confidence": 0.9, "correct": true}; besides, if known: "point" (before, after, adversarial,
hook), "task_ref", "session_id", "churn" (lines), "surface" (auth, data, infra, build, ui, test, docs, none).
"""


@click.command(epilog=_EPILOG)
@click.argument("corpus", required=False, type=click.Path(path_type=Path))
@click.option("--until", metavar="WHEN", help="Judge as of this moment; default: now.")
@analysing
def command(
    corpus: Path | None,
    until: str | None,
    wanted: str,
    plot: Path | None,
    record: bool,
    project_root: Path,
    as_json: bool,
) -> int:
    """P1: find out whether confidence tells right from wrong where it is high, beside churn and surface."""
    output = output_of(wanted, as_json, plot)
    announce(Experiment.CALIBRATION, output)
    asked = AnalysisRequest(until=until, record=record)
    show(analyze_calibration(context_of(project_root), asked, corpus, progress(output)), output)
    return 0
