"""What can be proposed to the rules of a workflow. A proposal carries every fact that the rules need.

Most proposals are events: the caller proposes a fact, and the rules check it against the state. A command exists only
where the proposal carries other fields than its event, or leads to more than one event.
"""

from __future__ import annotations

import msgspec

from loopwright.workflow import events as e
from loopwright.workflow.model import Delivery, TakeoverOrigin, Transition, Write
from loopwright.workflow.profiles import Profile
from loopwright.workflow.standing import Standing


class _Command(msgspec.Struct, frozen=True, kw_only=True):
    """Immutable."""


class Begin(_Command, frozen=True, kw_only=True):
    """Begin a change. A change imported from another tool comes with its documents."""

    slug: str
    idea: str
    profile: Profile
    origin: TakeoverOrigin | None = None
    change: str = ""
    documents: dict[str, str] = {}


class RequestApproval(_Command, frozen=True, kw_only=True):
    """Ask a person for approval, if the work is ready."""

    transition: Transition
    standing: Standing


class Approve(_Command, frozen=True, kw_only=True):
    """Approve one transition in the current state.

    `seals` are the digests of the protected files at this moment, and `test_command` is what tests the project.
    """

    transition: Transition
    standing: Standing
    by: str
    rationale: str = ""
    seals: dict[str, str] = {}
    test_command: str | None = None


class Enter(_Command, frozen=True, kw_only=True):
    """Use the approval: make the transition."""

    transition: Transition
    standing: Standing
    delivery: Delivery | None = None


class Archive(_Command, frozen=True, kw_only=True):
    """Merge the delta: write these files, and move the folder of the change."""

    standing: Standing
    folder: str = ""
    writes: tuple[Write, ...] = ()


Flight = e.FlightBegun | e.FlightAt | e.FlightEnded
Archiving = e.DeltaFitted | e.PrecedenceGiven | Archive | e.ArchiveSettled
Proposal = (
    Begin | RequestApproval | Approve | Enter | Archiving | Flight
    | e.ProfileSet | e.DocumentsKept | e.SpecGiven | e.RoundTaken | e.ItemAnswered | e.ApprovalRefused
    | e.PlanRoundTaken | e.ChecksControlled | e.SpecsNoted | e.Signed | e.DecisionAsked | e.DecisionAnswered
    | e.BuildDriven | e.LaneEnded | e.WorkVerified | e.WorkReviewed | e.TurnBegun | e.CostCounted | e.AgentChanged
    | e.ChangeUndone | e.ChangeDiscarded
)  # fmt: skip
