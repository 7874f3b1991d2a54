"""A workflow at one moment. Frozen; only `evolve` makes the next state from an event.

Contents of documents are not here: `facts` reads them from disk each time. Blockers are derived from both.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

import msgspec

from loopwright.agents.failover import Takeover
from loopwright.kernel.digest import digest_of
from loopwright.workflow.profiles import QUICK, Profile
from loopwright.workflow.stage import Stage
from loopwright.workflow.verdict import Review, SentBack
from loopwright.workflow.verification import Verification, is_about_protected
from loopwright.workspace.names import IN_WORKFLOW

# The name under which the autopilot gives its approvals.
POLICY = "autopilot"


class Key(StrEnum):
    """What an approval is for."""

    PLAN = "plan"
    BUILD = "build"
    REVIEW = "review"
    ROLLBACK = "rollback"
    COMPLETE = "complete"


class Transition(StrEnum):
    """A transition from one stage to another."""

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
        """The approval that the transition needs."""
        return _KEYS[self]

    @property
    def is_rollback(self) -> bool:
        """Whether the transition goes back, which needs a reason."""
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
FORWARD: Mapping[Stage, Transition] = {
    transition.origin: transition for transition in Transition if not transition.is_rollback
}


class _Value(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Strict and immutable."""


class Subject(_Value, frozen=True, kw_only=True):
    """What an approval covers: its parts by name, with digests, to name the parts that changed."""

    parts: dict[str, str]

    @property
    def hash(self) -> str:
        """One digest for the whole."""
        return digest_of(sorted(self.parts.items()))

    def changed_since(self, before: Subject) -> tuple[str, ...]:
        """Names of the parts that changed."""
        names = sorted(self.parts.keys() | before.parts.keys())
        return tuple(name for name in names if self.parts.get(name) != before.parts.get(name))

    def is_same_work(self, other: Subject) -> bool:
        """Whether both are about the same content. For a build that is its tree: a new run of it changes nothing."""
        trees = self.parts.get("tree"), other.parts.get("tree")
        return trees[0] == trees[1] if any(trees) else self == other


class NotRequested(_Value, frozen=True, kw_only=True, tag="not-requested"):
    """No approval was requested yet."""


class Requested(_Value, frozen=True, kw_only=True, tag="requested"):
    """The work is ready, and a person is asked."""

    transition: Transition
    at: str


class Approved(_Value, frozen=True, kw_only=True, tag="approved"):
    """A person or the autopilot approved; not used yet."""

    transition: Transition
    subject: Subject
    by: str
    at: str
    rationale: str = ""
    # The version of the judging rules; 1 in old journals.
    rules: int = 1


class UsedApproval(_Value, frozen=True, kw_only=True, tag="used"):
    """The stage was entered with this approval. It stays binding: its subject must not change under the work."""

    transition: Transition
    subject: Subject
    by: str
    at: str
    used_at: str
    rules: int = 1


class Rejected(_Value, frozen=True, kw_only=True, tag="rejected"):
    """A person rejected the transition, with a reason; `subject` is what the person rejected. None in old journals."""

    transition: Transition
    reason: str
    by: str
    at: str
    subject: Subject | None = None


Approval = NotRequested | Requested | Approved | UsedApproval | Rejected


class Round(_Value, frozen=True, kw_only=True):
    """One round of clarifying: the question, the earlier answer that it challenges, and the agent's own score."""

    number: int
    asked: str | None = None
    presses_on: str | None = None
    reported_score: float | None = None
    # The agent that asked; empty for a built-in question.
    asked_by: str = ""
    # Answers that the agent accepted, and those that it refused, with the reasons.
    accepted: tuple[str, ...] = ()
    refused: dict[str, str] = {}


class PlanRound(_Value, frozen=True, kw_only=True):
    """One round of planning. None means not asked; `seen` has the digests of what the reviewers saw."""

    number: int
    architect: str | None = None
    critic: str | None = None
    seen: dict[str, str] = {}


class Control(_Value, frozen=True, kw_only=True):
    """The result of a check on the base tree, before any work; valid for the check with this digest only."""

    digest: str
    tree: str
    passed: bool
    run_id: str
    # Reporters that the checks can't stand, on base and work; None in old journals, before results per test.
    without: tuple[str, ...] | None = None
    # Whether it fails there only because its runner finds no test.
    finds_no_test: bool = False


class Signature(_Value, frozen=True, kw_only=True):
    """A person signs a slice or accepts a changed judge, for exactly this content."""

    what: str
    digest: str
    by: str
    at: str
    note: str = ""


class Decision(_Value, frozen=True, kw_only=True):
    """A question that an agent may not decide itself, and a person's answer."""

    id: str
    question: str
    options: tuple[str, ...] = ()
    answer: str | None = None
    by: str | None = None


class Delivery(_Value, frozen=True, kw_only=True):
    """Where the result was delivered, and how to undo that."""

    how: Literal["patch", "branch"]
    where: str
    before: str
    patch_sha256: str


class Cost(_Value, frozen=True, kw_only=True):
    """The cost of one agent turn; None means not reported."""

    role: str
    agent: str
    stage: Stage
    wall_s: float
    usd: float | None = None
    tokens: int | None = None
    # Whether the cost was computed from a price list instead of reported by the agent.
    is_computed: bool = False
    # Whether the process died during the turn: the turn is paid, and its answer is lost.
    is_cut_off: bool = False


class OpenTurn(_Value, frozen=True, kw_only=True):
    """An agent turn that is running and not counted; if its process dies, the next command counts it."""

    name: str
    agent: str
    role: str
    stage: Stage
    mailbox: str


