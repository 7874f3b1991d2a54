"""Build an approved plan: begin the build, and drive its loop."""

from __future__ import annotations

from pathlib import Path

from loopwright.kernel.process import Cancellation
from loopwright.loop.model import Loop
from loopwright.loop.worker_context import Ask
from loopwright.stages.building.begin import BuildRequest, begin_build, return_to_build, slug_of_report
from loopwright.stages.building.drive import drive_loop
from loopwright.stages.context import Context, Tell, tell_nothing
from loopwright.stages.names import slug_of
from loopwright.stages.person import require_person

__all__ = [
    "BuildRequest",
    "drive",
    "prepare_build",
    "prepare_from_review",
    "slug_from",
    "slug_of_report",
]


def slug_from(name: str) -> str:
    """The slug in a workflow name or in the path of a PRD."""
    stem = Path(name).name
    return slug_of(stem.removeprefix("prd-").removesuffix(".md")) if stem.endswith(".md") else slug_of(name)


def prepare_build(
    context: Context,
    name: str,
    request: BuildRequest,
    tell: Tell = tell_nothing,
    cancellation: Cancellation | None = None,
) -> str:
    """Start the build of an approved plan, or continue it; returns the id of its loop, for `drive`."""
    return begin_build(context, slug_from(name), request, tell, cancellation or Cancellation())


def prepare_from_review(
    context: Context,
    report: Path,
    request: BuildRequest,
    tell: Tell = tell_nothing,
    cancellation: Cancellation | None = None,
) -> str:
    """Build again after a review that requested changes; the caller approves the way back."""
    require_person(context.environment, "build --from-review")
    return return_to_build(context, report, request, tell, cancellation or Cancellation())


def drive(context: Context, loop_id: str, cancellation: Cancellation | None = None, *, ask: Ask | None = None) -> Loop:
    """Drive a loop in this process until it ends or is held."""
    return drive_loop(context, loop_id, cancellation or Cancellation(), ask=ask)
