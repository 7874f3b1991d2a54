"""Experiments on the history of a project, and the gate that opens on their recorded results. Need no statistics."""

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


def analyze_git_history(context: Context, request: AnalysisRequest, on_progress: Progress | None = None) -> Analysed:
    """P2: failures in a git history, grouped by the gate that would have caught them."""
    window = request.window(context.clock())
    with tempfile.TemporaryDirectory(prefix="loopwright-analyze-") as scratch:
        parts = analyse_git_history(open_history(context.project, Path(scratch)), window, on_progress)
    return settle(context, parts, request)


def analyze_board_history(
    context: Context,
    request: AnalysisRequest,
    export: Path | None,
    task_files: tuple[str, ...] = (),
    on_progress: Progress | None = None,
) -> Analysed:
    """P3: how many completed tasks have a result that a machine can judge; from a board export, or from task files."""
    now = context.clock()
    window = request.window(now)
    if export is not None:
        return settle(context, analyse_export(InputFile(export), window.since, window.until), request)
    with tempfile.TemporaryDirectory(prefix="loopwright-analyze-") as scratch:
        history = open_history(context.project, Path(scratch))
        globs = task_files or TASK_FILES.globs
        parts = analyse_task_files(history, window, request.as_of(now), globs, on_progress)
    return settle(context, parts, request)


def analyze_gate(context: Context) -> Open | Closed:
    """Whether the gate of the closed loop is open, by the recorded results; and if not, why."""
    store = AnalysisStore(context.layout)
    return decide(store.newest(), current_digest(), store.tries())
