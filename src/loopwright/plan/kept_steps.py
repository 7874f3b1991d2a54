"""Whether a new plan keeps the steps that did not pass. Pure: a plan that drops what failed proves nothing."""

from __future__ import annotations

from loopwright.kernel.relative_folder import relative_folder
from loopwright.plan.model import Plan, Step


def dropped_steps(required: tuple[Step, ...], plan: Plan) -> tuple[str, ...]:
    """The ids of required steps that the plan lacks, or has with other commands or fewer checks."""
    return tuple(step.id for step in required if not any(_keeps(other, step) for other in plan.steps))


def _keeps(other: Step, step: Step) -> bool:
    """Ids, texts and time limits may change; a new exit code would accept the failure."""
    return (
        (other.commands, relative_folder(other.cwd), other.expected_exit)
        == (step.commands, relative_folder(step.cwd), step.expected_exit)
        and set(step.verification) <= set(other.verification)
        and set(step.env) <= set(other.env)
        and other.network >= step.network
    )
