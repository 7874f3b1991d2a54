"""An ADR *candidate*: a change's design, for somebody who may want to make a decision record of it. Pure."""

from __future__ import annotations

from loopwright.wording.catalogue import ENGLISH, Catalogue
from loopwright.workflow.documents.page import NotAPage, read_page

_NOTHING = "(nothing was written down)"


def candidate(
    change_id: str, title: str, requirements: list[str], *, proposal: bytes, design: bytes, say: Catalogue = ENGLISH
) -> bytes:
    """The page; it says itself that it decides nothing."""
    nothing = say.words(_NOTHING)
    listed = "\n".join(f"- {name}" for name in requirements) or nothing
    undecided = "Status: candidate. Nobody decided this: who agrees makes a decision record of it, and names a decider."
    parts = [
        say.words("# Candidate: {title}", title=title),
        say.words(undecided),
        f"## {say.words('Context')}\n\n{_section(proposal, 'Why') or nothing}",
        f"## {say.words('What was done')}\n\n{_text(design) or nothing}",
        f"## {say.words('Requirements that rest on it')}\n\n{listed}",
        say.words("Source: design.md of {change_id}", change_id=change_id),
    ]
    return ("\n\n".join(parts) + "\n").encode()


def _section(data: bytes, name: str) -> str:
    try:
        return read_page(data).text_of(name).strip()
    except NotAPage:
        return ""


def _text(data: bytes) -> str:
    """A page below its title, with its own headings one level deeper."""
    try:
        page = read_page(data)
    except NotAPage:
        return ""
    above = "\n".join(line for line in page.preamble.splitlines() if not line.startswith("# ")).strip()
    sections = [f"### {section.name}\n\n{section.text.strip()}" for section in page.sections]
    return "\n\n".join(part for part in (above, *sections) if part)
