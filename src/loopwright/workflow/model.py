"""A workflow at one moment. Frozen; only `evolve` makes the next one from an event.

What stands in documents is not here: `facts` is read from disk each time, and what blocks is derived from both.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

import msgspec

from loopwright.agents.failover import Takeover
from loopwright.kernel.digest import digest_of
from loopwright.workflow.amounts import Amounts, SpendingLimits
from loopwright.workflow.verification import Verification


class Stage(StrEnum):
    """Where a change is on its path."""

    CLARIFY = "clarify"
    PLAN = "plan"
    BUILD = "build"
    REVIEW = "review"
    DONE = "done"


class Key(StrEnum):
    """What a consent is for."""

    PLAN = "plan"
    BUILD = "build"
    REVIEW = "review"
    ROLLBACK = "rollback"
    COMPLETE = "complete"


class Transition(StrEnum):
    """A move from one stage to another."""

    CLARIFY_PLAN = "clarify->plan"
    PLAN_BUILD = "plan->build"
    BUILD_REVIEW = "build->review"
    REVIEW_BUILD = "review->build"
    REVIEW_PLAN = "review->plan"
    REVIEW_CLARIFY = "review->clarify"
    REVIEW_DONE = "review->done"

    @property
    def origin(self) -> Stage:
        """The stage that is left."""
        return Stage(self.value.partition("->")[0])

    @property
    def target(self) -> Stage:
        """The stage that is entered."""
        return Stage(self.value.partition("->")[2])

    @property
    def key(self) -> Key:
        """The consent that it needs."""
        return _KEYS[self]

    @property
    def is_rollback(self) -> bool:
        """Whether it goes back, which needs a reason."""
        return self.origin is Stage.REVIEW and self.target is not Stage.DONE


_KEYS: Mapping[Transition, Key] = {
    Transition.CLARIFY_PLAN: Key.PLAN,
    Transition.PLAN_BUILD: Key.BUILD,
    Transition.REVIEW_BUILD: Key.BUILD,
    Transition.BUILD_REVIEW: Key.REVIEW,
    Transition.REVIEW_PLAN: Key.ROLLBACK,
    Transition.REVIEW_CLARIFY: Key.ROLLBACK,
    Transition.REVIEW_DONE: Key.COMPLETE,
}
Verdict = Literal["approve", "request-changes"]
Smell = Literal["pass", "warn", "block"]


class _Value(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Strict and immutable."""


class Subject(_Value, frozen=True, kw_only=True):
    """What a consent is about: its parts by name, each by its digest, so that it can be said which of them moved."""

    parts: dict[str, str]

    @property
    def hash(self) -> str:
        """One digest for the whole."""
        return digest_of(sorted(self.parts.items()))

    def changed_since(self, before: Subject) -> tuple[str, ...]:
        """Names of the parts that are not as they were."""
        names = sorted(self.parts.keys() | before.parts.keys())
        return tuple(name for name in names if self.parts.get(name) != before.parts.get(name))


class NotRequested(_Value, frozen=True, kw_only=True, tag="not-requested"):
    """Nobody was asked yet."""


class Requested(_Value, frozen=True, kw_only=True, tag="requested"):
    """The work is ready, and a person is asked."""

    transition: Transition
    at: str


class Approved(_Value, frozen=True, kw_only=True, tag="approved"):
    """Who accepted what, when; not used yet."""

    transition: Transition
    subject: Subject
    by: str
    at: str
    rationale: str = ""


class UsedApproval(_Value, frozen=True, kw_only=True, tag="used"):
    """The stage was entered on this consent. It binds on: what was accepted may not change under the work."""

    transition: Transition
    subject: Subject
    by: str
    at: str
    used_at: str


class Rejected(_Value, frozen=True, kw_only=True, tag="rejected"):
    """A person said no, and why."""

    transition: Transition
    reason: str
    by: str
    at: str


Approval = NotRequested | Requested | Approved | UsedApproval | Rejected


