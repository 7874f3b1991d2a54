"""Writes the documents of a plan: skeletons that a person fills in, and documents that follow from spec and slices."""

from __future__ import annotations

from loopwright.kernel.files import is_blank
from loopwright.stages.context import Context, Tell, documents_of
from loopwright.stages.planning.state import require_spec
from loopwright.workflow import composing
from loopwright.workflow import events as e
from loopwright.workflow.delta.model import Delta
from loopwright.workflow.delta.read import read_delta
from loopwright.workflow.delta.write import composed
from loopwright.workflow.documents.page import NotAPage, read_page
from loopwright.workflow.drafting import skeletons
from loopwright.workflow.facts import Facts
from loopwright.workflow.living import base_for, rivals_of
from loopwright.workflow.model import Planning, PlanRound
from loopwright.workflow.package import (
    CHANGE_DOCUMENTS,
    GRAPH,
    PLAN_DOCUMENTS,
    delta_of,
    domain_problem,
    prd_of,
    test_spec_of,
)
from loopwright.workflow.slices import Slices
from loopwright.workflow.store import Opened

# Digests of the living specs, by domain and requirement.
Specs = dict[str, dict[str, str]]


def write_skeletons(context: Context, opened: Opened) -> list[str]:
    """Write the missing documents, without overwriting anything; returns notes for the person."""
    workflow, spec = opened.workflow, require_spec(opened.facts(), opened.workflow)
    notes = [
        f"note: {problem}; fix it in {opened.facts().spec_path}"
        for problem in filter(None, map(domain_problem, spec.domains))
    ]
    tasks = opened.read(CHANGE_DOCUMENTS["tasks"]) or b""
    pages = skeletons(workflow.slug, spec.domains, "spec.md", tasks, documents_of(context))
    missing = {name: data for name, data in pages.items() if is_blank(opened.read(name) or b"")}
    if missing:
        opened.write(missing, "tool")
    if not workflow.plan_rounds:
        opened.apply(e.PlanRoundTaken(round=PlanRound(number=1)), "tool")
    return notes


def compose(context: Context, opened: Opened, specs: Specs) -> tuple[Delta, ...]:
    """Write the documents that follow from spec, slices and deltas; a document that a person took over stays.

    Returns the deltas. `specs` are the living specs before the planning started.
    """
    facts, spec = opened.facts(), require_spec(opened.facts(), opened.workflow)
    texts = ((domain, opened.read(delta_of(domain)) or b"") for domain in facts.deltas)
    deltas = tuple(delta for domain, text in texts if isinstance(delta := read_delta(text, domain), Delta))
    pages = _pages(context, opened, facts, deltas)
    composed_now = {name: data for name, data in pages.items() if _is_composed(opened, name)}
    present = frozenset(name for name, digest in opened.workflow.documents.items() if digest) | set(composed_now)
    domains = tuple(facts.deltas) or spec.domains
    graph = composing.artifact_graph(opened.workflow.slug, domains, present)
    opened.write(composed_now | {GRAPH: graph}, "tool")
    base = base_for(specs, facts.delta_parts, facts.deltas, opened.workflow.base)
    if isinstance(opened.workflow.at, Planning):
        opened.apply(e.SpecsNoted(base=base), "tool")
    return deltas


def report_rivals(context: Context, change_id: str, deltas: tuple[Delta, ...], tell: Tell) -> None:
    """List other active changes of the same requirements; that does not stop the plan."""
    for other, conflicts in rivals_of(context.layout, change_id, {delta.domain: delta for delta in deltas}).items():
        names = ", ".join(f"'{conflict.requirement}'" for conflict in conflicts[:3])
        tell(f"note: {other} is active and also touches {names}; the change that is archived second must fit the first")


def _pages(context: Context, opened: Opened, facts: Facts, deltas: tuple[Delta, ...]) -> dict[str, bytes]:
    slug, spec, catalogue = opened.workflow.slug, require_spec(facts, opened.workflow), documents_of(context)
    pages: dict[str, bytes] = {
        CHANGE_DOCUMENTS["spec_delta"]: composed(opened.workflow.change_id, list(deltas), catalogue),
        prd_of(slug): composing.prd(slug, spec, facts.requirements, catalogue).render(),
    }
    if isinstance(facts.slices, Slices):
        slices = facts.slices
        pages[PLAN_DOCUMENTS["development_plan"]] = composing.development_plan(slug, slices, catalogue).render()
        pages[PLAN_DOCUMENTS["test_plan"]] = composing.test_plan(slug, slices, catalogue).render()
        pages[test_spec_of(slug)] = composing.test_spec(slug, spec, slices, catalogue).render()
        pages[CHANGE_DOCUMENTS["tasks"]] = composing.tasks(slug, slices, catalogue).render()
    return pages


def _is_composed(opened: Opened, name: str) -> bool:
    """Whether Loopwright may write a document: it is empty, or its frontmatter says that Loopwright composed it."""
    data = opened.read(name) or b""
    if is_blank(data) or name == CHANGE_DOCUMENTS["spec_delta"]:
        return True
    try:
        return composing.COMPOSED in read_page(data).frontmatter
    except NotAPage:
        return False
