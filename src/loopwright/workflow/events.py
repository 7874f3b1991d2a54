"""Everything that can happen to a workflow. An event is appended once and never changes."""

from __future__ import annotations

import msgspec

from loopwright.agents.failover import Takeover
from loopwright.workflow.model import (
    Amounts,
    Control,
    Cost,
    Decision,
    Delivery,
    OpenTurn,
    PlanRound,
    Round,
    Signature,
    SpecBase,
    SpendingLimits,
    Subject,
    TakeoverOrigin,
    Transition,
    Write,
)
from loopwright.workflow.profiles import Profile
from loopwright.workflow.stage import Stage
from loopwright.workflow.verdict import Review
from loopwright.workflow.verification import Verification


class _Event(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    """Strict and immutable; the stored line contains the kind."""


class WorkflowBegun(_Event, frozen=True, kw_only=True, tag="workflow.begun", omit_defaults=True):
    """The first event of every workflow."""

    slug: str
    idea: str
    profile: Profile
    origin: TakeoverOrigin | None = None
    change: str = ""


class ProfileSet(_Event, frozen=True, kw_only=True, tag="clarify.profile"):
    """How thoroughly the idea is clarified changed."""

    profile: Profile


class DocumentsKept(_Event, frozen=True, kw_only=True, tag="documents.kept"):
    """Documents have new contents; the bytes are stored by their digests."""

    documents: dict[str, str]


class SpecGiven(_Event, frozen=True, kw_only=True, tag="clarify.given"):
    """A person supplied the spec: no more questions are needed."""

    source: str
    by: str


class RoundTaken(_Event, frozen=True, kw_only=True, tag="clarify.round"):
    """A round of clarifying ended."""

    round: Round


class ItemAnswered(_Event, frozen=True, kw_only=True, tag="clarify.answered"):
    """A person answered an open item; the text is in the spec."""

    item: str
    by: str


class ApprovalRequested(_Event, frozen=True, kw_only=True, tag="approval.requested"):
    """A person is asked for approval."""

    transition: Transition


class ApprovalGiven(_Event, frozen=True, kw_only=True, tag="approval.given"):
    """A person or the autopilot approved one transition for one subject."""

    transition: Transition
    subject: Subject
    by: str
    rationale: str = ""
    seals: dict[str, str] = {}
    # The command that tests the project, if the plan was approved. None in old journals.
    test_command: str | None = None
    # The version of the judging rules; 1 in old journals.
    rules: int = 1


class ApprovalRefused(_Event, frozen=True, kw_only=True, tag="approval.rejected"):
    """A person rejected a transition; `subject` is what the person rejected."""

    transition: Transition
    reason: str
    by: str
    subject: Subject | None = None


class StageEntered(_Event, frozen=True, kw_only=True, tag="stage.entered"):
    """The approval is used, and the transition is made."""

    transition: Transition
    subject: str
    delivery: Delivery | None = None
    # Unused; stored lines have it.
    from_review: str | None = None


class PlanRoundTaken(_Event, frozen=True, kw_only=True, tag="plan.round"):
    """A round of planning ended."""

    round: PlanRound


class ChecksControlled(_Event, frozen=True, kw_only=True, tag="plan.controlled"):
    """Checks ran on the base tree."""

    controls: dict[str, Control]


class SpecsNoted(_Event, frozen=True, kw_only=True, tag="plan.base"):
    """The state of the living specs on which the change is planned."""

    base: SpecBase


class Signed(_Event, frozen=True, kw_only=True, tag="signed"):
    """A person signed for something."""

    signature: Signature


class DecisionAsked(_Event, frozen=True, kw_only=True, tag="decision.asked"):
    """An agent stopped and asked a question."""

    decision: Decision


class DecisionAnswered(_Event, frozen=True, kw_only=True, tag="decision.answered"):
    """A person answered a question."""

    id: str
    answer: str
    by: str


class BuildDriven(_Event, frozen=True, kw_only=True, tag="build.loop"):
    """A loop builds the change."""

    loop_id: str
    deslop: bool = True


class LaneEnded(_Event, frozen=True, kw_only=True, tag="build.lane"):
    """A lane of the current iteration ended."""

    lane: str
    status: str


class WorkVerified(_Event, frozen=True, kw_only=True, tag="build.verified"):
    """The checks ran on base and patch."""

    verification: Verification


class WorkReviewed(_Event, frozen=True, kw_only=True, tag="review.verdict"):
    """The review ended."""

    review: Review


class TurnBegun(_Event, frozen=True, kw_only=True, tag="turn.begun"):
    """A turn of an agent started."""

    turn: OpenTurn


class CostCounted(_Event, frozen=True, kw_only=True, tag="cost"):
    """A turn of an agent ended; its cost is counted."""

    cost: Cost
    turn: str | None = None


class AgentChanged(_Event, frozen=True, kw_only=True, tag="agent.changed"):
    """An agent could not continue, and another agent took over."""

    takeover: Takeover


class FlightBegun(_Event, frozen=True, kw_only=True, tag="autopilot.begun"):
    """A person started the autopilot with limits; `before` is the cost of the change so far."""

    by: str
    limits: SpendingLimits
    before: Amounts


class FlightAt(_Event, frozen=True, kw_only=True, tag="autopilot.phase"):
    """The autopilot entered a stage."""

    phase: Stage


class FlightEnded(_Event, frozen=True, kw_only=True, tag="autopilot.ended"):
    """The autopilot stopped: `done`, or the typed reason."""

    reason: str
    message: str = msgspec.field(name="said")


class DeltaFitted(_Event, frozen=True, kw_only=True, tag="archive.fitted"):
    """A person read the current specs and confirmed the delta on them."""

    base: SpecBase
    by: str
    why: str


class PrecedenceGiven(_Event, frozen=True, kw_only=True, tag="archive.before"):
    """A person put this change before another that touches the same requirements."""

    over: str
    by: str


class ChangeArchived(_Event, frozen=True, kw_only=True, tag="archived"):
    """The delta is merged: these files are to be written, and the folder of the change moves."""

    folder: str = ""
    writes: tuple[Write, ...] = ()


class ArchiveSettled(_Event, frozen=True, kw_only=True, tag="archive.settled"):
    """Every file of the archive is written."""


class ChangeUndone(_Event, frozen=True, kw_only=True, tag="undone"):
    """The delivery was undone."""

    by: str


class ChangeDiscarded(_Event, frozen=True, kw_only=True, tag="discarded"):
    """A person wants none of the work: the workflow is over, and nothing is delivered."""

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
    | ChangeDiscarded
)
