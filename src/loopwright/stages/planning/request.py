"""How a workflow is to be planned."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from loopwright.stages.context import Context
from loopwright.stages.spending import Spending
from loopwright.workflow.model import PlanRound


class PlanRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which agent plans, from which spec, and who looks at the plan.

    `agent` None: the settings' default agent, which keeps a plan that exists; a name: that agent plans anew; empty: no
    agent, skeletons are written for a person.
    """

    agent: str | None = None
    # A spec that a person brings, in place of clarifying.
    spec: Path | None = None
    # An architect and a critic review the plan, as in the profile `full`.
    deliberate: bool = False
    max_rounds: int = 5
    # Shows a person what a round came to; their remark is what the next round has to heed, None ends the rounds.
    ask: Callable[[PlanRound], str | None] | None = None
    spending: Spending | None = None

    def is_reviewed(self, context: Context) -> bool:
        """Whether an architect and a critic look at the plan."""
        return self.deliberate or context.settings.values.workflow.profile == "full"
