"""`loopwright settings`: every value and where it came from."""

from __future__ import annotations

from loopwright.stages.context import Context
from loopwright.workspace.settings import ShownSetting


def settings(context: Context) -> list[ShownSetting]:
    """All of them, in the order of the reference."""
    return list(context.settings.listed())
