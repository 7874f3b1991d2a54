"""Random commands to the workflow's rules while the documents change: the invariants hold at every step."""

from __future__ import annotations

import hypothesis.strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from loopwright.kernel.codec import from_json, to_json
from loopwright.workflow import commands as c
from loopwright.workflow import events as e
from loopwright.workflow.blockers import Blocker
from loopwright.workflow.model import (
    Amounts,
    Archived,
    Decision,
    Key,
    Round,
    Signature,
    SpecBase,
    SpendingLimits,
    Subject,
    TakeoverOrigin,
    Transition,
    UsedApproval,
    Workflow,
    Write,
)
from loopwright.workflow.profiles import PROFILES
from loopwright.workflow.rules import Accepted, Deliver, decide, evolve
from loopwright.workflow.stage import Stage
from loopwright.workflow.standing import Readiness, Standing, status_of, why_void
from loopwright.workflow.verdict import Review

GATES = ("plan", "build", "review", "done", "archive")
ORIGIN = TakeoverOrigin(
    tool="loopx", name="x", path=".loopx/workflows/x", digest="0" * 64,
    claims={"current_stage": "done", "approval.complete": "approved", "completion_confirmed": "true"},
)  # fmt: skip
ACTORS = st.sampled_from(["ann", "bob"])


