"""Who reviews a build."""

from __future__ import annotations

import msgspec

from loopwright.stages.spending import Spending


class ReviewRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The reviewer: an agent by name, or a person with their verdict. Without either, the settings' reviewer."""

    reviewer: str = ""
    verdict: str | None = None
    # Where the work goes back to, with a verdict that asks for changes.
    target: str | None = None
    rationale: str = ""
    spending: Spending | None = None