class Amounts(_Value, frozen=True, kw_only=True):
    """The amounts spent, as far as agents reported them."""

    usd: float = 0.0
    tokens: int = 0
    wall_s: float = 0.0
    turns: int = 0


class SpendingLimits(_Value, frozen=True, kw_only=True):
    """The limits; None means no limit."""

    usd: float | None = None
    tokens: int | None = None
    wall_s: float | None = None
    turns: int | None = None
    iterations: int | None = None


class Flight(_Value, frozen=True, kw_only=True):
    """The autopilot of a change: who started it, its limits, its stage, and why it stopped.

    `before` is the cost of the change at the first start: a second start continues with the same budget.
    """

    by: str
    since: str
    before: Amounts
    limits: SpendingLimits
    phase: Stage
    ended: str | None = None
    message: str = ""


class SpecBase(_Value, frozen=True, kw_only=True):
    """The living specs when a change was planned: the digest of each requirement, by domain.

    `delta` has the digests of the delta at that time: a changed delta is planned on newer specs.
    """

    domains: dict[str, dict[str, str]]
    delta: dict[str, str]


class Write(_Value, frozen=True, kw_only=True):
    """A file that archiving writes: its digests before (empty: no file) and after."""

    kind: Literal["spec", "checks", "candidate"]
    path: str
    before: str
    after: str
    domain: str = ""


class TakeoverOrigin(_Value, frozen=True, kw_only=True):
    """The imported work of another tool. Its own claims are shown, and open no gate."""

    tool: Literal["loopx", "ccw", "openspec"]
    name: str
    path: str
    digest: str
    claims: dict[str, str] = msgspec.field(default_factory=dict, name="said")


class Clarifying(_Value, frozen=True, kw_only=True, tag="clarify"):
    """The idea becomes a spec."""


class Planning(_Value, frozen=True, kw_only=True, tag="plan"):
    """The approved spec becomes slices with checks."""

    spec: str


class Building(_Value, frozen=True, kw_only=True, tag="build"):
    """A loop builds the approved plan."""

    plan: str
    loop_id: str | None = None
    # Whether the work is tidied up, in a profile that does so.
    deslop: bool = True


class Reviewing(_Value, frozen=True, kw_only=True, tag="review"):
    """The build is reviewed."""

    evidence: str


class Done(_Value, frozen=True, kw_only=True, tag="done"):
    """Approved and delivered, or discarded: then `discarded_by` is the person who wanted none of the work."""

    delivery: Delivery | None = None
    discarded_by: str = ""


class Archived(_Value, frozen=True, kw_only=True, tag="archived"):
    """Merged into the specs. Files may still be unwritten until the archive is settled."""

    change_id: str
    delivery: Delivery | None = None
    folder: str = ""
    writes: tuple[Write, ...] = ()
    settled: bool = False

    @property
    def pending(self) -> tuple[Write, ...]:
        """Files that may still be unwritten."""
        return () if self.settled else self.writes


At = Clarifying | Planning | Building | Reviewing | Done | Archived


class Workflow(_Value, frozen=True, kw_only=True):
    """The whole state of one change."""

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
    # The file that a person supplied as the spec, instead of rounds of clarifying.
    given: str | None = None
    rounds: tuple[Round, ...] = ()
    unjudged: tuple[str, ...] = ()  # answers to questions of an agent that no agent has judged yet
    plan_rounds: tuple[PlanRound, ...] = ()
    controls: dict[str, Control] = {}
    seals: dict[str, str] = {}
    test_command: str | None = None  # when the plan was approved; None in old journals
    signatures: tuple[Signature, ...] = ()
    decisions: tuple[Decision, ...] = ()
    # The least ambiguity score after a review sent the change back to clarifying; the next round resets it.
    score_floor: float = 0.0
    lanes: dict[str, str] = {}
    verification: Verification | None = None
    # The same result before a person decided about its protected changes: the decision may change.
    judged: Verification | None = None
    review: Review | None = None
    # The review that sent the change back, until the next review begins.
    sent_back: SentBack | None = None
    costs: tuple[Cost, ...] = ()
    open_turns: tuple[OpenTurn, ...] = ()
    takeovers: tuple[Takeover, ...] = ()
    loops: tuple[str, ...] = ()
    base: SpecBase | None = None
    # The parts of the delta that a person fitted to specs that another change had edited.
    fitted: dict[str, str] = {}
    # Changes that touch the same requirements, and that a person put after this one.
    goes_before: tuple[str, ...] = ()
    origin: TakeoverOrigin | None = None
    # The name of the change, if it is older than the workflow.
    change: str = ""
    flight: Flight | None = None

    @property
    def stage(self) -> Stage:
        """The stage; an archived change stays done."""
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
    def is_quick(self) -> bool:
        """Whether `loopwright do` began it: its plan follows from the idea and the checks, and it changes no spec."""
        return self.profile.name == QUICK.name

    @property
    def change_id(self) -> str:
        """The folder of the deltas."""
        return f"chg-{self.slug}" if self.change in ("", IN_WORKFLOW) else self.change

    def approval(self, key: Key) -> Approval:
        """The stored approval of this kind."""
        return self.approvals.get(key, NotRequested())

    def turns_of(self, role: str) -> int:
        """The number of completed agent turns in a role."""
        return sum(cost.role == role and not cost.is_cut_off for cost in self.costs)

    def decision_about(self, protected: str) -> str:
        """What a person signed last about the protected changes with this digest; empty if there is nothing."""
        signed = (one.what for one in reversed(self.signatures) if one.digest == protected)
        return next((what for what in signed if is_about_protected(what)), "")

    def is_signed(self, what: str, digest: str) -> bool:
        """Whether a person signed this content."""
        return any(signature.what == what and signature.digest == digest for signature in self.signatures)
