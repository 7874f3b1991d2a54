"""Documents that Loopwright composes from spec, slices and deltas, so that they can't contradict their sources."""

from __future__ import annotations

import json

import msgspec

from loopwright.wording.catalogue import ENGLISH, Catalogue
from loopwright.workflow.documents import spec as s
from loopwright.workflow.documents.page import NotAPage, Page, new_page, read_page
from loopwright.workflow.documents.spec import Spec
from loopwright.workflow.package import CHANGE_DOCUMENTS, PLAN_DOCUMENTS, SLICES, delta_of, prd_of, test_spec_of
from loopwright.workflow.slices import Check, Slice, Slices

# Every `plan` rewrites a document with this key; remove the key to own the document.
COMPOSED = "composed"
# The purpose of each document, in its first lines. These words also show the language of a document of names only.
_IN_ORDER = "Slices in build order. Each slice works on its own, and its own checks judge it."
_JUDGED = (
    "These commands decide when the work is done. Loopwright runs them itself, in a fresh sandbox; "
    "an agent's claims about them do not count."
)
_WANTED = "What to build, in one place, as the spec says. To build something else, change the spec first."
_TICKED = "The checks and signatures decide what is done, not the boxes ticked here. The list is for the builder."
_NOTE = "from the spec, the slices and the deltas; remove this line to own the file"


def development_plan(slug: str, slices: Slices, catalogue: Catalogue) -> Page:
    """The slices in build order."""
    page = _page(catalogue.message("Development plan: {slug}", slug=slug), slug, catalogue, _IN_ORDER)
    for piece in slices.slices:
        after = catalogue.message("After {names}. ", names=", ".join(piece.blocked_by)) if piece.blocked_by else ""
        who = (
            catalogue.message("A person signs this slice.")
            if piece.type == "HITL"
            else catalogue.message("An agent builds this slice alone.")
        )
        page = page.with_section(f"{piece.id} {piece.title}", f"{piece.behavior}\n\n{after}{who}")
    return page


def test_plan(slug: str, slices: Slices, catalogue: Catalogue) -> Page:
    """The checks of each slice."""
    page = _page(catalogue.message("Test plan: {slug}", slug=slug), slug, catalogue, _JUDGED)
    for piece in slices.slices:
        lines = [f"- {line}" for line in piece.acceptance_criteria]
        lines += ["", catalogue.message("Signal: {signal}", signal=piece.verification_signal), ""]
        lines += [_check_line(check, catalogue) for check in piece.checks]
        page = page.with_section(f"{piece.id} {piece.title}", "\n".join(lines))
    return page


def prd(slug: str, spec: Spec, requirements: dict[str, tuple[str, ...]], catalogue: Catalogue) -> Page:
    """What to build, in one place."""
    page = _page(f"PRD: {slug}", slug, catalogue, _WANTED)
    for name in (s.INTENT, s.OUTCOME, s.IN_SCOPE, s.NON_GOALS, s.CONSTRAINTS, s.SUCCESS, s.CRITERIA):
        page = page.with_section(name, spec.page.text_of(name) or catalogue.message("(nothing said)"))
    listed = [f"- {domain}: {name}" for domain, names in requirements.items() for name in names]
    return page.with_section("Requirements", "\n".join(listed) or catalogue.message("(none)"))


def test_spec(slug: str, spec: Spec, slices: Slices, catalogue: Catalogue) -> Page:
    """How the work is judged, in one place."""
    page = _page(catalogue.message("Test spec: {slug}", slug=slug), slug, catalogue, _JUDGED)
    page = page.with_section(s.CRITERIA, spec.page.text_of(s.CRITERIA))
    lines = [f"- {piece.id} {piece.title}: {piece.verification_signal}" for piece in slices.slices]
    checks = [_check_line(check, catalogue) for check in slices.checks]
    return page.with_section("Verification Steps", "\n".join([*lines, "", *checks]))


def tasks(slug: str, slices: Slices, catalogue: Catalogue) -> Page:
    """The checklist, in the form that OpenSpec's tools count."""
    page = _page(catalogue.message("Tasks: {slug}", slug=slug), slug, catalogue, _TICKED)
    for number, piece in enumerate(slices.slices, start=1):
        lines = [f"- [ ] {number}.{at} {line}" for at, line in enumerate(_steps(piece, catalogue), start=1)]
        page = page.with_section(f"{number}. {piece.id} {piece.title}", "\n".join(lines))
    return page


