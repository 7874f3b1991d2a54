"""The workspace's loops and workflows, opened with its clock and its gates."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from loopwright.loop.store import LoopStore
from loopwright.stages.context import Context
from loopwright.workflow.facts import Gates
from loopwright.workflow.store import WorkflowStore


def loops_of(context: Context) -> LoopStore:
    """The workspace's loops."""
    return LoopStore(context.layout, context.clock)


def workflows_of(context: Context) -> WorkflowStore:
    """The workspace's workflows."""
    values = context.settings.values
    gates = Gates(
        full=values.workflow.profile == "full",
        document_language=values.workspace.document_language,
        seal=(*values.workflow.seal, *_program_folders(context)),
        has_test_command=bool(values.loop.test_command),
    )
    return WorkflowStore(context.layout, context.clock, gates)


def _program_folders(context: Context) -> Iterator[str]:
    """Project folders on PATH: a new program there can stand in for the one that judges."""
    for entry in context.environment.get("PATH", "").split(os.pathsep):
        if entry.startswith("/") and context.project in Path(entry).parents:
            yield f"{Path(entry).relative_to(context.project)}/**"
