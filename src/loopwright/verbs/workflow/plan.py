"""Make a plan of a spec: slices with checks, documents, and a delta to the living specs."""

from __future__ import annotations

from loopwright.kernel.process import Cancellation
from loopwright.stages.context import Context, Tell
from loopwright.stages.person import require_person
from loopwright.stages.planning.request import PlanRequest
from loopwright.stages.planning.stage import plan_change
from loopwright.stages.status import WorkflowView

__all__ = ["PlanRequest", "plan"]


def plan(context: Context, name: str, request: PlanRequest, tell: Tell, cancellation: Cancellation) -> WorkflowView:
    """Plan a workflow, run the checks of the plan on the base, and ask a person to approve it.

    With `request.spec` a person brings the spec and stands for it; a workflow of that name begins with it if needed.
    """
    if request.spec is not None:
        require_person(context.environment, "plan --direct")
    return plan_change(context, name, request, tell, cancellation)
