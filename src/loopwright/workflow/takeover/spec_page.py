"""Specs from documents of other tools: their names of sections and statuses become the contract's."""

from __future__ import annotations

import re

from msgspec.structs import replace

from loopwright.workflow.documents import spec as s
from loopwright.workflow.documents.page import NotAPage, Page, Section
from loopwright.workflow.documents.spec import Spec, read_spec
from loopwright.workflow.takeover.source import Source

_ALIASES = {
    "intent and desired outcome": s.INTENT,
    "goal": s.INTENT,
    "outcome": s.OUTCOME,
    "ambiguities": s.AMBIGUITIES,
    "in scope work": s.IN_SCOPE,
    "scope": s.IN_SCOPE,
    "out of scope non goals": s.NON_GOALS,
    "out of scope": s.NON_GOALS,
    "assumptions": s.ASSUMPTIONS,
    "assumptions resolved": s.ASSUMPTIONS,
    "assumptions challenged": s.ASSUMPTIONS,
    "brownfield evidence": s.BROWNFIELD,
    "target domains": s.DOMAINS,
    "acceptance criteria": s.CRITERIA,
}
_ALIASES |= {re.sub(r"[^a-z]+", " ", name.casefold()).strip(): name for name in s.SECTIONS}
_STATUS = re.compile(r"(?m)^([-*] +A-\d{1,6} *\| *)([A-Za-z-]+)( *\|)")
_MEANS = {
    "resolved": "answered", "closed": "answered", "done": "answered", "unresolved": "open", "pending": "open",
}  # fmt: skip


def taken_spec(source: Source, path: str) -> Spec | None:
    """A spec in the contract's names; None if it can't be read, which is reported."""
    page = source.page(path)
    if page is None:
        return None
    try:
        return read_spec(_renamed(page).render())
    except NotAPage as problem:
        source.note_all(path, problem.problems)
        return None


def listed(lines: tuple[str, ...] | list[str]) -> str:
    """A Markdown list, one line per entry."""
    return "\n".join(f"- {' '.join(line.split())}" for line in lines)


def _renamed(page: Page) -> Page:
    """The page with known headings in the contract's terms; the first of two synonyms counts."""
    taken = {section.name.casefold() for section in page.sections}
    sections = []
    for section in page.sections:
        name = _ALIASES.get(re.sub(r"[^a-z]+", " ", section.name.casefold()).strip())
        if name is not None and name.casefold() not in taken:
            taken.add(name.casefold())
            section = Section(name, section.line, f"## {name}\n" + section.raw.partition("\n")[2])  # noqa: PLW2901 -- the same, renamed
        if section.name.casefold() == s.AMBIGUITIES.casefold():
            raw = _STATUS.sub(lambda hit: f"{hit[1]}{_MEANS.get(hit[2].lower(), hit[2])}{hit[3]}", section.raw)
            section = replace(section, raw=raw)  # noqa: PLW2901 -- the same, with other words for its statuses
        sections.append(section)
    return replace(page, sections=tuple(sections))
