"""What can happen to a workflow. Each is a fact that is appended once and never changed; together they are it."""

from __future__ import annotations

import msgspec

from loopwright.agents.failover import Takeover
from loopwright.workflow.amounts import Amounts, SpendingLimits
from loopwright.workflow.model import (
    Control,
    Cost,
    Decision,
    Delivery,
    OpenTurn,
    PlanRound,
    Profile,
    Review,
    Round,
    Signature,
    SpecBase,
    Stage,
    Subject,
    TakeoverOrigin,
    Transition,
    Write,
)
from loopwright.workflow.verification import Verification


class _Event(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    """Strict and immutable; the kind is part of the line."""


class WorkflowBegun(_Event, frozen=True, kw_only=True, tag="workflow.begun", omit_defaults=True):
    """The first event of every workflow."""

    slug: str
    idea: str
    profile: Profile
    origin: TakeoverOrigin | None = None
    change: str = ""


class ProfileSet(_Event, frozen=True, kw_only=True, tag="clarify.profile"):
    """It is to be clarified more, or less, thoroughly."""

    profile: Profile


class DocumentsKept(_Event, frozen=True, kw_only=True, tag="documents.kept"):
    """Documents have these contents now; the bytes are kept by their digests."""

    documents: dict[str, str]


class SpecGiven(_Event, frozen=True, kw_only=True, tag="clarify.given"):
    """A person brought the spec and stands for it: nobody has to ask any more."""

    source: str
    by: str


class RoundTaken(_Event, frozen=True, kw_only=True, tag="clarify.round"):
    """A round of clarifying is over."""

    round: Round


class ItemAnswered(_Event, frozen=True, kw_only=True, tag="clarify.answered"):
    """A person answered an open item; the text is in the spec."""

    item: str
    by: str


class ApprovalRequested(_Event, frozen=True, kw_only=True, tag="approval.requested"):
    """A person is asked to consent."""

    transition: Transition


class ApprovalGiven(_Event, frozen=True, kw_only=True, tag="approval.given"):
    """Somebody consents to one transition, with one subject."""

    transition: Transition
    subject: Subject
    by: str
    rationale: str = ""
    seals: dict[str, str] = {}


class ApprovalRefused(_Event, frozen=True, kw_only=True, tag="approval.rejected"):
    """Somebody says no."""

    transition: Transition
    reason: str
    by: str


class StageEntered(_Event, frozen=True, kw_only=True, tag="stage.entered"):
    """A consent is used: the transition is made."""

    transition: Transition
    subject: str
    delivery: Delivery | None = None
    from_review: str | None = None


class PlanRoundTaken(_Event, frozen=True, kw_only=True, tag="plan.round"):
    """A round of planning is over."""

    round: PlanRound


class ChecksControlled(_Event, frozen=True, kw_only=True, tag="plan.controlled"):
    """Checks were run on the base tree."""

    controls: dict[str, Control]


class SpecsNoted(_Event, frozen=True, kw_only=True, tag="plan.base"):
    """The change is planned on living specs that say this."""

    base: SpecBase


class Signed(_Event, frozen=True, kw_only=True, tag="signed"):
    """A person stands for something."""

    signature: Signature


class DecisionAsked(_Event, frozen=True, kw_only=True, tag="decision.asked"):
    """An agent stopped and asks."""

    decision: Decision


class DecisionAnswered(_Event, frozen=True, kw_only=True, tag="decision.answered"):
    """A person decided."""

    id: str
    answer: str
    by: str


class BuildDriven(_Event, frozen=True, kw_only=True, tag="build.loop"):
    """The loop that builds it."""

    loop_id: str
    deslop: bool = True


class LaneEnded(_Event, frozen=True, kw_only=True, tag="build.lane"):
    """A lane of the current iteration is over."""

    lane: str
    status: str


class WorkVerified(_Event, frozen=True, kw_only=True, tag="build.verified"):
    """The checks were run on base and patch."""

    verification: Verification


class WorkReviewed(_Event, frozen=True, kw_only=True, tag="review.verdict"):
    """The review is over."""

    review: Review


class TurnBegun(_Event, frozen=True, kw_only=True, tag="turn.begun"):
    """An agent is asked."""

    turn: OpenTurn


class CostCounted(_Event, frozen=True, kw_only=True, tag="cost"):
    """A call of an agent is over, and paid for."""

    cost: Cost
    turn: str | None = None


class AgentChanged(_Event, frozen=True, kw_only=True, tag="agent.changed"):
    """An agent could not go on, and another one was asked in its place."""

    takeover: Takeover


class FlightBegun(_Event, frozen=True, kw_only=True, tag="autopilot.begun"):
    """A person put the autopilot in force, with what it may cost; `before` is what the change has cost already."""

    by: str
    limits: SpendingLimits
    before: Amounts


class FlightAt(_Event, frozen=True, kw_only=True, tag="autopilot.phase"):
    """The autopilot works at a stage."""

    phase: Stage


class FlightEnded(_Event, frozen=True, kw_only=True, tag="autopilot.ended"):
    """The autopilot stopped: `done`, or the typed reason."""

    reason: str
    said: str


class DeltaFitted(_Event, frozen=True, kw_only=True, tag="archive.fitted"):
    """A person read the specs as they are now, and stands for the delta on them."""

    base: SpecBase
    by: str
    why: str


class PrecedenceGiven(_Event, frozen=True, kw_only=True, tag="archive.before"):
    """A person says that this change goes before another that touches the same requirements."""

    over: str
    by: str


class ChangeArchived(_Event, frozen=True, kw_only=True, tag="archived"):
    """The delta is in the specs: these files are to be written, and the change's folder goes to its place."""

    folder: str = ""
    writes: tuple[Write, ...] = ()


class ArchiveSettled(_Event, frozen=True, kw_only=True, tag="archive.settled"):
    """All that archiving leaves is on the disk."""


class ChangeUndone(_Event, frozen=True, kw_only=True, tag="undone"):
    """What was delivered was taken back."""

    by: str


Event = (
    WorkflowBegun
    | ProfileSet
    | DocumentsKept
    | SpecGiven
    | RoundTaken
    | ItemAnswered
    | ApprovalRequested
    | ApprovalGiven
    | ApprovalRefused
    | StageEntered
    | PlanRoundTaken
    | ChecksControlled
    | SpecsNoted
    | Signed
    | DecisionAsked
    | DecisionAnswered
    | BuildDriven
    | LaneEnded
    | WorkVerified
    | WorkReviewed
    | TurnBegun
    | CostCounted
    | AgentChanged
    | FlightBegun
    | FlightAt
    | FlightEnded
    | DeltaFitted
    | PrecedenceGiven
    | ChangeArchived
    | ArchiveSettled
    | ChangeUndone
)
