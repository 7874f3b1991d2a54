"""What only a person may do refuses below a build's worker, too: there runs what an agent wrote, without its mark."""

from __future__ import annotations

import os
import socket

from loopwright.errors import InsideAgent
from loopwright.kernel import process_tree
from loopwright.stages.context import Context, loops_of
from loopwright.workflow.model import Building, Workflow


def require_outside_build(context: Context, workflow: Workflow, command: str) -> None:
    """Raise `InsideAgent` when the process that drives this workflow's build is among our ancestors."""
    at = workflow.at
    if not isinstance(at, Building) or at.loop_id is None:
        return
    worker = loops_of(context).load(at.loop_id).worker
    is_here = worker is not None and worker.host == socket.gethostname()
    if worker is not None and is_here and worker.pid in process_tree.ancestors(os.getpid()):
        raise InsideAgent(
            f"`loopwright {command}` is a person's decision, and this is a process of the build that it is about",
            hint="a person types it in a terminal of their own",
        )
