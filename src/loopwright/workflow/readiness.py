"""Derives the blockers of each gate from the journal and the facts on disk. Pure; no status is stored.

The gates of plan, done and archive are here; `plan_gate` and `build_gate` have the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from loopwright.workflow.answer_rules import unaccepted_answers
from loopwright.workflow.audit import audited
from loopwright.workflow.blockers import Blocker, Family, blocker
from loopwright.workflow.build_gate import before_review, scope_of
from loopwright.workflow.clarity import Score, ambiguity
from loopwright.workflow.documents import spec as s
from loopwright.workflow.documents.spec import Spec
from loopwright.workflow.facts import DELTA_PART, Damaged, Facts, Missing
from loopwright.workflow.model import Archived, Done, Key, Subject, Transition, UsedApproval, Workflow
from loopwright.workflow.package import delta_of
from loopwright.workflow.plan_gate import before_build, change_blockers, lacking, spec_conflicts
from loopwright.workflow.stage import Stage
from loopwright.workflow.standing import (
    Readiness,
    Standing,
    moved_approvals,
    parts_changed,
    rejections,
    split,
    void_approval,
)
from loopwright.workflow.verification import RULES


def standing_of(workflow: Workflow, facts: Facts) -> Standing:
    """The current readiness, and the subject of each approval."""
    spec, plan = _spec_subject(facts), Subject(parts=facts.plan_parts)
    subjects = {
        Transition.CLARIFY_PLAN: spec,
        Transition.PLAN_BUILD: plan,
        Transition.REVIEW_BUILD: plan,
        Transition.BUILD_REVIEW: _evidence_subject(workflow),
        Transition.REVIEW_DONE: _evidence_subject(workflow),
        Transition.REVIEW_PLAN: spec,
        Transition.REVIEW_CLARIFY: spec,
    }
    so_far = Standing(Readiness(), subjects, is_finished=isinstance(workflow.at, Done | Archived))
    plan_blockers, moved = tuple(before_build(workflow, facts)), moved_approvals(workflow, so_far, Key.BUILD)
    rejected = partial(rejections, workflow, subjects)
    for_everyone, for_policy = split(
        Readiness(
            plan=(*_before_plan(workflow, facts), *rejected(Stage.CLARIFY)),
            build=(*moved_approvals(workflow, so_far, Key.PLAN), *plan_blockers, *rejected(Stage.PLAN)),
            review=(
                *moved_approvals(workflow, so_far, Key.PLAN),
                # The current plan can be approved only if it can be built.
                *(plan_blockers if moved else ()),
                *moved,
                *before_review(workflow, facts),
                *rejected(Stage.BUILD),
            ),
            done=(
                *(
                    replace(blocker, next=f"loopwright review {workflow.slug}")
                    for blocker in moved_approvals(workflow, so_far, Key.PLAN, Key.BUILD, Key.REVIEW)
                ),
                *before_done(workflow, facts),
                *rejected(Stage.REVIEW),
            ),
            archive=tuple(before_archive(workflow, facts)),
        )
    )
    return replace(so_far, readiness=for_everyone, for_a_person=for_policy)


def _before_plan(workflow: Workflow, facts: Facts) -> Iterator[Blocker]:
    """Blockers between clarifying and planning, in the contract's order."""
    slug, spec = workflow.slug, facts.spec
    if isinstance(spec, Missing | Damaged):
        suffix, problem = (
            ("missing", "the file is missing") if isinstance(spec, Missing) else ("invalid", spec.sentence())
        )
        yield blocker(Family.SPEC, suffix, spec=facts.spec_path, problem=problem, objects=facts.objects_path)
        return
    if spec.open_items:
        names = [item.id for item in spec.open_items]
        yield blocker(
            Family.UNRESOLVED_AMBIGUITY, slug=slug, count=len(names), items=", ".join(names[:5]), first=names[0]
        )
    for item, why in (_refused(workflow, spec) | unaccepted_answers(spec)).items():
        yield blocker(Family.ANSWER_NOT_ACCEPTED, item, slug=slug, item=item, why=why)
    if workflow.is_quick:
        return  # the idea is the spec
    rounds, profile = len(workflow.rounds), workflow.profile
    if not rounds and workflow.given is None:
        yield blocker(Family.CLARIFY_CURRENT_ROUND_REQUIRED, slug=slug)
    if rounds >= profile.max_rounds and _is_unclear(workflow, spec):
        by_hand = f"complete {facts.spec_path}, then loopwright plan {slug} --direct {facts.spec_path}"
        way = by_hand if profile.name == "deep" else f"loopwright clarify {slug} --profile deep"
        yield blocker(Family.CLARIFY_MAX_ROUNDS_EXCEEDED, slug=slug, rounds=rounds, most=profile.max_rounds, way=way)
    score = _score(workflow, spec)
    if score.value > profile.threshold:
        yield blocker(
            Family.CLARIFY_AMBIGUITY_SCORE_ABOVE_THRESHOLD, slug=slug, score=f"{score.value:.2f}",
            threshold=f"{profile.threshold:.2f}", why=score.sentence(),
        )  # fmt: skip
    sent_back = workflow.sent_back
    if (
        sent_back is not None
        and sent_back.review.target is Stage.CLARIFY
        and spec.parts == s.parts_of_spec(sent_back.parts)
    ):
        yield blocker(Family.SPEC_UNCHANGED, slug=slug, why=sent_back.review.rationale)
    if not spec.is_filled(s.NON_GOALS):
        yield blocker(Family.CLARIFY_NON_GOALS_UNRESOLVED, slug=slug, spec=facts.spec_path)
    if not spec.is_filled(s.BOUNDARIES):
        yield blocker(Family.CLARIFY_DECISION_BOUNDARIES_UNRESOLVED, slug=slug, spec=facts.spec_path)
    if not any(taken.presses_on for taken in workflow.rounds) and workflow.given is None:
        yield blocker(Family.CLARIFY_PRESSURE_PASS_INCOMPLETE, slug=slug)


