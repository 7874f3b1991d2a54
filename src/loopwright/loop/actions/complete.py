"""complete: the hand-over. What was done, what shows it, and where the work is."""

from __future__ import annotations

from loopwright.kernel.files import make_folder, write_durably
from loopwright.loop import commands as c
from loopwright.loop.model import Loop
from loopwright.loop.own_work import own_work
from loopwright.loop.work_files import patch_path
from loopwright.loop.worker_context import WorkerContext


def perform(loop: Loop, context: WorkerContext, action_id: str) -> c.Command:
    """Write the summary and the patch beside it."""
    progress = context.progress(loop)
    make_folder(progress)
    lines = [f"# {loop.title}", "", loop.description, "", "## Tasks", ""]
    lines += [f"- {task.id}: {task.description} ({', '.join(task.files_changed) or 'no file'})" for task in loop.tasks]
    found = loop.validation
    lines += ["", "## Tests", "", f"{found.pass_rate:g} % of {len(found.results)} passed in run {found.run_id}:"]
    lines += [f"`loopwright verify {found.run_id}` checks that; `loopwright rerun {found.run_id}` repeats it.", ""]
    if loop.tree is not None:
        own = own_work(loop.tree, progress, context.request().project)
        whole = patch_path(progress, loop.tree.patch_sha256)
        write_durably(progress / "changes.patch", own.patch if own is not None else whole.read_bytes())
        lines += ["## The work", "", f"`git apply {progress / 'changes.patch'}`", ""]
    write_durably(progress / "summary.md", context.tools().redactor.clean("\n".join(lines)).data)
    return c.FinishComplete(action_id=action_id)
