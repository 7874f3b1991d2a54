"""What `gc` may not take: runs that a workflow's gates still read, and bytes that something may ask for."""

from __future__ import annotations

import re
from pathlib import Path

from loopwright.errors import LoopwrightError
from loopwright.evidence.store import STARTED
from loopwright.kernel.files import read_regular_file
from loopwright.kernel.locks import locked
from loopwright.loop.model import Completed
from loopwright.loop.worker_sandbox import work_of
from loopwright.sandbox import homes, place
from loopwright.sandbox.model import SandboxFolders
from loopwright.stages.context import Context, loops_of
from loopwright.workflow.documents.page import MOST_BYTES
from loopwright.workflow.documents.record import NAME as RECORD
from loopwright.workflow.model import Archived
from loopwright.workflow.upkeep import look, unneeded_objects

_WORDS = re.compile(r"[A-Za-z0-9._-]+")


def needed_runs(context: Context) -> dict[str, str]:
    """Each run that a workflow which is not archived yet rests on, by the workflow's name."""
    found: dict[str, str] = {}
    entries = context.store.journal.entries()
    started = {entry.data["run_id"]: entry.data.get("workflow") for entry in entries if entry.kind == STARTED}
    for slug in context.layout.workflow_slugs():
        known = look(context.layout.workflow(slug))
        if known.damage is not None or known.workflow is None:
            # Nobody knows what it rests on: every run that was made for it stays.
            found |= dict.fromkeys((one for one, owner in started.items() if owner == slug), slug)
            continue
        workflow = known.workflow
        if isinstance(workflow.at, Archived) and not workflow.at.pending:
            continue
        verified = workflow.verification
        runs = [one.run_id for one in workflow.controls.values()]
        runs += verified.run_ids if verified is not None else ()
        # Also what its audit and its record speak of, while the work goes on.
        words = _words_of(context, slug)
        found |= dict.fromkeys((*runs, *(one for one in started if one in words)), slug)
    return found


def _words_of(context: Context, slug: str) -> set[str]:
    folder = context.layout.workflow(slug)
    texts = b" ".join(_text(folder.document(name)) for name in ("build-support/completion-audit.json", RECORD))
    return set(_WORDS.findall(texts.decode("utf-8", "replace")))


def _text(path: Path) -> bytes:
    try:
        return read_regular_file(path, most=MOST_BYTES)
    except OSError:
        return b""


def unneeded(context: Context) -> list[Path]:
    """Kept bytes of workflows that nothing asks for any more."""
    return [path for slug in context.layout.workflow_slugs() for path in _of(context, slug)]


def remove_unneeded(context: Context) -> list[Path]:
    """The same, removed; under each workflow's lock, for bytes are kept a moment before an event names them."""
    removed: list[Path] = []
    for slug in context.layout.workflow_slugs():
        with locked(context.layout.lock(f"workflow-{slug}")):
            for path in _of(context, slug):
                path.unlink(missing_ok=True)
                removed.append(path)
    return removed


def _of(context: Context, slug: str) -> list[Path]:
    return unneeded_objects(context.layout.workflow(slug))


def left_by_hand(context: Context) -> dict[Path, str]:
    """Those of this workspace's loops, each with its loop: the folders with the work."""
    loops = {work_of(loop_id): loop_id for loop_id in loops_of(context).ids()}
    found = place.unfinished(context.wanted_sandbox_root(), context.project)
    return {SandboxFolders(folder).repo: loops[work] for folder, work in found.items() if work in loops}


def still_wanted(context: Context) -> frozenset[Path]:
    """Sandboxes with work that is nowhere else, of loops that are not done, or not ours: only a person removes them."""
    loops = {work_of(loop_id): loop_id for loop_id in loops_of(context).ids()}
    found = place.unfinished(context.wanted_sandbox_root(), context.project)
    return frozenset(folder for folder, work in found.items() if work not in loops or _may_go_on(context, loops[work]))


def _may_go_on(context: Context, loop_id: str) -> bool:
    try:
        # One that was stopped, or failed, can be tried again.
        return not isinstance(loops_of(context).load(loop_id).phase, Completed)
    except LoopwrightError:
        return True  # what can't be read may still go on


def drop_finished_homes(context: Context) -> None:
    """Those of loops that are over or gone, and what a process that died left of other work."""
    root = context.wanted_sandbox_root()
    goes_on = {work_of(loop_id) for loop_id in loops_of(context).ids() if not _is_over(context, loop_id)}
    for work in homes.works_with_homes(root, context.project):
        if work not in goes_on and not place.is_in_use(root / work):
            homes.drop_homes(root, context.project, work)


def _is_over(context: Context, loop_id: str) -> bool:
    try:
        return loops_of(context).load(loop_id).is_over
    except LoopwrightError:
        return False  # what can't be read may still be mended