class Profile(_Value, frozen=True, kw_only=True):
    """How thoroughly an idea is clarified."""

    name: str
    threshold: float
    max_rounds: int


PROFILES: Mapping[str, Profile] = {
    "standard": Profile(name="standard", threshold=0.20, max_rounds=15),
    "deep": Profile(name="deep", threshold=0.10, max_rounds=25),
}


class Round(_Value, frozen=True, kw_only=True):
    """One round of clarifying: what was asked, which earlier answer it pressed on, and what the agent thought of it."""

    number: int
    asked: str | None = None
    presses_on: str | None = None
    reported_score: float | None = None


class PlanRound(_Value, frozen=True, kw_only=True):
    """One round of planning. None is who was not asked; `seen` is what they were shown, piece by piece."""

    number: int
    architect: str | None = None
    critic: str | None = None
    seen: dict[str, str] = {}


class Control(_Value, frozen=True, kw_only=True):
    """What a check said on the base tree, before any work. `digest` is the check's own: another check needs another."""

    digest: str
    tree: str
    passed: bool
    run_id: str


class Signature(_Value, frozen=True, kw_only=True):
    """A person stands for a slice, or accepts a changed judge: for this content of it and no other."""

    what: str
    digest: str
    by: str
    at: str
    note: str = ""


class Decision(_Value, frozen=True, kw_only=True):
    """A question that an agent may not answer itself, and what a person said to it."""

    id: str
    question: str
    options: tuple[str, ...] = ()
    answer: str | None = None
    by: str | None = None


class Review(_Value, frozen=True, kw_only=True):
    """What the review came to; `tree` is what was reviewed."""

    verdict: Verdict
    reviewer: str
    tree: str
    target: Stage | None = None
    rationale: str = ""
    report: str = ""
    # Somebody who did not build it had to look, and nobody was named.
    unasked: bool = False


class Delivery(_Value, frozen=True, kw_only=True):
    """Where the result went, and how to take it back."""

    how: Literal["patch", "branch"]
    where: str
    before: str
    patch_sha256: str


class Cost(_Value, frozen=True, kw_only=True):
    """What one call of an agent took; None is what it did not say."""

    role: str
    agent: str
    stage: Stage
    wall_s: float
    usd: float | None = None
    tokens: int | None = None
    # Whether the sum was reported by the agent, or computed from a list of prices.
    is_computed: bool = False
    # Whether its process died at it: it is paid for, and nobody has the answer.
    is_cut_off: bool = False


class OpenTurn(_Value, frozen=True, kw_only=True):
    """A call of an agent that is under way and not paid for; when its process died, whoever comes next counts it."""

    name: str
    agent: str
    role: str
    stage: Stage
    mailbox: str


class Flight(_Value, frozen=True, kw_only=True):
    """An autopilot's way with a change: who put it in force, what it may cost, where it is, and why it stopped.

    `before` is what the change had cost when it first took off: typed again, it goes on with the same purse.
    """

    by: str
    since: str
    before: Amounts
    limits: SpendingLimits
    phase: Stage
    ended: str | None = None
    said: str = ""


class SpecBase(_Value, frozen=True, kw_only=True):
    """What the living specs said when a change was planned: each requirement's digest, domain by domain.

    `delta` is what the change said then, by the names of its parts: another delta is planned on other specs.
    """

    domains: dict[str, dict[str, str]]
    delta: dict[str, str]


class Write(_Value, frozen=True, kw_only=True):
    """A file that archiving leaves: its digests before (empty: it was not there) and after."""

    kind: Literal["spec", "checks", "candidate"]
    path: str
    before: str
    after: str
    domain: str = ""


class TakeoverOrigin(_Value, frozen=True, kw_only=True):
    """Another tool's work that this was taken over from. What it `said` of itself is shown, and opens nothing."""

    tool: Literal["loopx", "ccw", "openspec"]
    name: str
    path: str
    digest: str
    said: dict[str, str] = {}


