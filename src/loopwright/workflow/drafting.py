"""The written documents of a plan: from a planner's answer, or as skeletons for a person."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from loopwright.wording.catalogue import ENGLISH, Catalogue
from loopwright.workflow.delta.model import UnreadableDelta
from loopwright.workflow.delta.read import read_delta
from loopwright.workflow.documents.page import NotAPage, Page, new_page, read_page
from loopwright.workflow.documents.spec import entries
from loopwright.workflow.package import CHANGE_DOCUMENTS, PLAN_DOCUMENTS, SLICES, delta_of, domain_problem
from loopwright.workflow.requirement_slices import mapping_problems, unnamed_requirements
from loopwright.workflow.slices import NotSlices, Slices, draft_slices, read_slices, render_slices

_NUMBERED = re.compile(r"^\d+(?:\.\d+)*[.)]?\s+")


class PlanReply(msgspec.Struct, frozen=True, kw_only=True):
    """A planner's answer."""

    plan: str
    slices: list[dict[str, Any]]
    deltas: dict[str, str]
    why: str
    what_changes: str
    architecture: str = ""
    design: str = ""
    # Globs of the files that the work may change; None: the settings decide.
    scope: tuple[str, ...] | None = None
    # Globs of files that the work must change in addition.
    scope_wanted: tuple[str, ...] = ()


def wrong_with(reply: PlanReply, domains: tuple[str, ...]) -> str | None:
    """Every problem that the planner must fix; None if the answer can be used."""
    problems: list[str] = []
    slices, requirements = Slices(()), dict[str, tuple[str, ...]]()
    try:
        slices = _slices(reply)
    except NotSlices as problem:
        problems += [f"slices: {detail.message}" for detail in problem.problems[:5]]
    problems += [f"the domain {domain} has no delta" for domain in domains if domain not in reply.deltas]
    for domain, text in reply.deltas.items():
        if (wrong := domain_problem(domain)) is not None:
            problems.append(f"the domain '{domain[:40]}': {wrong}")
            continue
        delta = read_delta(text.encode(), domain)
        if isinstance(delta, UnreadableDelta):
            problems += [
                f"the delta of {domain}, line {problem.line}: {problem.message}" for problem in delta.problems[:5]
            ]
        else:
            requirements[domain] = delta.touched
    if not problems:
        problems += [*mapping_problems(slices, requirements), *unnamed_requirements(slices, requirements)][:5]
    return "; ".join(problems) or None


def drafted(
    slug: str, reply: PlanReply, domains: tuple[str, ...], source: str, catalogue: Catalogue = ENGLISH
) -> dict[str, bytes]:
    """The planner's documents, by name."""
    design = reply.design or reply.architecture or reply.plan
    listed = "\n".join(f"- {domain}" for domain in domains)
    proposal = (
        new_page(catalogue.message("Change: {slug}", slug=slug), workflow=slug)
        .with_section("Why", reply.why)
        .with_section("What Changes", reply.what_changes)
        .with_section("Target Spec Domains", listed)
        .with_section("Source", catalogue.translate(source))
    )
    pages: dict[str, Page] = {
        PLAN_DOCUMENTS["plan"]: _prose(catalogue.message("Plan: {slug}", slug=slug), slug, reply.plan),
        PLAN_DOCUMENTS["architecture"]: _prose(
            catalogue.message("Architecture: {slug}", slug=slug), slug, reply.architecture or design
        ),
        CHANGE_DOCUMENTS["proposal"]: proposal,
        CHANGE_DOCUMENTS["design"]: _prose(catalogue.message("Design: {slug}", slug=slug), slug, design),
    }
    documents = {name: page.render() for name, page in pages.items()}
    documents[SLICES] = render_slices(slug, _slices(reply))
    return documents | {delta_of(domain): _ended(text) for domain, text in reply.deltas.items()}


def skeletons(
    slug: str, domains: tuple[str, ...], source: str, tasks: bytes = b"", catalogue: Catalogue = ENGLISH
) -> dict[str, bytes]:
    """Skeletons for a person, if no agent plans; an existing task list names the slices."""
    hint = catalogue.message("<!-- write here -->")
    reply = PlanReply(plan=hint, slices=[], deltas={}, why=hint, what_changes=hint, architecture=hint, design=hint)
    empty = {
        "id": "VS-1",
        "title": catalogue.message("the first slice"),
        "type": "AFK",
        "blocked_by": [],
        "behavior": catalogue.message("what a user can do with this slice"),
        "acceptance_criteria": [catalogue.message("what is true when it works")],
        "verification_signal": catalogue.message("what you can observe"),
        "checks": [],
    }
    slices = _slices_of_tasks(tasks, empty) or [empty]
    documents = drafted(slug, msgspec.structs.replace(reply, slices=slices), domains, source, catalogue)
    documents[SLICES] = draft_slices(slug, slices)
    # A name that leaves the folder of the change names no file in it.
    return documents | {
        delta_of(domain): b"## ADDED Requirements\n\n<!-- ### Requirement: Name -->\n"
        for domain in domains
        if domain_problem(domain) is None
    }


def _slices_of_tasks(tasks: bytes, empty: dict[str, Any]) -> list[dict[str, Any]]:
    """A slice for each section of a task list, in order; a person must add the checks."""
    try:
        sections = read_page(tasks).sections if tasks else ()
    except NotAPage:
        return []
    titled = [(_NUMBERED.sub("", section.name).strip(), entries(section.text)) for section in sections]
    steps = [(title, [_NUMBERED.sub("", line).strip() or line for line in lines]) for title, lines in titled if lines]
    return [
        {
            **empty,
            "id": f"VS-{number}",
            "title": title or f"part {number}",
            "blocked_by": [f"VS-{number - 1}"] if number > 1 else [],
            "behavior": title or lines[0],
            "acceptance_criteria": lines,
        }
        for number, (title, lines) in enumerate(steps, start=1)
    ]


def _slices(reply: PlanReply) -> Slices:
    return read_slices(draft_slices("", reply.slices, reply.scope, reply.scope_wanted))


def _prose(title: str, slug: str, text: str) -> Page:
    page = new_page(title, workflow=slug)
    return msgspec.structs.replace(page, preamble=f"{page.preamble}{text.strip()}\n")


def _ended(text: str) -> bytes:
    return (text.strip("\n") + "\n").encode()
