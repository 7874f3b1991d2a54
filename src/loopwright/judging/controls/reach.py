"""Whether an assertion of a script must be reached when the script runs. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

import msgspec


class ScriptReach(IntEnum):
    """How surely a script comes to one of its assertions. The weakest part of the way to it counts."""

    # Only on some machines, or nothing says when.
    OPTIONAL = 1
    # In a branch: work may have a reason not to come to it.
    IN_BRANCH = 2
    # A run that does not come to it passes although it can't fail.
    ALWAYS = 3


class ScriptPlace(msgspec.Struct, frozen=True):
    """A script in which one assertion expects something else. `failing` ends at the same place with a failure."""

    source: bytes
    reach: ScriptReach
    failing: bytes | None = None


def reach_of_calls(calls: Iterable[ScriptReach]) -> ScriptReach:
    """How surely a function is called, by the places that mention it."""
    return max(calls, default=ScriptReach.OPTIONAL)
