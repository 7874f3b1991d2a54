"""A result as a picture. Needs the extra."""

from __future__ import annotations

from pathlib import Path

from loopwright.analysis.model import AnalysisResult
from loopwright.analysis.plots import draw


def plot(result: AnalysisResult, path: Path) -> None:
    """Draw it into an .svg or .png file."""
    draw(result, path)
