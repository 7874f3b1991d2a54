"""Take over another tool's workspace. The source stays as it is, and nothing here is overwritten."""

from __future__ import annotations

from loopwright.stages.context import Context
from loopwright.stages.takeover.workflows import TOOLS, TakenOver, TakeOverRequest, take_over_workspace

__all__ = ["TOOLS", "TakeOverRequest", "TakenOver", "take_over"]


def take_over(context: Context, request: TakeOverRequest) -> TakenOver:
    """Make workflows of another tool's changes, each at clarify; the rows say what became of each thing.

    With `request.dry_run` the rows are the same, and nothing is written.
    """
    return take_over_workspace(context, request)
