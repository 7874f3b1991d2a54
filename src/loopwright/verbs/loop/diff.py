"""`loopwright loop diff`: what the work of a loop changed, as a patch. A build is a loop, too."""

from __future__ import annotations

from loopwright.errors import LoopRefused
from loopwright.loop.own_work import own_work
from loopwright.loop.patch_parts import parts_for
from loopwright.loop.work_files import patch_path
from loopwright.stages.context import Context, loops_of
from loopwright.verbs.loop.look import loop_named


def diff_of(context: Context, name: str, paths: tuple[str, ...]) -> bytes:
    """The patch of a loop, or of the build of a workflow; with paths, only the parts of these files and folders."""
    loop_id = loop_named(context, name)
    loops = loops_of(context)
    loop, progress = loops.load(loop_id), loops.paths(loop_id).progress
    if loop.tree is None or not loop.tree.has_changes:
        raise LoopRefused(
            "nothing_changed",
            f"the work of the loop {loop_id} changed no file",
            hint=f"`loopwright loop logs {loop_id} --agent` shows what its agents printed",
        )
    own = own_work(loop.tree, progress, context.project)
    patch = own.patch if own is not None else patch_path(progress, loop.tree.patch_sha256).read_bytes()
    chosen = parts_for(patch, paths) if paths else patch
    if not chosen:
        message = f"the work of the loop {loop_id} changed none of these files: {', '.join(paths)}"
        raise LoopRefused("nothing_changed", message, hint=f"`loopwright loop diff {loop_id}` shows all changes")
    return chosen
