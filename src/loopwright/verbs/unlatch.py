"""`loopwright unlatch`: show why it latched, then remove the latch. A person's command."""

from __future__ import annotations

from loopwright.runner.latch import Latch, clear_latch, read_latch
from loopwright.stages.context import Context
from loopwright.stages.person import require_person


def unlatch(context: Context) -> Latch | None:
    """The latch that was there, now removed; None when there was none."""
    require_person(context.environment, "unlatch")
    latch = read_latch(context.layout.latch)
    if latch is not None:
        clear_latch(context.layout.latch)
    return latch
