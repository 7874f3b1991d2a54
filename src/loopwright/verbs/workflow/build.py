"""Build an approved plan: begin the build, and drive its loop."""

from __future__ import annotations

from loopwright.stages.building.begin import BuildRequest, slug_of_report
from loopwright.stages.building.begin import begin_build as prepare_build
from loopwright.stages.building.begin import return_to_build as prepare_from_review
from loopwright.stages.building.drive import drive_loop as drive
from loopwright.stages.names import slug_from

__all__ = [
    "BuildRequest",
    "drive",
    "prepare_build",
    "prepare_from_review",
    "slug_from",
    "slug_of_report",
]