def _refused(workflow: Workflow, spec: Spec) -> dict[str, str]:
    """Questions that are open again, because an agent refused their answers."""
    open_now = {item.id for item in spec.open_items}
    return {item: why for taken in workflow.rounds for item, why in taken.refused.items() if item in open_now}


def _score(workflow: Workflow, spec: Spec) -> Score:
    reported = workflow.rounds[-1].reported_score if workflow.rounds else None
    return ambiguity(spec, reported=reported, floor=workflow.score_floor, unjudged=workflow.unjudged)


def _is_unclear(workflow: Workflow, spec: Spec) -> bool:
    """Whether another round is needed."""
    return (
        bool(spec.open_items or unaccepted_answers(spec)) or _score(workflow, spec).value > workflow.profile.threshold
    )


def _evidence_subject(workflow: Workflow) -> Subject:
    """The work and the runs that prove it."""
    verified = workflow.verification
    if verified is None:
        return Subject(parts={})
    runs = {f"check {name}": f"{run.run_id}:{run.passed}:{run.tree}" for name, run in verified.checks.items()}
    tests = verified.tests
    of_project = {"project tests": f"{tests.run_id}:{tests.broken}"} if tests is not None else {}
    return Subject(parts={"tree": verified.tree, "patch": verified.patch_sha256, **runs, **of_project})


def _spec_subject(facts: Facts) -> Subject:
    """Section by section, to name what changed; without frontmatter and comments."""
    return Subject(parts=facts.spec.parts if isinstance(facts.spec, Spec) else {})


_REWORK = {
    Stage.BUILD: Family.REVIEW_REWORK_REQUIRED,
    Stage.PLAN: Family.PLAN_REWORK_REQUIRED,
    Stage.CLARIFY: Family.CLARIFY_REWORK_REQUIRED,
}


def before_done(workflow: Workflow, facts: Facts) -> Iterator[Blocker]:
    """Blockers between a review and the end: no approving verdict on the current work, or an incomplete scope."""
    slug, review, verified = workflow.slug, workflow.review, workflow.verification
    if verified is not None and verified.rules != RULES:
        yield blocker(Family.JUDGING_RULES_CHANGED, slug=slug)
    if verified is not None and verified.delivers_nothing:
        yield replace(blocker(Family.NOTHING_CHANGED, slug=slug), next=f"loopwright review {slug}")
    if review is None:
        yield blocker(Family.REVIEW_STATUS, "pending", slug=slug, why="the work was not reviewed yet")
    elif verified is None or review.tree != verified.tree:
        yield blocker(Family.REVIEW_STATUS, "stale", slug=slug, why="the work changed after the review")
    elif review.verdict != "approve":
        target = review.target or Stage.BUILD
        yield blocker(Family.REVIEW_VERDICT, review.verdict, slug=slug, why=review.rationale, target=target.value)
        yield blocker(_REWORK[target], slug=slug, why=review.rationale, target=target.value)
    elif review.risk:
        yield blocker(Family.RISK_ABOVE_FLOOR, slug=slug, why=review.risk, origin="review", target="done")
    yield from _unverified(facts)
    # Only a review can send the change back to the stage that fixes this.
    yield from (replace(blocker, next=f"loopwright review {slug}") for blocker in scope_of(workflow, facts))


