"""What a workflow's loop built: its patch, checked against what was verified, and a sandbox that holds it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from loopwright.errors import WorkflowRefused
from loopwright.kernel.digest import sha256
from loopwright.loop.model import Tree
from loopwright.loop.own_work import own_work
from loopwright.loop.work_files import patch_path
from loopwright.loop.worker_sandbox import with_work
from loopwright.sandbox.port import SandboxRequest
from loopwright.stages.context import Context, loops_of
from loopwright.workflow.model import Workflow
from loopwright.workflow.verification import Verification


class Built(msgspec.Struct, frozen=True):
    """The work: its own patch, on what the project was, and the patch since the commit, the same in a clean one."""

    tree: Tree
    progress: Path
    patch: bytes
    since_commit: bytes

    def sandbox(self, context: Context) -> SandboxRequest:
        """The project with the work in it."""
        return with_work(context.sandbox_request(), self.tree, self.progress)


def built(context: Context, workflow: Workflow, verified: Verification) -> Built:
    """What was verified, byte for byte; anything else is no work of this workflow."""
    loops = loops_of(context)
    for loop_id in reversed(workflow.loops):
        tree, progress = loops.load(loop_id).tree, loops.paths(loop_id).progress
        path = patch_path(progress, verified.patch_sha256)
        if tree is not None and tree.patch_sha256 == verified.patch_sha256 and path.is_file():
            data = path.read_bytes()
            if sha256(data) == verified.patch_sha256:
                own = own_work(tree, progress, context.project)
                return Built(tree, progress, own.patch if own is not None else data, data)
    raise WorkflowRefused(
        "review_gate_blocked",
        f"the patch of {workflow.slug} is not any more what was verified",
        next_command=f"loopwright build {workflow.slug}",
    )
