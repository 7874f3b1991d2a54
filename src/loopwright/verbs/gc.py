"""`loopwright gc`: remove old runs, sandboxes and stored documents of this project that are no longer needed."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from loopwright.kernel.clock import stamp
from loopwright.kernel.files import remove_tree, shown
from loopwright.sandbox import place
from loopwright.stages.context import Context
from loopwright.stages.recover import recover
from loopwright.stages.upkeep.needed import drop_finished_homes, needed_runs, required_sandboxes, unneeded


class Collected(msgspec.Struct, frozen=True):
    """What was or would be removed; and the old runs that stay, each with the loop or workflow that needs it."""

    runs: tuple[str, ...]
    sandboxes: tuple[str, ...]
    objects: tuple[str, ...] = ()
    needed: dict[str, str] = {}


def gc(context: Context, *, keep: int, dry_run: bool = False) -> Collected:
    """Keep the newest `keep` runs and sandboxes, and everything that a workflow or a loop needs; remove the rest."""
    kept = _old_sandboxes(context, keep)
    sandboxes = [*kept, *place.leftovers(context.configured_sandbox_root(), context.project)]
    gone = context.store.collected()
    known = [entry.data["run_id"] for entry in context.store.recorded() if entry.data["run_id"] not in gone]
    needed = needed_runs(context)
    aged = known[:-keep] if keep else known
    old = [run_id for run_id in aged if run_id not in needed]
    if not dry_run:
        recover(context)
        for run_id in old:
            # Recorded first: a crash in between leaves an extra folder, not an unexplained gap.
            context.store.record_collected(run_id, stamp(context.clock()))
            # A folder without evidence is not the recorded one: another tool reused the name.
            if context.store.has_evidence(run_id):
                remove_tree(context.store.folder(run_id))
            for turn in context.layout.turns_of(run_id):
                remove_tree(turn)
        for folder in kept:
            place.remove_kept(folder)
        drop_finished_homes(context)
    objects = unneeded(context, remove=not dry_run)
    return Collected(
        tuple(old),
        tuple(folder.name for folder in sandboxes),
        tuple(shown(os.path.relpath(path, context.project)) for path in objects),
        {run_id: needed[run_id] for run_id in aged if run_id in needed},
    )


def _old_sandboxes(context: Context, keep: int) -> list[Path]:
    """Kept sandboxes of this project except the newest ones, and work by hand that its loop no longer needs."""
    root = context.configured_sandbox_root()
    by_hand = place.unfinished(root, context.project)
    needed = required_sandboxes(context)
    kept = [folder for folder in place.kept(root, context.project) if folder not in by_hand]
    return [
        *(kept[:-keep] if keep else kept),
        *(folder for folder in by_hand if folder not in needed),
    ]