def artifact_graph(slug: str, domains: tuple[str, ...], present: frozenset[str]) -> bytes:
    """Which document depends on which, and what can be written next."""
    deltas = [delta_of(domain) for domain in domains]
    rests_on: dict[str, list[str]] = {
        "spec.md": [],
        PLAN_DOCUMENTS["plan"]: ["spec.md"],
        PLAN_DOCUMENTS["architecture"]: ["spec.md"],
        CHANGE_DOCUMENTS["proposal"]: ["spec.md"],
        CHANGE_DOCUMENTS["design"]: [CHANGE_DOCUMENTS["proposal"]],
        **{delta: [CHANGE_DOCUMENTS["proposal"]] for delta in deltas},
        CHANGE_DOCUMENTS["spec_delta"]: deltas,
        SLICES: [PLAN_DOCUMENTS["plan"], *deltas],
        CHANGE_DOCUMENTS["tasks"]: [SLICES],
        PLAN_DOCUMENTS["development_plan"]: [SLICES],
        PLAN_DOCUMENTS["test_plan"]: [SLICES],
        prd_of(slug): ["spec.md", *deltas],
        test_spec_of(slug): [SLICES],
    }
    nodes = [
        {"path": path, "status": "done" if path in present else "missing", "dependsOn": below}
        for path, below in rests_on.items()
    ]
    ready = [path for path, below in rests_on.items() if path not in present and present.issuperset(below)]
    return (json.dumps({"schema_version": 1, "nodes": nodes, "nextReady": ready}, indent=2) + "\n").encode()


def _page(title: str, slug: str, catalogue: Catalogue, intro: str) -> Page:
    page = new_page(title, workflow=slug, composed=catalogue.text(_NOTE))
    return msgspec.structs.replace(page, preamble=f"{page.preamble}{catalogue.text(intro)}\n")


def _check_line(check: Check, catalogue: Catalogue) -> str:
    if check.hidden:
        return catalogue.message("- {id}: hidden", id=check.id)
    kind = catalogue.message(" (regression)") if check.regression else ""
    return f"- {check.id}{kind}: `{check.command}`"


def _steps(piece: Slice, catalogue: Catalogue) -> list[str]:
    signed = (
        [catalogue.message("a person signs: loopwright sign SLUG {id}", id=piece.id)] if piece.type == "HITL" else []
    )
    passes = [catalogue.message("{id} passes", id=check.id) for check in piece.checks]
    return [*piece.acceptance_criteria, *passes, *signed]


_NOTHING = "(not documented)"


def candidate(
    change_id: str,
    title: str,
    requirements: list[str],
    *,
    proposal: bytes,
    design: bytes,
    catalogue: Catalogue = ENGLISH,
) -> bytes:
    """An ADR candidate: the design of a change, as a starting point for a decision record."""
    nothing = catalogue.message(_NOTHING)
    listed = "\n".join(f"- {name}" for name in requirements) or nothing
    undecided = (
        "Status: candidate. This is not a decision yet. To adopt it, write a decision record and name the decider."
    )
    parts = [
        catalogue.message("# Candidate: {title}", title=title),
        catalogue.message(undecided),
        f"## {catalogue.message('Context')}\n\n{_section(proposal, 'Why') or nothing}",
        f"## {catalogue.message('What was done')}\n\n{_text(design) or nothing}",
        f"## {catalogue.message('Requirements that depend on this design')}\n\n{listed}",
        catalogue.message("Source: design.md of {change_id}", change_id=change_id),
    ]
    return ("\n\n".join(parts) + "\n").encode()


def _section(data: bytes, name: str) -> str:
    try:
        return read_page(data).text_of(name).strip()
    except NotAPage:
        return ""


def _text(data: bytes) -> str:
    """A page without its title, with its headings one level deeper."""
    try:
        page = read_page(data)
    except NotAPage:
        return ""
    above = "\n".join(line for line in page.preamble.splitlines() if not line.startswith("# ")).strip()
    sections = [f"### {section.name}\n\n{section.text.strip()}" for section in page.sections]
    return "\n\n".join(part for part in (above, *sections) if part)
