"""Imports loops of Claude Code Workflow, whose files have the same format: held until a person looked at them."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from loopwright.errors import LoopwrightError
from loopwright.kernel.clock import stamp
from loopwright.kernel.files import make_folder, shown
from loopwright.kernel.ids import is_identifier
from loopwright.loop.model import Created, Held, Hold, Holder, Loop, Validation
from loopwright.loop.restore import restored_loop
from loopwright.stages.context import Context, loops_of
from loopwright.stages.person import actor
from loopwright.workflow.takeover.model import TakeoverRow
from loopwright.workspace.layout import LoopPaths

_FOLDER = ".loop"
_PREFIX = "loop-v2-"
_MESSAGE = "imported from another tool, which reported its tasks and tests; check them before you resume"


def take_loops(context: Context, top: Path, *, dry_run: bool) -> list[TakeoverRow]:
    """Import the loops in `.loop/`, next to the workspace or in it."""
    rows: list[TakeoverRow] = []
    for folder in (top.parent / _FOLDER, top / _FOLDER):
        if folder.is_symlink() or not folder.is_dir() or folder == context.layout.loops.resolve():
            continue  # in the interop layout, this is the folder of our own loops
        names = (path.name.removesuffix(".json") for path in sorted(folder.glob(f"{_PREFIX}*.json")))
        rows += [_take(context, LoopPaths(folder, name), dry_run=dry_run) for name in names if is_identifier(name)]
    return rows


def _take(context: Context, paths: LoopPaths, *, dry_run: bool) -> TakeoverRow:
    row = TakeoverRow("loop", f"{_FOLDER}/{paths.state.name}", paths.loop_id, "taken")
    store = loops_of(context)
    if paths.loop_id in store.ids():
        return replace(row, outcome="already", why="a loop with this id exists", next=_show(paths.loop_id))
    if paths.state.is_symlink():
        return replace(row, outcome="unreadable", why="symbolic links are not followed")
    try:
        loop = _held(restored_loop(paths, stamp(context.clock())), stamp(context.clock()))
        if not dry_run:
            make_folder(context.layout.loops)
            store.restore(loop, f"{shown(paths.state)} of another tool", actor())
    except (LoopwrightError, OSError) as problem:
        return replace(row, outcome="unreadable", why=str(problem))
    done = sum(task.status == "completed" for task in loop.tasks)
    why = f"tasks: {len(loop.tasks)}, completed according to the other tool: {done}; its pages are not imported"
    return replace(row, why=why, next=_show(paths.loop_id))


def _held(loop: Loop, now: str) -> Loop:
    """Without its test results and its tree: a run of Loopwright has to confirm them."""
    hold = Hold(holder=Holder.BLOCKER, code="imported", message=_MESSAGE, since=now)
    phase = loop.phase if isinstance(loop.phase, Created) else Held(holds=(hold,))
    return replace(loop, phase=phase, tree=None, validation=Validation(), is_validated=False)


def _show(loop_id: str) -> str:
    return f"loopwright loop show {loop_id}"
