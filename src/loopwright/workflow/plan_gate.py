"""Blockers between a plan and its build, in the contract's order. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.workflow.blockers import Blocker, Family, blocker
from loopwright.workflow.documents import spec as s
from loopwright.workflow.documents.spec import Spec
from loopwright.workflow.facts import Damaged, Facts, Missing, written_by_planner
from loopwright.workflow.model import Planning, Workflow
from loopwright.workflow.package import CHANGE_DOCUMENTS, PLAN_DOCUMENTS, SLICES, delta_of, prd_of, test_spec_of
from loopwright.workflow.requirement_slices import mapping_problems
from loopwright.workflow.seal import tests_named_by
from loopwright.workflow.slices import Slices
from loopwright.workflow.stage import Stage

_FIT = "fit the delta to the current spec, then loopwright plan {slug}"
_WHY_DELTA = {
    "empty": "it is empty",
    "missing_domains": "domains of the spec have no delta",
    "missing_requirements": "a domain has no requirement",
}


def before_build(workflow: Workflow, facts: Facts) -> Iterator[Blocker]:
    """All blockers at once. The plan of a quick workflow is its slices: one with the checks that a person gave."""
    if workflow.is_quick:
        yield from _slices(workflow, facts)
        return
    yield from _unchanged(workflow, facts)
    yield from _reviews(workflow, facts)
    status = facts.package_status
    if status != "complete":
        yield blocker(Family.PLAN_PACKAGE, status, slug=workflow.slug, state=status)
    yield from _content(workflow, facts)
    if status == "missing":
        return
    yield from _documents(workflow, facts)
    yield from change_blockers(workflow, facts)
    yield from spec_conflicts(workflow, facts, _FIT)
    yield from _slices(workflow, facts)
    for pattern in facts.wider_scope:
        yield blocker(Family.SCOPE_WANTED, pattern, slug=workflow.slug, pattern=pattern)


def _unchanged(workflow: Workflow, facts: Facts) -> Iterator[Blocker]:
    """A plan that a review sent back must change before it is built again, or its spec must."""
    sent_back = workflow.sent_back
    if sent_back is None or sent_back.review.target is not Stage.PLAN or not isinstance(workflow.at, Planning):
        return
    same_spec = not isinstance(facts.spec, Spec) or facts.spec.parts == s.parts_of_spec(sent_back.parts)
    if same_spec and written_by_planner(sent_back.parts) == written_by_planner(facts.plan_parts):
        yield blocker(Family.PLAN_UNCHANGED, slug=workflow.slug, why=sent_back.review.rationale)


def _reviews(workflow: Workflow, facts: Facts) -> Iterator[Blocker]:
    """In the profile `full` the last round needs an architect's review and a critic's approval.

    Both must have seen the current plan. A person who changes the plan during the build approves it again instead.
    """
    if not facts.gates.full:
        return
    last = workflow.plan_rounds[-1] if workflow.plan_rounds else None
    if last is not None and isinstance(workflow.at, Planning) and last.seen and last.seen != facts.planned_parts:
        last = None
    if last is None or last.architect is None:
        yield blocker(Family.ARCHITECT_REVIEW_INCOMPLETE, slug=workflow.slug)
    verdict = last.critic if last is not None and last.critic is not None else "missing"
    if verdict != "approve":
        yield blocker(Family.CRITIC_VERDICT, verdict, slug=workflow.slug, verdict=verdict)


def _content(workflow: Workflow, facts: Facts) -> Iterator[Blocker]:
    spec = facts.spec
    if isinstance(spec, Spec) and not spec.is_filled(s.CRITERIA):
        yield blocker(Family.ACCEPTANCE_CRITERIA_UNRESOLVED, slug=workflow.slug, spec=facts.spec_path)
    test_plan = facts.plan_documents.get("test_plan")
    if test_plan is not None and test_plan.status == "empty":
        yield blocker(Family.VERIFICATION_STEPS_UNRESOLVED, slug=workflow.slug)
    if isinstance(spec, Spec) and not spec.is_filled(s.INPUTS):
        yield blocker(Family.EXECUTION_INPUTS_UNRESOLVED, slug=workflow.slug, spec=facts.spec_path)


def _documents(workflow: Workflow, facts: Facts) -> Iterator[Blocker]:
    slug = workflow.slug
    if facts.prd.status != "present":
        yield blocker(Family.MISSING_PRD, slug=slug)
    if facts.test_spec.status != "present":
        yield blocker(Family.MISSING_TEST_SPEC, slug=slug)
    for key, file in PLAN_DOCUMENTS.items():
        document = facts.plan_documents.get(key)
        state = document.status if document is not None else "missing"
        if state != "present":
            yield blocker(Family.MISSING_PLAN_ARTIFACT, key, slug=slug, file=facts.place(file), state=state)
    named = {
        **{key: (file, facts.plan_documents.get(key)) for key, file in PLAN_DOCUMENTS.items()},
        "prd": (prd_of(slug), facts.prd),
        "test_spec": (test_spec_of(slug), facts.test_spec),
    }
    for key, (file, document) in named.items():
        if document is not None and document.language is not None:
            yield blocker(Family.PLAN_ARTIFACT_LANGUAGE, key, slug=slug, file=facts.place(file), why=document.language)


def change_blockers(workflow: Workflow, facts: Facts) -> Iterator[Blocker]:
    """Blockers from the documents of the change."""
    slug = workflow.slug
    if facts.change_status == "missing":
        yield blocker(Family.MISSING_CHANGE_ARTIFACTS, slug=slug)
        return
    for key, file in CHANGE_DOCUMENTS.items():
        document = facts.change_documents.get(key)
        state = document.status if document is not None else "missing"
        if state != "present":
            yield blocker(Family.MISSING_CHANGE_ARTIFACT, key, slug=slug, file=facts.place(file), state=state)
    if facts.change_status != "complete":
        yield blocker(Family.CHANGE_ARTIFACTS, facts.change_status, slug=slug, state=facts.change_status)
    status = facts.delta_status
    if status != "complete":
        broken = "; ".join(
            f"{domain} {problem}" for domain, one in facts.deltas.items() for problem in one.problems[:3]
        )
        yield blocker(
            Family.SPEC_DELTA, status, slug=slug, why=broken or _WHY_DELTA.get(status, status),
            file=facts.place(delta_of(lacking(facts))),
        )  # fmt: skip


def lacking(facts: Facts) -> str:
    """The domain whose delta must be written first."""
    wanted = facts.spec.domains if isinstance(facts.spec, Spec) else ()
    broken = [name for name, one in facts.deltas.items() if one.problems or not one.requirements]
    return next(iter([*broken, *(name for name in wanted if name not in facts.deltas)]), "<domain>")


def spec_conflicts(workflow: Workflow, facts: Facts, way: str) -> Iterator[Blocker]:
    """Conflicts with specs that another change edited, one blocker per domain; found before anything is built."""
    for domain in dict.fromkeys(conflict.domain for conflict in facts.conflicts):
        conflicts = [conflict for conflict in facts.conflicts if conflict.domain == domain]
        why = "; ".join(f"{conflict.requirement or domain}: {conflict.message}" for conflict in conflicts)
        yield blocker(Family.SPEC_CONFLICT, domain, domain=domain, why=why, way=way.format(slug=workflow.slug))


def _slices(workflow: Workflow, facts: Facts) -> Iterator[Blocker]:
    slug, slices = workflow.slug, facts.slices
    if isinstance(slices, Missing):
        yield blocker(Family.VERTICAL_SLICES_MISSING, slug=slug)
    elif isinstance(slices, Damaged):
        yield blocker(Family.VERTICAL_SLICES_INVALID, slug=slug, file=facts.place(SLICES), problem=slices.sentence())
    else:
        yield from _checks(workflow, facts, slices)


def _checks(workflow: Workflow, facts: Facts, slices: Slices) -> Iterator[Blocker]:
    problems = [*mapping_problems(slices, facts.requirements)] if facts.delta_status == "complete" else []
    if problem := "; ".join(problems[:5]):
        yield blocker(Family.VERTICAL_SLICES_INVALID, slug=workflow.slug, file=facts.place(SLICES), problem=problem)
    for piece in slices.slices:
        if piece.type == "AFK" and not piece.checks:
            yield blocker(Family.SLICE_WITHOUT_CHECK, piece.id, name=piece.id, file=facts.place(SLICES))
    for check in slices.checks:
        for path in tests_named_by(check) if check.hidden else ():
            if path in facts.judges:
                yield blocker(
                    Family.HIDDEN_FILE_VISIBLE, check.id, slug=workflow.slug, name=check.id, path=path,
                    folder=f"{facts.folder_path}/hidden/",
                )  # fmt: skip
        control = workflow.controls.get(check.id)
        is_current = control is not None and control.digest == check.digest
        if not is_current or (facts.base_tree and control is not None and control.tree != facts.base_tree):
            yield blocker(Family.NEGATIVE_CONTROL_MISSING, check.id, slug=workflow.slug, name=check.id)
        elif control is not None and control.passed and not check.regression:
            mend = f'make it fail without the work: correct it, or mark it "regression": true, in {facts.place(SLICES)}'
            yield blocker(
                Family.VACUOUS_CHECK, check.id, name=check.id, command=check.command, mend=mend,
                when="before anything is built",
            )  # fmt: skip
