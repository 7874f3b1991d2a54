"""What can be asked of a workflow's rules. Each brings what the rules need to know; they look at nothing themselves."""

from __future__ import annotations

import msgspec

from loopwright.agents.failover import Takeover
from loopwright.workflow.amounts import Amounts, SpendingLimits
from loopwright.workflow.model import (
    Control,
    Cost,
    Delivery,
    OpenTurn,
    PlanRound,
    Profile,
    Review,
    Round,
    Signature,
    SpecBase,
    Stage,
    TakeoverOrigin,
    Transition,
    Write,
)
from loopwright.workflow.model import Decision as Question
from loopwright.workflow.standing import Standing
from loopwright.workflow.verification import Verification


class _Command(msgspec.Struct, frozen=True, kw_only=True):
    """A wish; the rules say what comes of it."""


class Begin(_Command, frozen=True, kw_only=True):
    """A new change; one that was taken over comes with its documents."""

    slug: str
    idea: str
    profile: Profile
    origin: TakeoverOrigin | None = None
    change: str = ""
    documents: dict[str, str] = {}


class SetProfile(_Command, frozen=True, kw_only=True):
    """Another thoroughness."""

    profile: Profile


class KeepDocuments(_Command, frozen=True, kw_only=True):
    """Documents have these contents now, by their digests."""

    documents: dict[str, str]


class GiveSpec(_Command, frozen=True, kw_only=True):
    """A person brings the spec."""

    source: str
    by: str


class TakeRound(_Command, frozen=True, kw_only=True):
    """A round of clarifying is over."""

    round: Round


class AnswerItem(_Command, frozen=True, kw_only=True):
    """A person answered an open item."""

    item: str
    by: str


class RequestApproval(_Command, frozen=True, kw_only=True):
    """The work says that it is ready; a person is asked when it is."""

    transition: Transition
    standing: Standing


class Approve(_Command, frozen=True, kw_only=True):
    """Consent to one transition as things stand. `seals` are the judges' digests at this moment."""

    transition: Transition
    standing: Standing
    by: str
    rationale: str = ""
    seals: dict[str, str] = {}


class Reject(_Command, frozen=True, kw_only=True):
    """No, and why."""

    transition: Transition
    reason: str
    by: str


class Enter(_Command, frozen=True, kw_only=True):
    """Use the consent: make the transition."""

    transition: Transition
    standing: Standing
    delivery: Delivery | None = None
    from_review: str | None = None


class TakePlanRound(_Command, frozen=True, kw_only=True):
    """A round of planning is over."""

    round: PlanRound


class RecordControls(_Command, frozen=True, kw_only=True):
    """What checks said on the base."""

    controls: dict[str, Control]


class NoteSpecs(_Command, frozen=True, kw_only=True):
    """What the living specs say, on which the change is planned."""

    base: SpecBase


class Sign(_Command, frozen=True, kw_only=True):
    """A person stands for something."""

    signature: Signature


class AskDecision(_Command, frozen=True, kw_only=True):
    """An agent asks."""

    decision: Question


class AnswerDecision(_Command, frozen=True, kw_only=True):
    """A person decides."""

    id: str
    answer: str
    by: str


class DriveBuild(_Command, frozen=True, kw_only=True):
    """This loop builds it."""

    loop_id: str
    deslop: bool = True


class EndLane(_Command, frozen=True, kw_only=True):
    """A lane of the iteration is over."""

    lane: str
    status: str


class RecordVerification(_Command, frozen=True, kw_only=True):
    """What the checks said on base and patch."""

    verification: Verification


class RecordReview(_Command, frozen=True, kw_only=True):
    """The review is over."""

    review: Review


class BeginTurn(_Command, frozen=True, kw_only=True):
    """A call of an agent begins."""

    turn: OpenTurn


class CountCost(_Command, frozen=True, kw_only=True):
    """A call of an agent is over; `turn` is what it was called when it began."""

    cost: Cost
    turn: str | None = None


class NoteTakeover(_Command, frozen=True, kw_only=True):
    """Another agent is asked in place of one that can't go on."""

    takeover: Takeover


class BeginFlight(_Command, frozen=True, kw_only=True):
    """The autopilot takes off, or goes on."""

    by: str
    limits: SpendingLimits
    before: Amounts


class FlyAt(_Command, frozen=True, kw_only=True):
    """The autopilot works at a stage."""

    phase: Stage


class EndFlight(_Command, frozen=True, kw_only=True):
    """The autopilot stops, and why."""

    reason: str
    said: str


class FitDelta(_Command, frozen=True, kw_only=True):
    """A person stands for the delta on the specs as they are now."""

    base: SpecBase
    by: str
    why: str


class GoBefore(_Command, frozen=True, kw_only=True):
    """This change goes before that one."""

    over: str
    by: str


class Archive(_Command, frozen=True, kw_only=True):
    """The delta is merged: these are the files, and that is the change's new place."""

    standing: Standing
    folder: str = ""
    writes: tuple[Write, ...] = ()


class SettleArchive(_Command, frozen=True, kw_only=True):
    """They are on the disk."""


class Undo(_Command, frozen=True, kw_only=True):
    """What was delivered is taken back."""

    by: str


Command = (
    Begin
    | SetProfile
    | KeepDocuments
    | GiveSpec
    | TakeRound
    | AnswerItem
    | RequestApproval
    | Approve
    | Reject
    | Enter
    | TakePlanRound
    | RecordControls
    | NoteSpecs
    | Sign
    | AskDecision
    | AnswerDecision
    | DriveBuild
    | EndLane
    | RecordVerification
    | RecordReview
    | BeginTurn
    | CountCost
    | NoteTakeover
    | BeginFlight
    | FlyAt
    | EndFlight
    | FitDelta
    | GoBefore
    | Archive
    | SettleArchive
    | Undo
)
