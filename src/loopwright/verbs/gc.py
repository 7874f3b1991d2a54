"""`loopwright gc`: remove old runs and sandboxes; the chain of evidence stays whole."""

from __future__ import annotations

import msgspec

from loopwright.kernel.clock import stamp
from loopwright.kernel.files import remove_tree
from loopwright.sandbox import place
from loopwright.verbs.context import Context
from loopwright.verbs.recover import recover


class Collected(msgspec.Struct, frozen=True):
    """What was, or would be, removed."""

    runs: tuple[str, ...]
    sandboxes: tuple[str, ...]


def gc(context: Context, *, keep: int, dry_run: bool = False) -> Collected:
    """Keep the newest `keep` runs; remove the others, kept sandboxes and leftovers."""
    sandboxes = [*place.kept(context.wanted_sandbox_root()), *place.leftovers(context.wanted_sandbox_root())]
    gone = context.store.collected()
    known = [entry.data["run_id"] for entry in context.store.recorded() if entry.data["run_id"] not in gone]
    old = known[:-keep] if keep else known
    if not dry_run:
        recover(context)
        for run_id in old:
            # Noted first: a crash in between leaves a folder that nobody misses, not a hole nobody explains.
            context.store.record_collected(run_id, stamp(context.clock()))
            remove_tree(context.store.folder(run_id))
            for turn in context.layout.turns_of(run_id):
                remove_tree(turn)
        for folder in place.kept(context.wanted_sandbox_root()):
            place.remove_kept(folder)
    return Collected(tuple(old), tuple(folder.name for folder in sandboxes))
