"""`loopwright analyze board-history`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.analysis.preregistered import Experiment
from loopwright.cli.analyze.output import analysing, announce, output_of, progress, show, within
from loopwright.cli.options import context_of
from loopwright.verbs.analyze.experiments import AnalysisRequest, analyze_board_history

_EPILOG = """\b
Examples:
  loopwright analyze board-history board.csv           an export: .csv, .tsv, .json or .jsonl
  loopwright analyze board-history                     the history of task files in git
  loopwright analyze board-history --tasks 'work/**/*.md'
"""


@click.command(epilog=_EPILOG)
@click.argument("export", required=False, type=click.Path(path_type=Path))
@click.option("--tasks", "task_files", metavar="GLOB", multiple=True, help="Where task files are; may be repeated.")
@within
@analysing
def command(
    export: Path | None,
    task_files: tuple[str, ...],
    revision: str,
    since: str | None,
    until: str | None,
    wanted: str,
    plot: Path | None,
    record: bool,
    project_root: Path,
    as_json: bool,
) -> int:
    """P3: find the share of completed tasks with a machine-detectable right or wrong signal within 30 days."""
    output = output_of(wanted, as_json, plot)
    announce(Experiment.BOARD_HISTORY, output)
    asked = AnalysisRequest(revision=revision, since=since, until=until, record=record)
    show(analyze_board_history(context_of(project_root), asked, export, task_files, progress(output)), output)
    return 0
