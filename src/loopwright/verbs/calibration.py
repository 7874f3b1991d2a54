"""`loopwright analyze calibration`: P1 on a corpus, or on the reflections of the workspace. Needs the extra."""

from __future__ import annotations

import tempfile
from pathlib import Path

from loopwright.analysis.calibration import analyse_corpus, analyse_reports
from loopwright.analysis.corpus import read_reports
from loopwright.analysis.history import Progress
from loopwright.analysis.input_files import InputFile
from loopwright.analysis.plots import draw as plot
from loopwright.kernel.git_history import open_history
from loopwright.stages.analysing import Analysed, AnalysisRequest, settle
from loopwright.stages.context import Context
from loopwright.stages.reflecting import folder_of

__all__ = ["analyze_calibration", "plot"]


def analyze_calibration(
    context: Context, request: AnalysisRequest, corpus: Path | None, on_progress: Progress | None = None
) -> Analysed:
    """Measure whether high confidence predicts correct work."""
    if corpus is not None:
        return settle(context, analyse_corpus(InputFile(corpus)), request)
    reports = read_reports(folder_of(context))
    with tempfile.TemporaryDirectory(prefix="loopwright-analyze-") as scratch:
        history = open_history(context.project, Path(scratch))
        parts = analyse_reports(reports, history, request.as_of(context.clock()), on_progress)
    return settle(context, parts, request)
