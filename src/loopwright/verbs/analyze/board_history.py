"""`loopwright analyze board-history`: P3 on an export of a board, or on the history of task files."""

from __future__ import annotations

import tempfile
from pathlib import Path

from loopwright.analysis.board_history import analyse_export, analyse_task_files
from loopwright.analysis.history import Progress
from loopwright.analysis.input_files import InputFile
from loopwright.analysis.preregistered import TASK_FILES
from loopwright.kernel.git_history import open_history
from loopwright.stages.context import Context
from loopwright.verbs.analyze.record import Analysed, AnalysisRequest, settle


def analyze_board_history(
    context: Context,
    asked: AnalysisRequest,
    export: Path | None,
    task_files: tuple[str, ...] = (),
    on_progress: Progress | None = None,
) -> Analysed:
    """How many completed tasks have a signal that a machine can see."""
    now = context.clock()
    window = asked.window(now)
    if export is not None:
        return settle(context, analyse_export(InputFile(export), window.since, window.until), asked)
    with tempfile.TemporaryDirectory(prefix="loopwright-analyze-") as scratch:
        history = open_history(context.project, Path(scratch))
        globs = task_files or TASK_FILES.globs
        parts = analyse_task_files(history, window, asked.as_of(now), globs, on_progress)
    return settle(context, parts, asked)