class Path(RuleBasedStateMachine):
    """One workflow, documents that change meanwhile, and several people."""

    @initialize(origin=st.sampled_from([None, ORIGIN]))
    def begin(self, origin):
        self.events: list[tuple[e.Event, str]] = []
        self.workflow: Workflow | None = None
        self.versions = dict.fromkeys(Transition, 0)
        self.blocked: set[str] = set()
        self.clock = 0
        self.origin = origin
        kept = {"spec.md": "0" * 64} if origin is not None else {}
        self.do(c.Begin(slug="x", idea="i", profile=PROFILES["standard"], origin=origin, documents=kept))
        # Claims of another tool make nothing ready, approved or done.
        assert self.workflow.stage is Stage.CLARIFY
        assert not self.workflow.approvals
        assert self.workflow.documents == kept

    def standing(self):
        gates = {name: (Blocker("b", "m", "n"),) if name in self.blocked else () for name in GATES}
        subjects = {one: Subject(parts={"part": f"{version:064d}"}) for one, version in self.versions.items()}
        return Standing(Readiness(**gates), subjects)

    def do(self, command):
        before = self.workflow
        decision = decide(before, command)
        if not isinstance(decision, Accepted):
            return None
        for event in decision.events:
            self.clock += 1
            at = f"2026-01-01T00:00:00.{self.clock:06d}Z"
            self.check_entry(event)
            self.events.append((event, at))
            self.workflow = evolve(self.workflow, event, at)
        return decision

    def check_entry(self, event):
        """No stage is entered without readiness and a valid approval of exactly the current content."""
        if not isinstance(event, e.StageEntered):
            return
        transition, standing = event.transition, self.standing()
        assert transition.origin is self.workflow.stage
        if not transition.is_rollback:
            assert not standing.readiness.before(transition.target)
        approval = self.workflow.approval(transition.key)
        assert status_of(approval, standing) == "approved"
        assert not isinstance(approval, UsedApproval)
        assert approval.transition is transition
        assert event.subject == approval.subject.hash

    @rule(transition=st.sampled_from(Transition))
    def the_subject_changes(self, transition):
        self.versions[transition] += 1

    @rule(gate=st.sampled_from(GATES))
    def something_blocks(self, gate):
        self.blocked.add(gate)

    @rule(gate=st.sampled_from(GATES))
    def nothing_blocks(self, gate):
        self.blocked.discard(gate)

    @rule(transition=st.sampled_from(Transition), by=ACTORS, rationale=st.sampled_from(["", "why"]))
    def approve(self, transition, by, rationale):
        done = self.do(c.Approve(transition=transition, standing=self.standing(), by=by, rationale=rationale))
        if done is not None and Deliver() in done.effects:
            assert self.do(c.Enter(transition=transition, standing=self.standing())) is not None

    @rule(transition=st.sampled_from(Transition))
    def enter(self, transition):
        self.do(c.Enter(transition=transition, standing=self.standing()))

    @rule()
    def go_forward(self):
        forward = next((one for one in Transition if one.origin is self.workflow.stage and not one.is_rollback), None)
        if forward is not None:
            self.blocked.clear()
            self.approve(forward, "ann", "")
            self.enter(forward)

    @rule(transition=st.sampled_from(Transition), by=ACTORS)
    def reject(self, transition, by):
        self.do(e.ApprovalRefused(transition=transition, reason="no", by=by))

    @rule(transition=st.sampled_from(Transition))
    def ask(self, transition):
        self.do(c.RequestApproval(transition=transition, standing=self.standing()))

    @rule(verdict=st.sampled_from(["approve", "request-changes"]), back_to=st.sampled_from([None, *Stage]))
    def review(self, verdict, back_to):
        self.do(e.WorkReviewed(review=Review(verdict=verdict, reviewer="r", tree="t", target=back_to)))

    @rule(number=st.integers(1, 3))
    def decision(self, number):
        self.do(e.DecisionAsked(decision=Decision(id=f"D-{number}", question=f"q{number}")))
        self.do(e.DecisionAnswered(id=f"D-{number}", answer="a", by="ann"))

    @rule(what=st.sampled_from(["VS-1", "VS-2"]), digest=st.sampled_from(["a", "b"]))
    def sign(self, what, digest):
        self.do(e.Signed(signature=Signature(what=what, digest=digest, by="ann", at="t")))

    @rule()
    def round(self):
        self.do(e.RoundTaken(round=Round(number=len(self.workflow.rounds) + 1)))

    @rule()
    def archive(self):
        write = Write(kind="spec", path="p", before="", after="a", domain="d")
        if self.do(c.Archive(standing=self.standing(), folder="f", writes=(write,))) is not None:
            assert "archive" not in self.blocked

    @rule()
    def settle(self):
        was_archived = isinstance(self.workflow.at, Archived)
        assert (self.do(e.ArchiveSettled()) is not None) == was_archived
        assert not was_archived or self.workflow.at.pending == ()

    @rule(digest=st.sampled_from(["a", "b"]))
    def note_specs(self, digest):
        base = SpecBase(domains={"d": {"r": digest}}, delta={"delta d: r": digest})
        self.do(e.SpecsNoted(base=base))
        self.do(e.DeltaFitted(base=base, by="ann", why="w"))
        self.do(e.PrecedenceGiven(over=f"chg-{digest}", by="ann"))

    @rule(usd=st.sampled_from([None, 1.0, 5.0]), spent=st.sampled_from([0.0, 2.0]))
    def take_off(self, usd, spent):
        before = self.workflow.flight
        done = self.do(e.FlightBegun(by="ann", limits=SpendingLimits(usd=usd), before=Amounts(usd=spent)))
        if done is not None:
            flight = self.workflow.flight
            assert (flight.limits.usd, flight.ended, flight.phase) == (usd, None, self.workflow.stage)
            assert before is None or (flight.before, flight.since) == (before.before, before.since), "one purse"

    @rule(stage=st.sampled_from(Stage))
    def fly_at(self, stage):
        is_in_force = self.workflow.flight is not None and self.workflow.flight.ended is None
        is_accepted = self.do(e.FlightAt(phase=stage)) is not None
        assert is_accepted == (is_in_force and not isinstance(self.workflow.at, Archived))
        assert not is_accepted or self.workflow.flight.phase is stage

    @rule(reason=st.sampled_from(["done", "autopilot_phase_blocked"]))
    def land(self, reason):
        is_in_force = self.workflow.flight is not None and self.workflow.flight.ended is None
        if self.do(e.FlightEnded(reason=reason, message="why")) is not None:
            assert is_in_force
            assert self.workflow.flight.ended == reason

    @invariant()
    def replay_equals_live(self):
        found = None
        for event, at in self.events:
            found = evolve(found, from_json(to_json(event), e.Event), at)
        assert found == self.workflow
        assert found.revision == len(self.events)
        assert from_json(to_json(found), Workflow) == found

    @invariant()
    def an_approval_never_outlives_its_subject(self):
        standing = self.standing()
        for key in Key:
            approval = self.workflow.approval(key)
            if why_void(approval, standing):
                assert status_of(approval, standing) == "void"

    @invariant()
    def where_it_came_from_never_changes(self):
        assert self.workflow.origin == self.origin

    @invariant()
    def nothing_is_decided_or_signed_twice(self):
        assert len({one.id for one in self.workflow.decisions}) == len(self.workflow.decisions)
        signed = [(one.what, one.digest) for one in self.workflow.signatures]
        assert len(set(signed)) == len(signed)


TestPath = Path.TestCase
