"""The work of a build, checked against what was verified; and whether this process belongs to the build."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import msgspec
from msgspec.structs import replace

from loopwright.errors import InsideAgent, WorkflowRefused
from loopwright.kernel import process_tree
from loopwright.kernel.digest import sha256
from loopwright.loop.model import Tree
from loopwright.loop.own_work import own_work
from loopwright.loop.work_files import patch_path
from loopwright.loop.worker_sandbox import with_work
from loopwright.sandbox.port import SandboxRequest
from loopwright.stages.context import Context, loops_of
from loopwright.workflow.model import Building, Workflow
from loopwright.workflow.verification import Verification


class Built(msgspec.Struct, frozen=True):
    """The work: its patch on the base, and the patch since the commit. Both are the same if the project was clean."""

    tree: Tree
    progress: Path
    patch: bytes
    since_commit: bytes

    def sandbox(self, context: Context) -> SandboxRequest:
        """The project with the work in it."""
        return with_work(context.sandbox_request(), self.tree, self.progress)


def require_verified(workflow: Workflow) -> Verification:
    """The verification of the build; `WorkflowRefused` if there is none."""
    if workflow.verification is None:
        raise WorkflowRefused(
            "review_gate_blocked", "no build was verified", next_command=f"loopwright build {workflow.slug}"
        )
    return workflow.verification


def built(context: Context, workflow: Workflow, verified: Verification) -> Built:
    """The verified work; `WorkflowRefused` if the kept patch differs from it."""
    loops = loops_of(context)
    for loop_id in reversed(workflow.loops):
        kept, progress = loops.load(loop_id).tree, loops.paths(loop_id).progress
        path = patch_path(progress, verified.patch_sha256)
        if kept is not None and path.is_file():
            data = path.read_bytes()
            if sha256(data) == verified.patch_sha256:
                # The verified tree may leave out protected changes of the work.
                tree = replace(kept, tree=verified.tree, patch_sha256=verified.patch_sha256)
                own = own_work(tree, progress, context.project)
                return Built(tree, progress, own.patch if own is not None else data, data)
    raise WorkflowRefused(
        "review_gate_blocked",
        f"the patch of {workflow.slug} differs from what was verified",
        next_command=f"loopwright build {workflow.slug}",
    )


def require_outside_build(context: Context, workflow: Workflow, command: str) -> None:
    """Raise `InsideAgent` if this process was started, directly or not, by the worker of this workflow's build."""
    at = workflow.at
    if not isinstance(at, Building) or at.loop_id is None:
        return
    worker = loops_of(context).load(at.loop_id).worker
    is_here = worker is not None and worker.host == socket.gethostname()
    if worker is not None and is_here and worker.pid in process_tree.ancestors(os.getpid()):
        raise InsideAgent(
            f"`loopwright {command}` is a person's decision, and this is a process of the build that it is about",
            hint="run it in your own terminal",
        )
