"""`loopwright analyze git-history`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.analysis.preregistered import Experiment
from loopwright.cli.analyze.output import analysing, announce, output_of, progress, show, within
from loopwright.cli.options import context_of
from loopwright.verbs.analyze.experiments import AnalysisRequest, analyze_git_history

_EPILOG = """\b
Examples:
  loopwright analyze git-history                       the whole history of HEAD
  loopwright analyze git-history --since '180 days'
  loopwright analyze git-history --range v1.0..v2.0 --json
  loopwright analyze git-history --project-root ~/another/repository --plot failures.svg
"""


@click.command(epilog=_EPILOG)
@within
@analysing
def command(
    revision: str,
    since: str | None,
    until: str | None,
    wanted: str,
    plot: Path | None,
    record: bool,
    project_root: Path,
    as_json: bool,
) -> int:
    """P2: find failures (reverts, fixes soon after a feature) and who would have caught them."""
    output = output_of(wanted, as_json, plot)
    announce(Experiment.GIT_HISTORY, output)
    asked = AnalysisRequest(revision=revision, since=since, until=until, record=record)
    show(analyze_git_history(context_of(project_root), asked, progress(output)), output)
    return 0
