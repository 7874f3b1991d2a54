"""complete: writes the summary of the work, its proof, and its patch."""

from __future__ import annotations

from pathlib import Path

from loopwright.kernel.files import make_folder, write_durably
from loopwright.loop import commands as c
from loopwright.loop.completion import doubts_of
from loopwright.loop.model import Loop, Tree
from loopwright.loop.own_work import own_work
from loopwright.loop.work_files import patch_path
from loopwright.loop.worker_context import WorkerContext

_PATCH = "changes.patch"


def perform(loop: Loop, context: WorkerContext, action_id: str) -> c.FinishComplete:
    """Write the summary and the patch. The rules decide whether the loop is done."""
    progress = context.progress(loop)
    make_folder(progress)
    lines = [f"# {loop.title}", "", loop.description, "", "## Tasks", ""]
    grades = {proof.task_id: f", {proof.grade.value}" for proof in loop.validation.proofs}
    lines += [
        f"- {task.id}: {task.description} ({', '.join(task.files_changed) or 'no file'}{grades.get(task.id, '')})"
        for task in loop.tasks
    ]
    run_id, tests = loop.validation.run_id, loop.validation
    passed = sum(result.status == "passed" for result in tests.results)
    lines += ["", "## Tests", "", f"Run {run_id}: {passed} of {len(tests.results)} passed."]
    lines += [f"`loopwright verify {run_id}` checks that; `loopwright rerun {run_id}` repeats it.", ""]
    lines += [f"{tests.proof}.", ""] if tests.proof else []
    if doubts := doubts_of(loop):
        lines += ["## Not proven", "", *(f"- {doubt.message}" for doubt in doubts), ""]
    if _hand_over(loop.tree, progress, context.request().project):
        lines += ["## The work", "", _delivery(loop, progress), ""]
    write_durably(progress / "summary.md", context.tools().redactor.clean("\n".join(lines)).data)
    return c.FinishComplete(action_id=action_id)


def _delivery(loop: Loop, progress: Path) -> str:
    if loop.workflow is None:
        return f"`git apply {progress / _PATCH}`"
    return f"The workflow {loop.workflow} delivers it: `loopwright status {loop.workflow}` shows the next step."


def _hand_over(tree: Tree | None, progress: Path, project: Path) -> bool:
    """Write the patch, and return whether there is one. An empty patch and the patch of an earlier try are removed."""
    if tree is None or not tree.has_changes:
        (progress / _PATCH).unlink(missing_ok=True)
        return False
    own = own_work(tree, progress, project)
    patch = own.patch if own is not None else patch_path(progress, tree.patch_sha256).read_bytes()
    write_durably(progress / _PATCH, patch)
    return True
