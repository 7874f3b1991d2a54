"""`loopwright analyze git-history`: P2 on any git repository."""

from __future__ import annotations

import tempfile
from pathlib import Path

from loopwright.analysis.git_history import analyse_git_history
from loopwright.analysis.history import Progress
from loopwright.kernel.git_history import open_history
from loopwright.stages.context import Context
from loopwright.verbs.analyze.record import Analysed, AnalysisRequest, settle


def analyze_git_history(context: Context, asked: AnalysisRequest, on_progress: Progress | None = None) -> Analysed:
    """Failures in the window, by the gate that would have caught them."""
    window = asked.window(context.clock())
    with tempfile.TemporaryDirectory(prefix="loopwright-analyze-") as scratch:
        parts = analyse_git_history(open_history(context.project, Path(scratch)), window, on_progress)
    return settle(context, parts, asked)
