"""How a workflow stands, derived from the disk at this moment."""

from __future__ import annotations

from collections.abc import Iterable

from loopwright.stages.context import Context
from loopwright.stages.status import FlightView, WorkflowView, refresh, view_workflow

__all__ = ["FlightView", "WorkflowView", "refresh_all", "show"]


def show(context: Context, slug: str) -> WorkflowView:
    """One workflow: its stage, what blocks it, what it cost, and the command that moves on."""
    return view_workflow(context, slug)


def refresh_all(context: Context, slugs: Iterable[str]) -> None:
    """Derive the `state.json` of these workflows again; one that can't be read is skipped."""
    refresh(context, slugs)