def _unverified(facts: Facts) -> Iterator[Blocker]:
    """Evidence that was changed or removed after it was recorded proves nothing, whatever was approved."""
    for run, why in facts.evidence.items():
        yield blocker(Family.EVIDENCE_CHANGED, run, run=run, why=why)


# A change that is done enters no stage again: a person edits the delta and confirms it.
_FIT = 'loopwright archive {slug} --fitted "…"'


def before_archive(workflow: Workflow, facts: Facts) -> Iterator[Blocker]:
    """All blockers at once; an archived change has none."""
    slug = workflow.slug
    if isinstance(workflow.at, Archived):
        return
    if workflow.is_quick:
        yield blocker(Family.NO_SPEC_CHANGED, slug=slug)
        return
    if not isinstance(workflow.at, Done):
        yield blocker(Family.WORKFLOW_NOT_DONE, slug=slug, stage=workflow.stage.value)
    elif workflow.verification is not None and workflow.verification.delivers_nothing:
        yield replace(blocker(Family.NOTHING_CHANGED, slug=slug), next=f"loopwright undo {slug}")
    yield from _unverified(facts)
    yield from (replace(blocker, next=f"loopwright undo {slug}") for blocker in scope_of(workflow, facts))
    yield from (_from_here(workflow, facts, blocker) for blocker in change_blockers(workflow, facts))
    for domain in facts.spec.domains if isinstance(facts.spec, Spec) else ():
        if domain not in facts.deltas:
            yield blocker(Family.MISSING_SPEC_DELTA_PATH, path=facts.place(delta_of(domain)), spec=facts.spec_path)
    if not isinstance(workflow.at, Done):
        return
    yield from _unapproved(workflow, facts)
    yield from _uncovered(workflow, facts)
    yield from spec_conflicts(workflow, facts, "fit the delta to the current spec, then " + _FIT)
    for other, conflicts in facts.rivals.items():
        if other in workflow.goes_before:
            continue
        for domain in dict.fromkeys(conflict.domain for conflict in conflicts):
            names = ", ".join(f"'{conflict.requirement}'" for conflict in conflicts if conflict.domain == domain)
            why = f"{other} is active and also touches {names}"
            way = f"loopwright archive {slug} --before {other}"
            yield blocker(Family.SPEC_CONFLICT, domain, domain=domain, why=why, way=way)


def _from_here(workflow: Workflow, facts: Facts, blocker: Blocker) -> Blocker:
    """A change that is done is not planned again: a person corrects its documents, or undoes the change."""
    if not isinstance(workflow.at, Done):
        return blocker
    if blocker.family is Family.SPEC_DELTA:
        file = facts.place(delta_of(lacking(facts)))
        return replace(blocker, next=f"write it into {file}, then {_FIT.format(slug=workflow.slug)}")
    return replace(blocker, next=f"restore it, or loopwright undo {workflow.slug}")


def _unapproved(workflow: Workflow, facts: Facts) -> Iterator[Blocker]:
    """The specs get exactly what a person approved."""
    approval = workflow.approval(Key.BUILD)
    if not isinstance(approval, UsedApproval):
        return
    accepted = workflow.fitted or {
        name: digest for name, digest in approval.subject.parts.items() if name.startswith(DELTA_PART)
    }
    if changed := Subject(parts=facts.delta_parts).changed_since(Subject(parts=accepted)):
        void = void_approval(workflow, approval.transition, parts_changed(changed))
        yield replace(void, next="restore it, or confirm it: " + _FIT.format(slug=workflow.slug))


def _uncovered(workflow: Workflow, facts: Facts) -> Iterator[Blocker]:
    """Every requirement of the delta needs proof: a run of Loopwright, or a person's signature."""
    audit = audited(workflow, facts)
    names = [f"{domain}: {name}" for domain, listed in facts.requirements.items() for name in listed]
    missing = [name for name in names if not audit.covers(name)]
    if missing:
        listed = ", ".join(missing[:5])
        uncovered = blocker(Family.COMPLETION_AUDIT_MISSING_EVIDENCE, slug=workflow.slug, missing=listed)
        yield replace(uncovered, next="remove them from the delta, then " + _FIT.format(slug=workflow.slug))
