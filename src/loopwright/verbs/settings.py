"""`loopwright settings`: every value and where it came from."""

from __future__ import annotations

from loopwright.stages.context import Context
from loopwright.workspace.settings import Shown


def settings(context: Context) -> list[Shown]:
    """All of them, in the order of the reference."""
    return list(context.settings.listed())
