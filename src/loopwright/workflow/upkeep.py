"""Looks at a workflow's files without changing them, mends a damaged journal, and knows which kept bytes are needed.

Whoever calls what changes something holds the workflow's lock.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from loopwright.journal import event_log
from loopwright.kernel import codec
from loopwright.kernel.digest import sha256
from loopwright.kernel.files import copy_aside, read_plainly, set_aside, write_durably
from loopwright.workflow.delivery import Plan
from loopwright.workflow.events import DocumentsKept, Event
from loopwright.workflow.evolve import evolve
from loopwright.workflow.model import Archived, Workflow
from loopwright.workflow.store import LINE
from loopwright.workspace.layout import WorkflowPaths

DELIVERY = ("delivery/plan.json", "delivery/done.json")
_KIND: event_log.Kind[Workflow, Event] = event_log.Kind(LINE, evolve)
_MOST_BYTES = 64 << 20


class Looked(msgspec.Struct, frozen=True):
    """A journal as far as it is sound; `damage` says why it is not believed behind that."""

    workflow: Workflow | None
    sound_bytes: int
    damage: str | None = None


def look(paths: WorkflowPaths) -> Looked:
    """A torn end is no damage: the next command cuts it off."""
    found = event_log.replay(_KIND, paths.journal)
    return Looked(found.state, found.sound_bytes, None if found.is_torn else found.damage)


def paths_now(paths: WorkflowPaths, workflow: Workflow) -> WorkflowPaths:
    """Where its documents are now: its change may have a name of its own, or another place."""
    at = workflow.at
    moved = at.folder if isinstance(at, Archived) and not at.pending else ""
    return msgspec.structs.replace(paths, change_id=workflow.change, archived=moved)


def mend_journal(paths: WorkflowPaths) -> Path:
    """Keep the sound lines; the damaged file stays beside them, whole. Nothing sound: there is no journal any more."""
    found = look(paths)
    if found.workflow is None:
        return set_aside(paths.journal)
    aside = copy_aside(paths.journal)
    write_durably(paths.journal, paths.journal.read_bytes()[: found.sound_bytes])
    return aside


def objects(paths: WorkflowPaths) -> list[Path]:
    """The kept bytes, by digest."""
    folder = paths.object("x").parent
    found = sorted(os.listdir(folder)) if folder.is_dir() else []
    return [folder / name for name in found if len(name) == 64 and not name.startswith(".")]


def unneeded_objects(paths: WorkflowPaths) -> list[Path]:
    """Kept bytes that nothing asks for: no event names them, and no delivery needs them to be taken back.

    An archived workflow takes nothing in and brings nothing back, so only its delivery counts there.
    """
    found = look(paths)
    if found.damage is not None or found.workflow is None:
        return []  # what can't be read may name anything
    at = found.workflow.at
    needed = set(_of_deliveries(paths))
    if isinstance(at, Archived):
        needed |= {write.after for write in at.pending}
    else:
        needed |= set(_of_events(paths))
    return [path for path in objects(paths) if path.name not in needed]


def undo_needs(paths: WorkflowPaths) -> list[str]:
    """Digests without which what was delivered can't be taken back."""
    done = _plan(paths.folder / DELIVERY[1])
    return [move.before.removeprefix("link:") for move in done.moves if move.before] if done is not None else []


def is_sound(path: Path) -> bool:
    """Whether kept bytes are what their name says."""
    try:
        return sha256(read_plainly(path, most=_MOST_BYTES)) == path.name
    except OSError:
        return False


def _of_events(paths: WorkflowPaths) -> Iterator[str]:
    for _, line in event_log.lines(LINE, paths.journal):
        for event in line.events:
            if isinstance(event, DocumentsKept):
                yield from event.documents.values()


def _of_deliveries(paths: WorkflowPaths) -> Iterator[str]:
    for name in DELIVERY:
        plan = _plan(paths.folder / name)
        for move in plan.moves if plan is not None else ():
            yield move.before.removeprefix("link:")
            yield move.after.removeprefix("link:")


def _plan(path: Path) -> Plan | None:
    try:
        return codec.from_json(read_plainly(path, most=_MOST_BYTES), Plan)
    except (OSError, codec.Undecodable):
        return None
