"""complete: writes the summary of the work, its proof, and its patch."""

from __future__ import annotations

from pathlib import Path

from loopwright.kernel.files import make_folder, write_durably
from loopwright.loop import commands as c
from loopwright.loop.completion import doubts_of
from loopwright.loop.model import Loop
from loopwright.loop.own_work import PATCH, hand_over
from loopwright.loop.worker_context import WorkerContext


def perform(loop: Loop, context: WorkerContext, action_id: str) -> c.FinishComplete:
    """Write the summary and the patch. The rules decide whether the loop is done."""
    progress = context.progress(loop)
    make_folder(progress)
    lines = [f"# {loop.title}", "", loop.description, "", "## Tasks", ""]
    # The gate of a build decides after its loop.
    proofs = loop.validation.proofs if loop.workflow is None else ()
    grades = {proof.task_id: f", {proof.grade.value}" for proof in proofs}
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
    if hand_over(loop.tree, progress, context.request().project):
        lines += ["## The work", "", _delivery(loop, progress), ""]
    write_durably(progress / "summary.md", context.tools().redactor.clean("\n".join(lines)).data)
    return c.FinishComplete(action_id=action_id)


def _delivery(loop: Loop, progress: Path) -> str:
    if loop.workflow is None:
        return f"`git apply {progress / PATCH}`"
    return f"The workflow {loop.workflow} delivers it: `loopwright status {loop.workflow}` shows the next step."