class Clarifying(_Value, frozen=True, kw_only=True, tag="clarify"):
    """The idea becomes a spec."""


class Planning(_Value, frozen=True, kw_only=True, tag="plan"):
    """The spec that was accepted becomes slices with checks."""

    spec: str


class Building(_Value, frozen=True, kw_only=True, tag="build"):
    """The plan that was accepted is built, by a loop."""

    plan: str
    loop_id: str | None = None
    from_review: str | None = None
    # Whether what is built is tidied up, in the profile that does so.
    deslop: bool = True


class Reviewing(_Value, frozen=True, kw_only=True, tag="review"):
    """What was built is judged."""

    evidence: str


class Done(_Value, frozen=True, kw_only=True, tag="done"):
    """Accepted and handed over."""

    delivery: Delivery | None = None


class Archived(_Value, frozen=True, kw_only=True, tag="archived"):
    """The specs remember it. What was decided may not be on the disk yet, until it is settled."""

    change_id: str
    delivery: Delivery | None = None
    folder: str = ""
    writes: tuple[Write, ...] = ()
    settled: bool = False

    @property
    def pending(self) -> tuple[Write, ...]:
        """What may not be on the disk yet."""
        return () if self.settled else self.writes


At = Clarifying | Planning | Building | Reviewing | Done | Archived


class Workflow(_Value, frozen=True, kw_only=True):
    """One change on its path, whole."""

    slug: str
    idea: str
    profile: Profile
    created_at: str
    updated_at: str
    revision: int
    at: At
    approvals: dict[Key, Approval] = {}
    confirmed: Transition | None = None
    documents: dict[str, str] = {}
    # The file that a person brought as the spec, in place of rounds of clarifying.
    given: str | None = None
    rounds: tuple[Round, ...] = ()
    plan_rounds: tuple[PlanRound, ...] = ()
    controls: dict[str, Control] = {}
    seals: dict[str, str] = {}
    signatures: tuple[Signature, ...] = ()
    decisions: tuple[Decision, ...] = ()
    # What a review that sent the change back to clarifying says of the spec; the next round takes it away.
    score_floor: float = 0.0
    lanes: dict[str, str] = {}
    verification: Verification | None = None
    review: Review | None = None
    costs: tuple[Cost, ...] = ()
    open_turns: tuple[OpenTurn, ...] = ()
    takeovers: tuple[Takeover, ...] = ()
    loops: tuple[str, ...] = ()
    base: SpecBase | None = None
    # The delta's parts as a person fitted them to specs that another change had altered.
    fitted: dict[str, str] = {}
    # Changes that touch the same requirements, and that a person put behind this one.
    goes_before: tuple[str, ...] = ()
    origin: TakeoverOrigin | None = None
    # The name of its change, where that was there before the workflow.
    change: str = ""
    flight: Flight | None = None

    @property
    def stage(self) -> Stage:
        """The stage's name; an archived change stays done."""
        match self.at:
            case Clarifying():
                return Stage.CLARIFY
            case Planning():
                return Stage.PLAN
            case Building():
                return Stage.BUILD
            case Reviewing():
                return Stage.REVIEW
            case Done() | Archived():
                return Stage.DONE

    @property
    def change_id(self) -> str:
        """The folder of its deltas."""
        return self.change or f"chg-{self.slug}"

    def approval(self, key: Key) -> Approval:
        """The consent of this kind as it was recorded."""
        return self.approvals.get(key, NotRequested())

    @property
    def is_build_approved(self) -> bool:
        """Whether a person consented to the build; the plan may have changed since."""
        return isinstance(self.approval(Key.BUILD), Approved)

    def turns_of(self, role: str) -> int:
        """How many turns agents took in a role, to their end."""
        return sum(cost.role == role and not cost.is_cut_off for cost in self.costs)

    def is_signed(self, what: str, digest: str) -> bool:
        """Whether a person stands for this content."""
        return any(one.what == what and one.digest == digest for one in self.signatures)
