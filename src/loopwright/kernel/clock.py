"""Wall-clock time as a value: other modules take a `Clock` as an argument."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The real clock."""
    return datetime.now(UTC)


def stamp(moment: datetime) -> str:
    """ISO 8601 in UTC with whole seconds, as in every file that Loopwright writes."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def compact_stamp(moment: datetime) -> str:
    """The time in a form that is safe in a file name and sorts by time."""
    return moment.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
