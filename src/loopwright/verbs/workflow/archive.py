"""Merge a change that is done into the living specs."""

from __future__ import annotations

from loopwright.stages.archiving import ArchiveReport, ArchiveRequest, archive_change
from loopwright.stages.context import Context
from loopwright.stages.person import require_person

__all__ = ["ArchiveReport", "ArchiveRequest", "archive"]


def archive(context: Context, slug: str, request: ArchiveRequest) -> ArchiveReport:
    """Archive a change, all of it or nothing; archiving it again changes nothing."""
    require_person(context.environment, "archive")
    return archive_change(context, slug, request)
