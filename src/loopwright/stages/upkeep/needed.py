"""What `gc` must keep: runs that workflows still need, stored documents, and work that was not handed in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from loopwright.errors import LoopwrightError
from loopwright.evidence.store import STARTED
from loopwright.journal.store import Entry
from loopwright.kernel.files import read_regular_file
from loopwright.kernel.locks import locked
from loopwright.loop.model import Completed, Loop
from loopwright.loop.worker_sandbox import work_of
from loopwright.sandbox import homes, place
from loopwright.sandbox.model import SandboxFolders
from loopwright.stages.context import Context, loops_of
from loopwright.workflow.documents.page import MOST_BYTES
from loopwright.workflow.documents.record import NAME as RECORD
from loopwright.workflow.model import Archived, Done
from loopwright.workflow.upkeep import look, unneeded_objects

_NAMES = re.compile(r"[A-Za-z0-9._-]+")


def needed_runs(context: Context) -> dict[str, str]:
    """Each run that a loop or a workflow still needs, with its name. Archived and discarded workflows need none."""
    entries = context.store.journal.entries()
    needed = _needed_by_loops(context, entries)
    started = {entry.data["run_id"]: entry.data.get("workflow") for entry in entries if entry.kind == STARTED}
    for slug in context.layout.workflow_slugs():
        known = look(context.layout.workflow(slug))
        if known.damage is not None or known.workflow is None:
            # Its needs are unknown: every run that was made for it stays.
            needed |= dict.fromkeys((run_id for run_id, owner in started.items() if owner == slug), slug)
            continue
        workflow = known.workflow
        is_discarded = isinstance(workflow.at, Done) and bool(workflow.at.discarded_by)
        if is_discarded or (isinstance(workflow.at, Archived) and not workflow.at.pending):
            continue
        verified = workflow.verification
        runs = [control.run_id for control in workflow.controls.values()]
        runs += verified.run_ids if verified is not None else ()
        # Its audit and its record name runs, too.
        names = _names_in_documents(context, slug)
        needed |= dict.fromkeys((*runs, *(run_id for run_id in started if run_id in names)), slug)
    return needed | _bases_of(needed, entries)


def _bases_of(needed: dict[str, str], entries: Sequence[Entry]) -> dict[str, str]:
    """The runs on the base with which needed runs are compared: they may be of work that is over."""
    bases = {entry.data["run_id"]: entry.data.get("base_run") for entry in entries if entry.kind == STARTED}
    return {base: owner for run_id, owner in needed.items() if (base := bases.get(run_id)) is not None}


def _needed_by_loops(context: Context, entries: Sequence[Entry]) -> dict[str, str]:
    """All runs of a loop that may continue, because its holds name them; then only the run that validated it."""
    needed: dict[str, str] = {}
    runs: dict[str, list[str]] = {}
    for entry in entries:
        if entry.kind == STARTED and (loop_id := entry.data.get("loop_id")):
            runs.setdefault(loop_id, []).append(entry.data["run_id"])
    stored = set(loops_of(context).ids())
    for loop_id in runs.keys() & stored:
        proof = _proof_of(context, loop_id)
        needed |= dict.fromkeys(runs[loop_id] if proof is None else proof, loop_id)
    return needed


def _proof_of(context: Context, loop_id: str) -> list[str] | None:
    """The run that validated a loop that is over; None if the loop may continue or be repaired.

    A workflow knows itself which runs of its build it needs.
    """
    loop = _readable_loop(context, loop_id)
    if loop is None or not loop.is_over:
        return None
    run_id = loop.validation.run_id if loop.workflow is None else None
    return [run_id] if run_id else []


def _names_in_documents(context: Context, slug: str) -> set[str]:
    folder = context.layout.workflow(slug)
    texts = b" ".join(_text(folder.document(name)) for name in ("build-support/completion-audit.json", RECORD))
    return set(_NAMES.findall(texts.decode("utf-8", "replace")))


def _text(path: Path) -> bytes:
    try:
        return read_regular_file(path, most=MOST_BYTES)
    except OSError:
        return b""


def unneeded(context: Context, *, remove: bool = False) -> list[Path]:
    """Stored documents of workflows that are no longer needed; with `remove` they are removed.

    Removed under the lock of each workflow: documents are stored just before an event names them.
    """
    listed: list[Path] = []
    for slug in context.layout.workflow_slugs():
        with locked(context.layout.lock(f"workflow-{slug}")) if remove else nullcontext():
            objects = unneeded_objects(context.layout.workflow(slug))
            for path in objects if remove else ():
                path.unlink(missing_ok=True)
            listed += objects
    return listed


def left_by_hand(context: Context) -> dict[Path, str]:
    """Folders with work by hand that was not handed in, each with its loop."""
    loops = _loops_by_work(context)
    unfinished = place.unfinished(context.configured_sandbox_root(), context.project)
    return {SandboxFolders(folder).repo: loops[work] for folder, work in unfinished.items() if work in loops}


def required_sandboxes(context: Context) -> frozenset[Path]:
    """Sandboxes with the only copy of work, of loops that are not completed or unknown: only a person removes them."""
    loops = _loops_by_work(context)

    def is_completed(work: str) -> bool:
        # A stopped or failed loop can be retried.
        loop = _readable_loop(context, loops[work]) if work in loops else None
        return loop is not None and isinstance(loop.phase, Completed)

    unfinished = place.unfinished(context.configured_sandbox_root(), context.project)
    return frozenset(folder for folder, work in unfinished.items() if not is_completed(work))


def drop_finished_homes(context: Context) -> None:
    """Remove home folders of loops that ended or were deleted, and of other work whose process died."""
    root, loops = context.configured_sandbox_root(), _loops_by_work(context)
    for work in homes.works_with_homes(root, context.project):
        loop = _readable_loop(context, loops[work]) if work in loops else None
        is_over = loop.is_over if loop is not None else work not in loops
        if is_over and not place.is_in_use(root / work):
            homes.drop_homes(root, context.project, work)


def _loops_by_work(context: Context) -> dict[str, str]:
    return {work_of(loop_id): loop_id for loop_id in loops_of(context).ids()}


def _readable_loop(context: Context, loop_id: str) -> Loop | None:
    """The loop; None if it is unreadable, and may be repaired."""
    try:
        return loops_of(context).load(loop_id)
    except LoopwrightError:
        return None
