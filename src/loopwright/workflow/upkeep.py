"""Inspects the files of a workflow, repairs a damaged journal, and knows which stored bytes are needed.

The caller of a function that changes files holds the lock of the workflow.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from loopwright.journal import event_log
from loopwright.kernel import codec
from loopwright.kernel.digest import sha256
from loopwright.kernel.files import copy_aside, read_regular_file, set_aside, write_durably
from loopwright.workflow.events import DocumentsKept
from loopwright.workflow.model import Archived, Done, Workflow
from loopwright.workflow.roll_forward import DeliveryPlan
from loopwright.workflow.store import KIND, LINE
from loopwright.workspace.layout import WorkflowPaths

CUT_SHORT, DELIVERED, UNDONE = "delivery/plan.json", "delivery/done.json", "delivery/undone.json"
_MOST_BYTES = 64 << 20


class Looked(msgspec.Struct, frozen=True):
    """The sound part of a journal; `damage` says what is wrong after it."""

    workflow: Workflow | None
    sound_bytes: int
    damage: str | None = None


def look(paths: WorkflowPaths) -> Looked:
    """Inspect a journal. A torn end is not damage: the next command cuts it off."""
    try:
        replayed = event_log.replay(KIND, paths.journal)
    except OSError as problem:
        return Looked(None, 0, problem.strerror or str(problem))
    return Looked(replayed.state, replayed.sound_bytes, None if replayed.is_torn else replayed.damage)


def paths_now(paths: WorkflowPaths, workflow: Workflow) -> WorkflowPaths:
    """The current paths: the change may have its own name, or an archived place."""
    at = workflow.at
    moved = at.folder if isinstance(at, Archived) and not at.pending else ""
    return msgspec.structs.replace(paths, change_id=workflow.change, archived=moved)


def mend_journal(paths: WorkflowPaths) -> Path:
    """Keep the sound lines, and the damaged file next to them. Without sound lines the journal is removed."""
    journal = look(paths)
    if journal.workflow is None:
        return set_aside(paths.journal)
    aside = copy_aside(paths.journal)
    write_durably(paths.journal, paths.journal.read_bytes()[: journal.sound_bytes])
    return aside


def objects(paths: WorkflowPaths) -> list[Path]:
    """The stored bytes, by digest."""
    folder = paths.object("x").parent
    names = sorted(os.listdir(folder)) if folder.is_dir() else []
    return [folder / name for name in names if len(name) == 64 and not name.startswith(".")]


def unneeded_objects(paths: WorkflowPaths) -> list[Path]:
    """Stored bytes that no event names and no `undo` needs.

    For an archived workflow this includes older versions of documents: `undo` restores only the last.
    """
    journal = look(paths)
    if journal.damage is not None or journal.workflow is None:
        return []  # an unreadable journal may name anything
    workflow = journal.workflow
    needed = set(_of_deliveries(paths))
    if isinstance(workflow.at, Archived):
        needed |= set(workflow.documents.values())
        needed |= {digest for write in workflow.at.writes for digest in (write.before, write.after)}
    else:
        needed |= set(_of_events(paths))
    return [path for path in objects(paths) if path.name not in needed]


def undo_needs(paths: WorkflowPaths, workflow: Workflow) -> list[str]:
    """Digests that `undo` needs for a delivery or an archive."""
    at = workflow.at
    if not isinstance(at, Done | Archived) or at.delivery is None:
        return []
    done = _plan(paths.folder / DELIVERED)
    digests = [move.before.removeprefix("link:") for move in done.moves] if done is not None else []
    digests += [write.before for write in at.writes] if isinstance(at, Archived) else []
    return [digest for digest in digests if digest]


def is_sound(path: Path) -> bool:
    """Whether stored bytes match their digest."""
    try:
        return sha256(read_regular_file(path, most=_MOST_BYTES)) == path.name
    except OSError:
        return False


def _of_events(paths: WorkflowPaths) -> Iterator[str]:
    for _, line in event_log.lines(LINE, paths.journal):
        for event in line.events:
            if isinstance(event, DocumentsKept):
                yield from event.documents.values()


def _of_deliveries(paths: WorkflowPaths) -> Iterator[str]:
    for name in (CUT_SHORT, DELIVERED, UNDONE):
        plan = _plan(paths.folder / name)
        for move in plan.moves if plan is not None else ():
            yield move.before.removeprefix("link:")
            yield move.after.removeprefix("link:")


def _plan(path: Path) -> DeliveryPlan | None:
    try:
        return codec.from_json(read_regular_file(path, most=_MOST_BYTES), DeliveryPlan)
    except (OSError, codec.Undecodable):
        return None
