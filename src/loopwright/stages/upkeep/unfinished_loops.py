"""Sandboxes in which somebody worked by hand, in a turn that ended before it was handed in."""

from __future__ import annotations

from pathlib import Path

from loopwright.errors import LoopwrightError
from loopwright.loop.model import Completed
from loopwright.loop.worker_sandbox import work_of
from loopwright.sandbox import place
from loopwright.sandbox.model import SandboxFolders
from loopwright.stages.context import Context
from loopwright.stages.stores import loops_of


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
