"""`loopwright status` and `next`: all workflows at a glance, read from `state.json`. Imports little.

A document that is newer than `state.json` makes the list stale: `stale` names such workflows, to be derived again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from loopwright.kernel.files import read_regular_file
from loopwright.wording.choices import PersonChoice
from loopwright.workspace.layout import Layout

STAGES = ("clarify", "plan", "build", "review", "done", "damaged")
# The archive status of work of `loopwright do` that is over: it changes no spec.
NO_ARCHIVE = "not-needed"
_MOST_BYTES = 64 << 20


class WorkflowLine(msgspec.Struct, frozen=True):
    """A workflow in one line."""

    slug: str
    current_stage: str = "damaged"
    stage_status: str = ""
    archive_status: str = ""
    spec_sync_status: str = ""
    pending_user_decision: str | None = None
    updated_at: str = ""
    recommended_next_action: str = ""
    # The commands among which a person chooses; the first is the recommended one.
    choices: list[PersonChoice] = []

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do: it is archived, or needs no archive."""
        return self.archive_status in ("archived", NO_ARCHIVE)


def list_workflows(layout: Layout) -> list[WorkflowLine]:
    """All workflows, the last changed first."""
    return sorted(_listed(layout), key=lambda workflow: (workflow.updated_at, workflow.slug), reverse=True)


def up_to_date(layout: Layout, most: int, refresh: Callable[[list[str]], None]) -> list[WorkflowLine]:
    """All workflows, the newest change first. `refresh` gets those of the first active ones whose state is stale."""
    workflows = list_workflows(layout)
    active = [workflow for workflow in workflows if not workflow.is_over]
    changed = stale(layout, active[:most])
    if not changed:
        return workflows
    refresh(changed)
    return list_workflows(layout)


def stale(layout: Layout, listed: list[WorkflowLine]) -> list[str]:
    """The workflows whose documents or specs are newer than their `state.json`."""
    specs = max((_newest(folder) for folder in _folders(layout.specs)), default=0)
    slugs = []
    for workflow in listed:
        paths = layout.workflow(workflow.slug)
        try:
            written = paths.state.stat().st_mtime_ns
        except OSError:
            continue  # `status SLUG` reports the reason
        folders = (paths.folder, *_folders(paths.change))
        plans = _newest(layout.plans) if workflow.current_stage == "plan" else 0
        if max(specs, plans, *(_newest(folder, but=paths.state) for folder in folders)) > written:
            slugs.append(workflow.slug)
    return slugs


def _folders(top: Path) -> Iterator[Path]:
    for folder, _, _ in os.walk(top):
        yield Path(folder)


def _newest(folder: Path, but: Path | None = None) -> int:
    newest = 0
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(".") or (but is not None and entry.name == but.name):
                continue
            with suppress(OSError):
                if entry.is_file(follow_symlinks=False):
                    newest = max(newest, entry.stat(follow_symlinks=False).st_mtime_ns)
    return newest


def _listed(layout: Layout) -> Iterator[WorkflowLine]:
    decoder = msgspec.json.Decoder(WorkflowLine)
    for slug in layout.workflow_slugs():
        look = f"loopwright status {slug}"
        damaged = WorkflowLine(slug, recommended_next_action=look, choices=[PersonChoice(look)])
        try:
            workflow = decoder.decode(read_regular_file(layout.workflow(slug).state, most=_MOST_BYTES))
        except (OSError, ValueError):
            workflow = damaged
        yield workflow if workflow.slug == slug and workflow.current_stage in STAGES else damaged
