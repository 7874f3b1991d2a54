"""Blockers that keep a change out of the specs, in the contract's order. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from loopwright.workflow.audit import audited
from loopwright.workflow.blockers import Blocker, Family, blocker
from loopwright.workflow.build_gate import scope_of
from loopwright.workflow.documents.spec import Spec
from loopwright.workflow.facts import DELTA_PART, Facts
from loopwright.workflow.model import Archived, Done, Key, UsedApproval, Workflow
from loopwright.workflow.package import delta_of
from loopwright.workflow.plan_gate import change_blockers, lacking, spec_conflicts
from loopwright.workflow.slices import Slices

# A change that is done enters no stage again: a person edits the delta and confirms it.
_FIT = 'loopwright archive {slug} --fitted "…"'


def before_archive(workflow: Workflow, facts: Facts) -> Iterator[Blocker]:
    """All blockers at once; an archived change has none."""
    slug = workflow.slug
    if isinstance(workflow.at, Archived):
        return
    if not isinstance(workflow.at, Done):
        yield blocker(Family.WORKFLOW_NOT_DONE, slug=slug, stage=workflow.stage.value)
    yield from (replace(one, next=f"loopwright undo {slug}") for one in scope_of(workflow, facts))
    yield from (_from_here(workflow, facts, one) for one in change_blockers(workflow, facts))
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
        for domain in dict.fromkeys(one.domain for one in conflicts):
            names = ", ".join(f"'{one.requirement}'" for one in conflicts if one.domain == domain)
            why = f"{other} is active and also touches {names}"
            way = f"loopwright archive {slug} --before {other}"
            yield blocker(Family.SPEC_CONFLICT, domain, domain=domain, why=why, way=way)


def _from_here(workflow: Workflow, facts: Facts, one: Blocker) -> Blocker:
    """A change that is done is not planned again: a person corrects its documents, or undoes the change."""
    if not isinstance(workflow.at, Done):
        return one
    if one.family is Family.SPEC_DELTA:
        file = facts.place(delta_of(lacking(facts)))
        return replace(one, next=f"write it into {file}, then {_FIT.format(slug=workflow.slug)}")
    return replace(one, next=f"restore it, or loopwright undo {workflow.slug}")


def _unapproved(workflow: Workflow, facts: Facts) -> Iterator[Blocker]:
    """The specs get exactly what a person approved."""
    approval = workflow.approval(Key.BUILD)
    if not isinstance(approval, UsedApproval):
        return
    accepted = workflow.fitted or {
        name: digest for name, digest in approval.subject.parts.items() if name.startswith(DELTA_PART)
    }
    now = facts.delta_parts
    changed = sorted(name for name in now.keys() | accepted.keys() if now.get(name) != accepted.get(name))
    if changed:
        at = approval.transition
        void = blocker(
            Family.APPROVAL_VOID, Key.BUILD.value, slug=workflow.slug, transition=at.value, origin=at.origin.value,
            target=at.target.value, changed=", ".join(changed[:5]),
        )  # fmt: skip
        yield replace(void, next="restore it, or confirm it: " + _FIT.format(slug=workflow.slug))


def _uncovered(workflow: Workflow, facts: Facts) -> Iterator[Blocker]:
    """Every requirement of the delta needs proof: a run of Loopwright, or a person's signature."""
    slices = facts.slices if isinstance(facts.slices, Slices) else Slices(())
    wanted = {domain: one.requirements for domain, one in facts.deltas.items()}
    audit = audited(workflow, slices, wanted)
    names = [f"{domain}: {name}" for domain, listed in wanted.items() for name in listed]
    missing = [name for name in names if not audit.covers(name)]
    if missing:
        found = blocker(Family.COMPLETION_AUDIT_MISSING_EVIDENCE, slug=workflow.slug, missing=", ".join(missing[:5]))
        yield replace(found, next="remove them from the delta, then " + _FIT.format(slug=workflow.slug))
