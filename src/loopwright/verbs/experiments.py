"""Experiments on a project's history, and the gate that their recorded results open. Need no statistics."""

from __future__ import annotations

import tempfile
from pathlib import Path

from loopwright.analysis.board_history import analyse_export, analyse_task_files
from loopwright.analysis.git_history import analyse_git_history
from loopwright.analysis.history import Progress
from loopwright.analysis.input_files import InputFile
from loopwright.analysis.preregistered import TASK_FILES, current_digest
from loopwright.analysis.store import AnalysisStore, Closed, Open, decide
from loopwright.kernel.git_history import open_history
from loopwright.stages.analysing import Analysed, AnalysisRequest, settle
from loopwright.stages.context import Context

__all__ = ["Analysed", "AnalysisRequest", "analyze_board_history", "analyze_gate", "analyze_git_history"]


def analyze_git_history(context: Context, asked: AnalysisRequest, on_progress: Progress | None = None) -> Analysed:
    """P2: failures in the window of a git history, by the gate that would have caught them."""
    window = asked.window(context.clock())
    with tempfile.TemporaryDirectory(prefix="loopwright-analyze-") as scratch:
        parts = analyse_git_history(open_history(context.project, Path(scratch)), window, on_progress)
    return settle(context, parts, asked)


def analyze_board_history(
    context: Context,
    asked: AnalysisRequest,
    export: Path | None,
    task_files: tuple[str, ...] = (),
    on_progress: Progress | None = None,
) -> Analysed:
    """P3: how many completed tasks have a signal that a machine can see; of a board's export, or of task files."""
    now = context.clock()
    window = asked.window(now)
    if export is not None:
        return settle(context, analyse_export(InputFile(export), window.since, window.until), asked)
    with tempfile.TemporaryDirectory(prefix="loopwright-analyze-") as scratch:
        history = open_history(context.project, Path(scratch))
        globs = task_files or TASK_FILES.globs
        parts = analyse_task_files(history, window, asked.as_of(now), globs, on_progress)
    return settle(context, parts, asked)


def analyze_gate(context: Context) -> Open | Closed:
    """Whether the closed loop may open, by the results that are recorded now; and why not."""
    store = AnalysisStore(context.layout)
    return decide(store.newest(), current_digest(), store.tries())
