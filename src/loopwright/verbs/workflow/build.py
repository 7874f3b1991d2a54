"""Build an approved plan, and carry a workflow through all its stages."""

from __future__ import annotations

from pathlib import Path

from loopwright.kernel.process import Cancellation
from loopwright.loop.model import Loop
from loopwright.loop.worker_context import Ask
from loopwright.stages.autopilot import FlightPlan, fly
from loopwright.stages.building.begin import BuildRequest, begin_build, return_to_build, slug_of_report
from loopwright.stages.building.drive import drive_loop
from loopwright.stages.context import Context, Tell, tell_nothing
from loopwright.stages.names import slug_of
from loopwright.stages.person import require_person
from loopwright.stages.status import WorkflowView

__all__ = [
    "BuildRequest",
    "FlightPlan",
    "autopilot",
    "drive",
    "prepare_build",
    "prepare_from_review",
    "slug_from",
    "slug_of_report",
]


def slug_from(name: str) -> str:
    """The workflow that a name means: its own name, or the file name of its PRD."""
    stem = Path(name).name
    return slug_of(stem.removeprefix("prd-").removesuffix(".md")) if stem.endswith(".md") else slug_of(name)


def prepare_build(
    context: Context,
    name: str,
    request: BuildRequest,
    tell: Tell = tell_nothing,
    cancellation: Cancellation | None = None,
) -> str:
    """Begin the build of an approved plan, or go on with it; `drive` drives the loop whose id this returns."""
    return begin_build(context, slug_from(name), request, tell, cancellation or Cancellation())


def prepare_from_review(
    context: Context,
    report: Path,
    request: BuildRequest,
    tell: Tell = tell_nothing,
    cancellation: Cancellation | None = None,
) -> str:
    """Build again what a review sent back; the person who asks for it consents to the way back."""
    require_person(context.environment, "build --from-review")
    return return_to_build(context, report, request, tell, cancellation or Cancellation())


def drive(context: Context, loop_id: str, cancellation: Cancellation | None = None, *, ask: Ask | None = None) -> Loop:
    """Drive a loop in this process until it is over or held."""
    return drive_loop(context, loop_id, cancellation or Cancellation(), ask=ask)


def autopilot(
    context: Context,
    slug: str,
    flight: FlightPlan,
    tell: Tell = tell_nothing,
    cancellation: Cancellation | None = None,
) -> WorkflowView:
    """Carry a workflow through its stages until it is done, or until a person has to decide.

    Each consent is recorded as the policy's own (`autopilot.may_approve`); only a person can start an autopilot.
    """
    require_person(context.environment, "autopilot")
    return fly(context, slug, flight, tell, cancellation or Cancellation())
