"""The workflow's rules, row by row: which moves are accepted, and which are refused with which code."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from loopwright.workflow import commands as c
from loopwright.workflow import events as e
from loopwright.workflow.blockers import Blocker, Family, Stops
from loopwright.workflow.model import (
    POLICY,
    Amounts,
    Archived,
    Building,
    Decision,
    Delivery,
    Done,
    Key,
    Planning,
    Reviewing,
    Round,
    Signature,
    SpecBase,
    SpendingLimits,
    Subject,
    Transition,
    UsedApproval,
    Write,
)
from loopwright.workflow.profiles import PROFILES
from loopwright.workflow.rules import Accepted, Deliver, Refused, decide, evolve
from loopwright.workflow.stage import Stage
from loopwright.workflow.standing import Readiness, Standing, moved_approvals, split, status_of, why_void
from loopwright.workflow.verdict import Review
from loopwright.workflow.verification import RULES

T = Transition
AT = "2026-01-01T00:00:00Z"
SUBJECT = Subject(parts={"spec.md: Intent": "a" * 64})
OTHER = Subject(parts={"spec.md: Intent": "b" * 64})
READY = Standing(Readiness(), dict.fromkeys(Transition, SUBJECT))
MOVED = Standing(Readiness(), dict.fromkeys(Transition, OTHER))
FORWARD = (T.CLARIFY_PLAN, T.PLAN_BUILD, T.BUILD_REVIEW)


def blocked(**gates):
    return Standing(
        Readiness(**{name: (Blocker(code, "why", f"do {code}"),) for name, code in gates.items()}),
        dict.fromkeys(Transition, SUBJECT),
    )


def apply(workflow, *commands):
    for command in commands:
        decision = decide(workflow, command)
        assert isinstance(decision, Accepted), decision
        for event in decision.events:
            workflow = evolve(workflow, event, AT)
    return workflow


def refused(workflow, command):
    decision = decide(workflow, command)
    assert isinstance(decision, Refused), decision
    return decision


def begun():
    return apply(None, c.Begin(slug="x", idea="an idea", profile=PROFILES["standard"]))


def approve(transition, standing=READY, by="ann", **more):
    return c.Approve(transition=transition, standing=standing, by=by, **more)


def enter(transition, standing=READY, **more):
    return c.Enter(transition=transition, standing=standing, **more)


def at(stage):
    workflow = begun()
    for transition in FORWARD:
        if workflow.stage is stage:
            return workflow
        workflow = apply(workflow, approve(transition), enter(transition))
    if stage is Stage.DONE:
        workflow = apply(workflow, reviewed("approve"), approve(T.REVIEW_DONE), enter(T.REVIEW_DONE))
    return workflow


def reviewed(verdict, target=None, rationale=""):
    review = Review(verdict=verdict, reviewer="bob", tree="t", target=target, rationale=rationale)
    return e.WorkReviewed(review=review)


def test_each_stage_keeps_the_values_of_its_entry():
    assert at(Stage.PLAN).at == Planning(spec=SUBJECT.hash)
    assert at(Stage.BUILD).at == Building(plan=SUBJECT.hash)
    assert at(Stage.REVIEW).at == Reviewing(evidence=SUBJECT.hash)
    assert at(Stage.DONE).at == Done()
    assert at(Stage.DONE).confirmed is T.REVIEW_DONE


@pytest.mark.parametrize("transition", list(Transition))
def test_no_stage_is_entered_without_approval(transition):
    decision = refused(at(transition.origin), enter(transition))
    assert decision.error == "approved_transition_required"
    assert [one.code for one in decision.blockers] == [f"approval_missing_{transition.key.value}"]
    assert decision.next == f"loopwright approve x --from {transition.origin.value} --to {transition.target.value}"


@pytest.mark.parametrize("transition", FORWARD)
def test_an_approval_of_other_content_is_void(transition):
    workflow = apply(at(transition.origin), approve(transition))
    decision = refused(workflow, enter(transition, MOVED))
    assert [one.code for one in decision.blockers] == [f"approval_void_{transition.key.value}"]
    assert "spec.md: Intent" in decision.message
    assert status_of(workflow.approval(transition.key), MOVED) == "void"
    assert status_of(workflow.approval(transition.key), READY) == "approved"


@pytest.mark.parametrize("transition", list(Transition))
def test_an_approval_by_older_rules_is_void_until_the_work_is_finished(transition):
    workflow = evolve(at(transition.origin), given_by_old_rules(transition), AT)
    approval = workflow.approval(transition.key)
    assert why_void(approval, READY) == "the judging rules changed"
    assert why_void(approval, replace(READY, is_finished=True)) == ""
    decision = refused(workflow, enter(transition))
    assert [one.code for one in decision.blockers] == [f"approval_void_{transition.key.value}"]


@pytest.mark.parametrize("transition", FORWARD)
def test_an_approval_that_was_used_under_older_rules_is_given_again(transition):
    workflow = evolve(at(transition.origin), given_by_old_rules(transition), AT)
    workflow = evolve(workflow, e.StageEntered(transition=transition, subject=SUBJECT.hash), AT)
    assert isinstance(workflow.approval(transition.key), UsedApproval)
    moved = moved_approvals(workflow, READY, transition.key)
    if transition is T.CLARIFY_PLAN:
        assert moved == (), "no rules judge a spec"
        return
    assert "the judging rules changed" in moved[0].message
    again = apply(workflow, approve(transition, replace(READY, readiness=Readiness(build=moved, review=moved))))
    assert moved_approvals(again, READY, transition.key) == ()


def given_by_old_rules(transition):
    return e.ApprovalGiven(transition=transition, subject=SUBJECT, by="ann")


@pytest.mark.parametrize(
    ("transition", "gate", "error"),
    [
        (T.CLARIFY_PLAN, "plan", "clarify_readiness_blocked"),
        (T.PLAN_BUILD, "build", "plan_review_gate_blocked"),
        (T.BUILD_REVIEW, "review", "build_review_gate_blocked"),
    ],
)
def test_an_approval_does_not_lift_blockers(transition, gate, error):
    standing = blocked(**{gate: "some_blocker"})
    decision = refused(at(transition.origin), approve(transition, standing))
    assert (decision.error, decision.next) == (error, "do some_blocker")
    approved = apply(at(transition.origin), approve(transition))
    assert refused(approved, enter(transition, standing)).error == error


@pytest.mark.parametrize("family", Family)
def test_the_family_of_a_blocker_says_whether_a_person_can_approve_in_spite_of_it(family):
    code = f"{family.code}x" if family.code.endswith("_") else family.code
    gates = Readiness(plan=(Blocker(code, "why", "do it"),))
    standing = Standing(split(gates)[0], READY.subjects, split(gates)[1])
    by_policy = refused(begun(), approve(T.CLARIFY_PLAN, standing, by=POLICY))
    assert [blocker.code for blocker in by_policy.blockers] == [code], "no policy passes any blocker"
    decision = decide(begun(), approve(T.CLARIFY_PLAN, standing))
    assert isinstance(decision, Accepted) is (family.stops is Stops.POLICY)
    # An earlier approval of the policy does not enter the stage, either.
    earlier = apply(begun(), approve(T.CLARIFY_PLAN, by=POLICY))
    assert refused(earlier, c.Enter(transition=T.CLARIFY_PLAN, standing=standing)).blockers


def test_an_unknown_blocker_stops_everyone():
    gates = Readiness(done=(Blocker("of_a_later_version", "why", "do it"),))
    assert split(gates) == (gates, Readiness())


def test_an_incomplete_plan_has_its_own_error():
    for code in ("missing_prd", "plan_package_incomplete"):
        decision = refused(at(Stage.PLAN), approve(T.PLAN_BUILD, blocked(build=code)))
        assert decision.error == "plan_package_incomplete"


@pytest.mark.parametrize("stage", list(Stage))
@pytest.mark.parametrize("transition", list(Transition))
def test_a_transition_of_another_stage_is_refused(stage, transition):
    if stage is transition.origin:
        return
    workflow = at(stage)
    assert refused(workflow, approve(transition)).error == "approval_from_stage_mismatch"
    rejection = e.ApprovalRefused(transition=transition, reason="no", by="ann")
    assert refused(workflow, rejection).error == "approval_from_stage_mismatch"
    assert refused(workflow, enter(transition)).error == "invalid_transition"


def test_the_last_approval_takes_effect_at_once_and_needs_an_approving_review():
    workflow = at(Stage.REVIEW)
    standing = blocked(done="review_verdict_missing")
    assert refused(workflow, approve(T.REVIEW_DONE, standing)).error == "review_not_approved"
    workflow = apply(workflow, reviewed("request-changes", Stage.BUILD))
    assert refused(workflow, approve(T.REVIEW_DONE, standing)).error == "review_not_approved"
    workflow = apply(workflow, reviewed("approve"))
    scope = blocked(done="partial_scope_remaining")
    assert refused(workflow, approve(T.REVIEW_DONE, scope)).error == "review_done_scope_blocked"
    assert refused(workflow, approve(T.REVIEW_DONE, blocked(done="x"))).error == "review_gate_blocked"
    decision = decide(workflow, approve(T.REVIEW_DONE))
    assert isinstance(decision, Accepted)
    assert decision.effects == (Deliver(),)
    delivery = Delivery(how="patch", where="main", before="c", patch_sha256="p")
    done = apply(workflow, approve(T.REVIEW_DONE), enter(T.REVIEW_DONE, delivery=delivery))
    assert done.at == Done(delivery=delivery)


@pytest.mark.parametrize(
    ("transition", "target"),
    [(T.REVIEW_BUILD, Stage.BUILD), (T.REVIEW_PLAN, Stage.PLAN), (T.REVIEW_CLARIFY, Stage.CLARIFY)],
)
def test_going_back_needs_a_review_that_requests_it_and_a_reason(transition, target):
    workflow = at(Stage.REVIEW)
    error = f"review_{target.value}_fix_not_requested"
    assert refused(workflow, approve(transition)).error == error
    for other in {Stage.BUILD, Stage.PLAN, Stage.CLARIFY} - {target}:
        elsewhere = apply(workflow, reviewed("request-changes", other, "why"))
        assert refused(elsewhere, approve(transition)).error == error
    asked = apply(workflow, reviewed("request-changes", target))
    if transition.key is Key.ROLLBACK:
        assert refused(asked, approve(transition)).error == "rollback_rationale_required"
    back = apply(asked, approve(transition, rationale="because"), enter(transition))
    assert back.stage is target
    assert back.approval(Key.REVIEW) == at(Stage.CLARIFY).approval(Key.REVIEW), "later approvals are gone"
    if target is Stage.CLARIFY:
        assert back.score_floor == 1.0
        assert apply(back, e.RoundTaken(round=Round(number=1))).score_floor == 0.0


def test_a_change_during_the_work_can_be_approved_without_leaving_the_stage():
    workflow = at(Stage.PLAN)
    assert status_of(workflow.approval(Key.PLAN), MOVED) == "void"
    assert refused(workflow, approve(T.CLARIFY_PLAN)).error == "approval_from_stage_mismatch"
    renewed = apply(workflow, approve(T.CLARIFY_PLAN, MOVED))
    assert renewed.stage is Stage.PLAN
    approval = renewed.approval(Key.PLAN)
    assert isinstance(approval, UsedApproval)
    assert approval.subject == OTHER


def test_a_rejection_blocks_until_the_next_approval():
    workflow = apply(begun(), e.ApprovalRefused(transition=T.CLARIFY_PLAN, reason="too vague", by="ann"))
    decision = refused(workflow, enter(T.CLARIFY_PLAN))
    assert decision.blockers[0].code == "approval_rejected_plan"
    assert "too vague" in decision.message
    assert apply(workflow, approve(T.CLARIFY_PLAN), enter(T.CLARIFY_PLAN)).stage is Stage.PLAN


def test_approval_is_requested_once_and_only_if_there_are_no_blockers():
    asked = c.RequestApproval(transition=T.CLARIFY_PLAN, standing=READY)
    workflow = apply(begun(), c.RequestApproval(transition=T.CLARIFY_PLAN, standing=blocked(plan="x")))
    assert workflow.approvals == {}
    workflow = apply(workflow, asked)
    revision = workflow.revision
    assert apply(workflow, asked).revision == revision
    approved = apply(workflow, approve(T.CLARIFY_PLAN))
    assert apply(approved, asked).approval(Key.PLAN) == approved.approval(Key.PLAN)
    moved = c.RequestApproval(transition=T.CLARIFY_PLAN, standing=MOVED)
    assert status_of(apply(approved, moved).approval(Key.PLAN), MOVED) == "requested"


def test_a_decision_is_asked_once_and_answered_once():
    workflow = at(Stage.BUILD)
    ask = e.DecisionAsked(decision=Decision(id="D-1", question="Which  port?"))
    workflow = apply(workflow, ask, ask, e.DecisionAsked(decision=Decision(id="D-2", question="which PORT?")))
    assert [one.id for one in workflow.decisions] == ["D-1"]
    assert refused(workflow, e.DecisionAnswered(id="D-9", answer="x", by="ann")).error == "unknown_decision"
    workflow = apply(workflow, e.DecisionAnswered(id="D-1", answer="8787", by="ann"))
    assert workflow.decisions[0].answer == "8787"
    again = refused(workflow, e.DecisionAnswered(id="D-1", answer="1", by="bob"))
    assert again.error == "decision_answered"
    assert "8787" in again.message


def test_a_signature_is_for_one_content():
    signature = Signature(what="VS-2", digest="d1", by="ann", at=AT)
    workflow = apply(at(Stage.BUILD), e.Signed(signature=signature), e.Signed(signature=signature))
    assert len(workflow.signatures) == 1
    assert workflow.is_signed("VS-2", "d1")
    assert not workflow.is_signed("VS-2", "d2")


def test_only_a_done_workflow_is_archived_and_it_stays_archived():
    for stage in (Stage.CLARIFY, Stage.PLAN, Stage.BUILD, Stage.REVIEW):
        assert refused(at(stage), c.Archive(standing=READY)).error == "archive_requires_done_workflow"
    done = at(Stage.DONE)
    assert refused(done, c.Archive(standing=blocked(archive="spec_delta_empty"))).error == "archive_blocked"
    scope = blocked(archive="partial_scope_remaining")
    assert refused(done, c.Archive(standing=scope)).error == "archive_scope_blocked"
    archived = apply(done, c.Archive(standing=READY))
    assert archived.at == Archived(change_id="chg-x")
    assert refused(archived, c.Archive(standing=READY)).error == "invalid_transition"
    assert refused(archived, approve(T.CLARIFY_PLAN)).error == "invalid_transition"


def test_an_archive_decision_is_pending_until_its_files_are_written():
    write = Write(kind="spec", path="specs/d/spec.md", before="", after="a" * 64, domain="d")
    archived = apply(at(Stage.DONE), c.Archive(standing=READY, folder="archive/chg-x", writes=(write,)))
    assert archived.at == Archived(change_id="chg-x", folder="archive/chg-x", writes=(write,))
    settled = apply(archived, e.ArchiveSettled())
    assert settled.at == Archived(change_id="chg-x", folder="archive/chg-x", writes=(write,), settled=True)
    assert (archived.at.pending, settled.at.pending) == ((write,), ())
    assert apply(settled, e.ArchiveSettled()) == settled
    assert refused(at(Stage.DONE), e.ArchiveSettled()).error == "invalid_transition"


def test_a_change_has_one_base_and_is_fitted_to_another_only_when_done():
    base, other = (SpecBase(domains={"d": {"r": digest}}, delta={"delta d: r": digest}) for digest in ("a", "b"))
    planned = apply(at(Stage.PLAN), e.SpecsNoted(base=base), e.SpecsNoted(base=base))
    assert (planned.base, planned.revision) == (base, at(Stage.PLAN).revision + 1)
    assert refused(at(Stage.BUILD), e.SpecsNoted(base=base)).error == "invalid_transition"
    assert refused(at(Stage.REVIEW), e.DeltaFitted(base=other, by="ann", why="w")).error == "invalid_transition"
    fitted = apply(at(Stage.DONE), e.DeltaFitted(base=other, by="ann", why="w"))
    assert (fitted.base, fitted.fitted) == (other, other.delta)
    first = apply(fitted, e.PrecedenceGiven(over="chg-y", by="ann"), e.PrecedenceGiven(over="chg-y", by="ann"))
    assert (first.goes_before, first.revision) == (("chg-y",), fitted.revision + 1)
    assert refused(at(Stage.BUILD), e.PrecedenceGiven(over="chg-y", by="ann")).error == "invalid_transition"


def test_only_a_delivery_can_be_undone():
    assert refused(at(Stage.DONE), e.ChangeUndone(by="ann")).error == "nothing_delivered"
    missing = refused(None, e.ChangeUndone(by="ann"))
    assert (missing.error, missing.next) == (
        "workflow_not_initialized", 'loopwright clarify SLUG --idea "…" starts one',
    )  # fmt: skip
    assert refused(begun(), c.Begin(slug="x", idea="", profile=PROFILES["deep"])).error == "workflow_exists"


def test_an_undone_delivery_keeps_its_review_and_waits_for_a_new_approval():
    delivery = Delivery(how="patch", where="p", before="c", patch_sha256="a" * 64)
    ready = apply(at(Stage.REVIEW), e.WorkReviewed(review=Review(verdict="approve", reviewer="bob", tree="t")))
    done = apply(ready, approve(T.REVIEW_DONE), c.Enter(transition=T.REVIEW_DONE, standing=READY, delivery=delivery))
    undone = apply(done, e.ChangeUndone(by="ann"))
    assert (undone.at, undone.confirmed) == (ready.at, T.BUILD_REVIEW)
    assert undone.approval(Key.COMPLETE) == ready.approval(Key.COMPLETE), "the old approval is gone"
    assert refused(undone, e.ChangeUndone(by="ann")).error == "nothing_delivered"


def test_work_is_accepted_only_in_its_stage():
    for stage in (Stage.CLARIFY, Stage.PLAN, Stage.REVIEW, Stage.DONE):
        assert refused(at(stage), e.BuildDriven(loop_id="l")).error == "invalid_transition"
    assert apply(at(Stage.BUILD), e.BuildDriven(loop_id="l")).at == Building(plan=SUBJECT.hash, loop_id="l")


def test_a_workflow_begins_with_its_documents_if_it_has_any():
    origin = c.Begin(
        slug="x", idea="an idea", profile=PROFILES["deep"], origin="somewhere", change="chg-7", documents={"a.md": "d"}
    )
    begun, kept = decide(None, origin).events
    assert begun == e.WorkflowBegun(
        slug="x", idea="an idea", profile=PROFILES["deep"], origin="somewhere", change="chg-7"
    )
    assert kept == e.DocumentsKept(documents={"a.md": "d"})
    assert len(decide(None, c.Begin(slug="x", idea="", profile=PROFILES["deep"])).events) == 1


def test_only_changed_documents_are_kept():
    workflow = apply(begun(), e.DocumentsKept(documents={"a": "1", "b": "1"}))
    changed = decide(workflow, e.DocumentsKept(documents={"a": "1", "b": "2", "c": "1"}))
    assert changed.events == (e.DocumentsKept(documents={"b": "2", "c": "1"}),)
    assert decide(workflow, e.DocumentsKept(documents={"a": "1"})).events == ()


DRIVEN = e.BuildDriven(loop_id="l", deslop="d")


@pytest.mark.parametrize(
    ("stage", "before", "known", "new"),
    [
        (Stage.CLARIFY, (), e.ProfileSet(profile=PROFILES["standard"]), e.ProfileSet(profile=PROFILES["deep"])),
        (Stage.BUILD, (DRIVEN,), DRIVEN, e.BuildDriven(loop_id="l", deslop="other")),
        (Stage.BUILD, (DRIVEN,), DRIVEN, e.BuildDriven(loop_id="other", deslop="d")),
    ],
)
def test_a_known_fact_is_not_stored_again(stage, before, known, new):
    workflow = apply(at(stage), *before)
    assert decide(workflow, known) == Accepted(())
    assert decide(workflow, new) == Accepted((new,))


def test_a_question_is_known_by_its_id_or_by_its_words():
    workflow = apply(at(Stage.BUILD), e.DecisionAsked(decision=Decision(id="D-1", question="Which port?")))
    for again in (Decision(id="D-1", question="Another one?"), Decision(id="D-2", question=" WHICH\nport?")):
        assert decide(workflow, e.DecisionAsked(decision=again)) == Accepted(())
    other = e.DecisionAsked(decision=Decision(id="D-2", question="Which host?"))
    assert decide(workflow, other) == Accepted((other,))


def test_a_refusal_names_the_open_questions_and_who_answered():
    workflow = at(Stage.BUILD)
    for name in ("D-1", "D-2", "D-3"):
        workflow = apply(workflow, e.DecisionAsked(decision=Decision(id=name, question=f"{name}?")))
    workflow = apply(workflow, e.DecisionAnswered(id="D-2", answer="8787", by="ann"))
    unknown = refused(workflow, e.DecisionAnswered(id="D-9", answer="x", by="ann"))
    assert unknown.message == "x has no question D-9 (open questions: D-1, D-3)"
    again = refused(workflow, e.DecisionAnswered(id="D-2", answer="x", by="bob"))
    assert again.message == "D-2 was answered by ann: 8787"
    assert "(open questions: none)" in refused(begun(), e.DecisionAnswered(id="D-9", answer="x", by="a")).message


def test_the_facts_of_an_autopilot_are_stored_only_while_it_is_active():
    start = e.FlightBegun(by="ann", limits=SpendingLimits(), before=Amounts())
    ended = e.FlightEnded(reason="done", message="s")
    for proposal in (e.FlightAt(phase=Stage.PLAN), ended):
        decision = refused(begun(), proposal)
        assert (decision.error, decision.message) == ("invalid_transition", "no autopilot is active for x")
    flying = apply(begun(), start, e.FlightAt(phase=Stage.PLAN))
    assert decide(flying, e.FlightAt(phase=Stage.PLAN)) == Accepted(())
    assert decide(flying, e.FlightAt(phase=Stage.BUILD)) == Accepted((e.FlightAt(phase=Stage.BUILD),))
    landed = apply(flying, ended)
    assert refused(landed, ended).error == "invalid_transition"
    assert decide(landed, start) == decide(flying, start) == Accepted((start,))


@pytest.mark.parametrize("blocker", [Blocker("some_blocker", "why", ""), Blocker("some_blocker", "why", "do it")])
def test_a_refusal_says_the_next_command(blocker):
    standing = Standing(Readiness(plan=(blocker,), archive=(blocker,)), dict.fromkeys(Transition, SUBJECT))
    status = "loopwright status x"
    decision = refused(begun(), approve(T.CLARIFY_PLAN, standing))
    assert (decision.next, decision.blockers) == (blocker.next or status, (blocker,))
    assert decision.message == "x is not ready for plan"
    archive = refused(at(Stage.DONE), c.Archive(standing=standing))
    assert (archive.next, archive.blockers, archive.message) == (
        blocker.next or status, (blocker,), "x can't be archived",
    )  # fmt: skip
    assert refused(begun(), e.ChangeUndone(by="ann")).next == status


def test_a_refusal_says_where_the_workflow_is():
    clarify = begun()
    assert refused(clarify, approve(T.PLAN_BUILD)).message == "x is at clarify, not at plan"
    assert refused(clarify, enter(T.PLAN_BUILD)).message.startswith("x is at clarify: ")
    assert refused(clarify, e.BuildDriven(loop_id="l")).message == "x is at clarify: this is not possible there"
    assert refused(clarify, c.Archive(standing=READY)).message.startswith("x is at clarify; ")


def test_the_new_approval_of_a_change_answers_only_the_blocker_of_the_old_one():
    void = Blocker("approval_void_plan", "w", "n")
    for blockers, error in (((void,), None), ((void, Blocker("some_blocker", "w", "n")), "clarify_readiness_blocked")):
        standing = Standing(Readiness(plan=blockers), dict.fromkeys(Transition, OTHER))
        decision = decide(at(Stage.PLAN), approve(T.CLARIFY_PLAN, standing))
        assert (None if isinstance(decision, Accepted) else decision.error) == error
    standing = Standing(Readiness(plan=(void,)), dict.fromkeys(Transition, SUBJECT))
    assert refused(begun(), approve(T.CLARIFY_PLAN, standing)).error == "clarify_readiness_blocked"


def test_an_approval_has_its_subject_its_author_its_reason_and_its_seals():
    decision = decide(begun(), approve(T.CLARIFY_PLAN, rationale="good", seals={"spec.md": "s"}))
    (given,) = decision.events
    assert given == e.ApprovalGiven(
        transition=T.CLARIFY_PLAN, subject=SUBJECT, by="ann", rationale="good", seals={"spec.md": "s"}, rules=RULES
    )
    assert decision.effects == ()


def test_an_entered_stage_has_its_subject_and_its_delivery():
    approved = apply(at(Stage.PLAN), approve(T.PLAN_BUILD))
    delivery = Delivery(how="patch", where="main", before="c", patch_sha256="p")
    decision = decide(approved, enter(T.PLAN_BUILD, delivery=delivery))
    (entered,) = decision.events
    assert entered == e.StageEntered(transition=T.PLAN_BUILD, subject=SUBJECT.hash, delivery=delivery)


def test_no_approval_is_requested_of_another_stage_or_again():
    for transition in (T.PLAN_BUILD, T.BUILD_REVIEW):
        assert decide(begun(), c.RequestApproval(transition=transition, standing=READY)) == Accepted(())
    review = at(Stage.REVIEW)
    back = (
        c.RequestApproval(transition=transition, standing=READY) for transition in (T.REVIEW_PLAN, T.REVIEW_CLARIFY)
    )
    first, second = back
    asked = apply(review, first)
    assert decide(asked, first) == Accepted(())
    assert decide(asked, second) == Accepted((e.ApprovalRequested(transition=T.REVIEW_CLARIFY),))


def test_the_reason_to_go_back_may_be_the_reviews():
    asked = apply(at(Stage.REVIEW), reviewed("request-changes", Stage.PLAN, "too big"))
    assert isinstance(decide(asked, approve(T.REVIEW_PLAN)), Accepted)
    blank = apply(at(Stage.REVIEW), reviewed("request-changes", Stage.PLAN, "  "))
    assert refused(blank, approve(T.REVIEW_PLAN, rationale="  ")).error == "rollback_rationale_required"
    approving = apply(at(Stage.REVIEW), reviewed("approve", Stage.PLAN, "x"))
    assert refused(approving, approve(T.REVIEW_PLAN)).error == "review_plan_fix_not_requested"


@pytest.mark.parametrize("code", ["partial_scope_remaining", "implemented_scope_mismatch"])
def test_unfinished_scope_has_its_own_error(code):
    workflow = apply(at(Stage.REVIEW), reviewed("approve"))
    assert refused(workflow, approve(T.REVIEW_DONE, blocked(done=code))).error == "review_done_scope_blocked"
    assert refused(at(Stage.DONE), c.Archive(standing=blocked(archive=code))).error == "archive_scope_blocked"
    build = refused(at(Stage.BUILD), approve(T.BUILD_REVIEW, blocked(review=code)))
    assert build.error == "build_review_gate_blocked", "only at the end"


def test_a_blocker_after_others_decides_the_error_too():
    first = Blocker("some_blocker", "w", "n")
    scope, package = Blocker("partial_scope_remaining", "w", "n"), Blocker("missing_prd", "w", "n")
    reviewed_well = apply(at(Stage.REVIEW), reviewed("approve"))
    done = Standing(Readiness(done=(first, scope)), dict.fromkeys(Transition, SUBJECT))
    assert refused(reviewed_well, approve(T.REVIEW_DONE, done)).error == "review_done_scope_blocked"
    build = Standing(Readiness(build=(first, package)), dict.fromkeys(Transition, SUBJECT))
    assert refused(at(Stage.PLAN), approve(T.PLAN_BUILD, build)).error == "plan_package_incomplete"


def test_going_back_needs_no_ready_stage():
    asked = apply(at(Stage.REVIEW), reviewed("request-changes", Stage.PLAN, "too big"))
    standing = blocked(plan="some_blocker", build="some_blocker")
    assert apply(asked, approve(T.REVIEW_PLAN, standing), enter(T.REVIEW_PLAN, standing)).stage is Stage.PLAN


def test_an_archive_has_its_folder_and_its_writes():
    write = Write(kind="spec", path="p", before="", after="a", domain="d")
    decision = decide(at(Stage.DONE), c.Archive(standing=READY, folder="f", writes=(write,)))
    assert decision == Accepted((e.ChangeArchived(folder="f", writes=(write,)),))
