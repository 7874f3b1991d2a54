"""What a workflow's loop built: its patch, checked against what was verified, and a sandbox that holds it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from loopwright.errors import WorkflowRefused
from loopwright.evidence.model import BaseRecord
from loopwright.kernel.digest import sha256
from loopwright.loop.model import Tree
from loopwright.loop.work_files import patch_path
from loopwright.sandbox.model import Mode, RecordedRequest
from loopwright.sandbox.open import Wanted
from loopwright.verbs.context import Context
from loopwright.verbs.loop import control
from loopwright.workflow.model import Verification, Workflow


class Built(msgspec.Struct, frozen=True):
    """The work: a patch on a base."""

    tree: Tree
    path: Path
    patch: bytes

    def sandbox(self, context: Context) -> Wanted:
        """The project with the work in it."""
        now = context.sandbox_request()
        return RecordedRequest(
            now=now,
            mode=Mode.COPY if now.mode == Mode.COPY else Mode.WORKTREE,
            base=BaseRecord(commit=self.tree.commit, tree=self.tree.tree, is_commit=False),
            base_patch=self.path,
        )


def built(context: Context, workflow: Workflow, verified: Verification) -> Built:
    """What was verified, byte for byte; anything else is no work of this workflow."""
    loops = control.store_of(context)
    for loop_id in reversed(workflow.loops):
        tree = loops.load(loop_id).tree
        path = patch_path(loops.paths(loop_id).progress, verified.patch_sha256)
        if tree is not None and tree.patch_sha256 == verified.patch_sha256 and path.is_file():
            data = path.read_bytes()
            if sha256(data) == verified.patch_sha256:
                return Built(tree, path, data)
    raise WorkflowRefused(
        "review_gate_blocked",
        f"the patch of {workflow.slug} is not any more what was verified",
        next_command=f"loopwright build {workflow.slug}",
    )
