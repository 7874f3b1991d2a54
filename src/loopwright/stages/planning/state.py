"""The request for a plan, and the state of a plan: what exists, and who has reviewed it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from loopwright.agents.port import Role
from loopwright.errors import WorkflowRefused
from loopwright.kernel.files import shown
from loopwright.stages.context import Context
from loopwright.stages.spending import Spending
from loopwright.workflow.blockers import Family
from loopwright.workflow.documents.spec import Spec
from loopwright.workflow.facts import Facts
from loopwright.workflow.model import PlanRound, Workflow
from loopwright.workflow.package import CHANGE_DOCUMENTS, PLAN_DOCUMENTS, SLICES, is_planners
from loopwright.workflow.store import Opened, Snapshot


class PlanRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which agent plans, from which spec, and who reviews the plan.

    `agent` None: the default agent, which keeps an existing plan; a name: that agent plans again; empty: no agent,
    skeletons are written for a person.
    """

    agent: str | None = None
    # A spec of a person, instead of clarify.
    spec: Path | None = None
    # An architect and a critic review the plan, as in the profile `full`.
    deliberate: bool = False
    max_rounds: int = 5
    # Shows the result of a round to a person; returns an instruction for the next round, or None to end the rounds.
    ask: Callable[[PlanRound], str | None] | None = None
    spending: Spending | None = None

    def is_reviewed(self, context: Context) -> bool:
        """Whether an architect and a critic review the plan."""
        return self.deliberate or context.settings.values.workflow.profile == "full"


# Blockers for which the default agent plans again.
_FOR_THE_REVIEWERS = ("architect_review_incomplete", "critic_verdict_missing")
_INCOMPLETE = (Family.PLAN_PACKAGE, Family.VERTICAL_SLICES_MISSING, Family.SPEC_DELTA)
_FOR_A_PLANNER = (
    *_INCOMPLETE, Family.CRITIC_VERDICT, Family.ARCHITECT_REVIEW_INCOMPLETE, Family.PLAN_UNCHANGED,
)  # fmt: skip
# Limit of characters of another tool's document in the prompt of a planner.
_MOST_TAKEN = 4_000
# The documents that an architect and a critic read.
_REVIEWED = ("spec.md", *PLAN_DOCUMENTS.values(), CHANGE_DOCUMENTS["design"], SLICES)


class PlanState(msgspec.Struct, frozen=True, kw_only=True):
    """What the planner and the reviewers of a plan need, read under the lock of the workflow."""

    snapshot: Snapshot
    # Paths of the plan documents that a person wrote last.
    by_hand: tuple[str, ...]
    # What reviewers read, by name, and their notes on the last round.
    documents: Mapping[str, bytes]
    notes: Mapping[Role, str]
    # Plan documents of another tool from before the import, for the first planner.
    taken_over: tuple[str, ...]

    @property
    def workflow(self) -> Workflow:
        """The workflow that is planned."""
        return self.snapshot.workflow

    @property
    def facts(self) -> Facts:
        """The facts on disk."""
        return self.snapshot.facts

    @property
    def last_round(self) -> PlanRound | None:
        """The last round, if there was one."""
        return self.workflow.plan_rounds[-1] if self.workflow.plan_rounds else None

    @property
    def is_unseen(self) -> bool:
        """Whether there is a plan without a critic's verdict on its current version."""
        last = self.last_round
        if last is None:
            return False
        return last.critic is None or bool(last.seen and last.seen != self.facts.planned_parts)

    @property
    def is_sent_back(self) -> bool:
        """Whether a critic rejected the last round."""
        return self.last_round is not None and self.last_round.critic not in (None, "approve")

    def stays(self, *, reviewed: bool) -> bool:
        """Whether the plan must stay, because a person may have edited it.

        An agent continues a plan that an agent left incomplete or a critic rejected; a person continues their own plan.
        """
        families = [blocker.family for blocker in self.snapshot.standing.readiness.build]
        is_by_person = bool(self.workflow.plan_rounds and self.by_hand)
        if is_by_person and any(family in _INCOMPLETE for family in families):
            return True
        if not is_by_person and any(family in _FOR_A_PLANNER for family in families):
            return False
        return bool(self.workflow.plan_rounds) and not (reviewed and self.is_unseen)

    @property
    def lacks_only_reviews(self) -> bool:
        """Whether the plan is complete, but its current version not reviewed: only reviewers are asked."""
        build = self.snapshot.standing.readiness.build
        blockers = [blocker for blocker in build if blocker.family in _FOR_A_PLANNER]
        # The review of an earlier version does not count against the edits of a person.
        counted = [blocker for blocker in blockers if blocker.family in _INCOMPLETE or not self.by_hand]
        return all(blocker.code in _FOR_THE_REVIEWERS for blocker in counted) and self.is_unseen


def read_plan(opened: Opened) -> PlanState:
    """The plan of an opened workflow."""
    last = opened.workflow.plan_rounds[-1] if opened.workflow.plan_rounds else None
    notes = {role: _notes(opened, last, role) for role in (Role.ARCHITECT, Role.CRITIC)} if last else {}
    by_hand = (opened.paths.document(name) for name in opened.written_outside() if is_planners(name))
    return PlanState(
        snapshot=opened.snapshot(),
        by_hand=tuple(shown(path) for path in by_hand),
        documents={name: opened.read(name) or b"" for name in _REVIEWED},
        notes={role: text for role, text in notes.items() if text is not None},
        taken_over=_taken_over(opened),
    )


def review_page(number: int, role: Role) -> str:
    """The document with the opinion of a reviewer on a round."""
    return f"plan-reviews/round-{number}-{role.value}.md"


def require_spec(facts: Facts, workflow: Workflow) -> Spec:
    """The spec; `WorkflowRefused` if it is missing or unreadable."""
    if isinstance(facts.spec, Spec):
        return facts.spec
    raise WorkflowRefused.see_status(workflow.slug, "build_requires_workflow_plan_artifacts", f"{facts.spec_sentence}")


def _taken_over(opened: Opened) -> tuple[str, ...]:
    if opened.workflow.origin is None or opened.workflow.plan_rounds:
        return ()
    names = (PLAN_DOCUMENTS["plan"], SLICES, CHANGE_DOCUMENTS["tasks"])
    return tuple(data.decode("utf-8", "replace")[:_MOST_TAKEN] for name in names if (data := opened.read(name)))


def _notes(opened: Opened, taken: PlanRound, role: Role) -> str | None:
    """The notes of a reviewer on a round; None without a verdict, since a page may be older than the round."""
    if (taken.architect if role is Role.ARCHITECT else taken.critic) is None:
        return None
    page = opened.read(review_page(taken.number, role))
    return None if page is None else page.decode("utf-8", "replace").partition("\n\n")[2].removesuffix("\n")
