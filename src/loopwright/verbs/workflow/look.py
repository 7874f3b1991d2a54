"""`loopwright status SLUG` and `next`: how a workflow stands, derived from the disk at this moment."""

from __future__ import annotations

from typing import Any

import msgspec

from loopwright.verbs.context import Context
from loopwright.verbs.workflow.names import store_of
from loopwright.workflow.advice import Link, authorizations, evidence_chain, next_command, what_blocks
from loopwright.workflow.blockers import Blocker
from loopwright.workflow.model import Workflow
from loopwright.workflow.projection import readiness_document, stage_status
from loopwright.workflow.standing import Standing


class Shown(msgspec.Struct, frozen=True):
    """A workflow with everything that is derived from it."""

    workflow: Workflow
    standing: Standing
    chain: tuple[Link, ...]
    blockers: tuple[Blocker, ...]
    next: str
    stage_status: str

    @property
    def usd(self) -> float:
        """What agents cost so far, as far as they said."""
        return sum(cost.usd or 0.0 for cost in self.workflow.costs)

    @property
    def tokens(self) -> int:
        """What agents used so far."""
        return sum(cost.tokens or 0 for cost in self.workflow.costs)

    def document(self) -> dict[str, Any]:
        """For programs."""
        workflow = self.workflow
        return {
            "slug": workflow.slug,
            "stage": workflow.stage.value,
            "stage_status": self.stage_status,
            "revision": workflow.revision,
            "readiness": readiness_document(self.standing.readiness),
            "authorization": authorizations(workflow, self.standing),
            "evidence_chain": [msgspec.to_builtins(link) for link in self.chain],
            "decisions": [msgspec.to_builtins(one) for one in workflow.decisions],
            "cost": {"usd": self.usd, "tokens": self.tokens, "turns": len(workflow.costs)},
            "recommended_next_action": self.next,
        }


def show(context: Context, slug: str) -> Shown:
    """One workflow, as it stands now."""
    with store_of(context).changing(slug) as opened:
        workflow, facts, standing = opened.workflow, opened.facts(), opened.standing()
    return Shown(
        workflow=workflow,
        standing=standing,
        chain=evidence_chain(workflow, facts, standing),
        blockers=what_blocks(workflow, standing),
        next=next_command(workflow, standing),
        stage_status=stage_status(workflow, standing),
    )
