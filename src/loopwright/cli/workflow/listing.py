"""The workflows of a list as they are now. Loads what derives them only where somebody changed something."""

from __future__ import annotations

from pathlib import Path

from loopwright.cli.lazy import load
from loopwright.workflow.listing import WorkflowLine, list_workflows, stale
from loopwright.workspace.layout import Layout


def up_to_date(project_root: Path, layout: Layout, most: int) -> list[WorkflowLine]:
    """All of them, the newest change first; the first active ones are derived anew where their state is stale."""
    listed = list_workflows(layout)
    active = [one for one in listed if one.archive_status != "archived"][:most]
    changed = stale(layout, active)
    if not changed:
        return listed
    load("loopwright.cli.workflow.whole").derive_again(project_root, changed)
    return list_workflows(layout)
