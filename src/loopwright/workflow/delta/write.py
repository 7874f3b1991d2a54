"""Writes deltas, living specs and the overview `spec-delta.md`; every text is read back before it is used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from loopwright.wording.catalogue import ENGLISH, Catalogue
from loopwright.workflow.delta.grammar import Fences, boundary
from loopwright.workflow.delta.intake import taken_in
from loopwright.workflow.delta.model import (
    Delta,
    DeltaProblem,
    LivingSpec,
    Removed,
    Requirement,
    Scenario,
    UnreadableDelta,
)
from loopwright.workflow.delta.read import read_delta, read_living, requirement_in


def requirement(name: str, text: str, scenarios: Sequence[Scenario]) -> Requirement | UnreadableDelta:
    """A new requirement; refused if the grammar can't express it, such as a heading inside a text."""
    parts = [f"### Requirement: {name}\n{text.strip()}\n"]
    parts += [f"#### Scenario: {one.name}\n{_body(one)}\n" for one in scenarios]
    written = taken_in("\n".join(parts).encode("utf-8", "surrogatepass"))
    if isinstance(written, UnreadableDelta):
        return written
    made = requirement_in(written)
    fences = Fences(written.bare)
    headings = sum(boundary(line) > 0 for i, line in enumerate(written.bare) if not fences[i])
    if (
        made is None
        or made.name != name
        or not made.text
        or headings != 1 + len(scenarios)
        or [one.name for one in made.scenarios] != [one.name for one in scenarios]
        or not all(one.text for one in made.scenarios)
    ):
        message = (
            f"'{name[:80]}' can't be written: it contains a heading, an open code fence, a line end or an empty text"
        )
        return UnreadableDelta((DeltaProblem(0, "unwritable", message),))
    return made


def _body(scenario: Scenario) -> str:
    if not scenario.steps:
        return scenario.text.strip()
    return "\n".join(f"- **{step.keyword}** " + step.text.strip().replace("\n", "\n  ") for step in scenario.steps)


def write_delta(delta: Delta) -> bytes | UnreadableDelta:
    """A delta file, read back before use: a text that would break the structure is refused."""
    data = _delta_text(delta).encode("utf-8", "surrogatepass")
    read = read_delta(data, delta.domain)
    if isinstance(read, UnreadableDelta):
        return read
    if unplaced(read) != unplaced(delta):
        return UnreadableDelta((DeltaProblem(0, "unwritable", "a text in this delta would break its structure"),))
    return data


def unplaced(delta: Delta) -> Delta:
    """A delta without its line numbers, for comparison."""
    return Delta(
        domain=delta.domain,
        added=tuple(msgspec.structs.replace(one, lines=(0, 0)) for one in delta.added),
        modified=tuple(msgspec.structs.replace(one, lines=(0, 0)) for one in delta.modified),
        removed=tuple(msgspec.structs.replace(one, line=0) for one in delta.removed),
        renamed=tuple(msgspec.structs.replace(one, line=0) for one in delta.renamed),
        purpose=delta.purpose,
    )


def _delta_text(delta: Delta) -> str:
    sections: list[str] = []
    if delta.purpose:
        sections.append(f"## Purpose\n\n{delta.purpose}")
    if delta.renamed:
        pairs = (f"- FROM: `### Requirement: {one.old}`\n- TO: `### Requirement: {one.new}`" for one in delta.renamed)
        sections.append(_section("RENAMED", pairs))
    if delta.removed:
        sections.append(_section("REMOVED", map(_removal, delta.removed)))
    if delta.modified:
        sections.append(_section("MODIFIED", (one.source for one in delta.modified)))
    if delta.added:
        sections.append(_section("ADDED", (one.source for one in delta.added)))
    return "\n\n".join(sections) + "\n"


def _section(kind: str, entries: Iterable[str]) -> str:
    return "\n\n".join([f"## {kind} Requirements", *entries])


def _removal(one: Removed) -> str:
    said = [f"**{label}**: {text}" for label, text in (("Reason", one.reason), ("Migration", one.migration)) if text]
    return "\n\n".join([f"### Requirement: {one.name}", *said])


def write_living(spec: LivingSpec) -> bytes:
    """The bytes of a living spec; unchanged parts are byte for byte as read."""
    return (spec.head + "".join(one.source for one in spec.requirements) + spec.tail).encode()


def new_living(domain: str, purpose: str) -> LivingSpec:
    """A new spec without requirements. A missing or invalid purpose is replaced with a plain sentence."""
    plain = f"The behaviour of {domain} that archived changes have settled, one requirement each."
    text = "# {} Specification\n\n## Purpose\n\n{}\n\n## Requirements\n"
    if purpose and "<!--" not in purpose:
        spec = read_living(text.format(domain, purpose).encode())
        fits = isinstance(spec, LivingSpec) and spec.purpose == purpose and not spec.tail
        if isinstance(spec, LivingSpec) and fits and all(one.code != "no_purpose" for one in spec.remarks):
            return spec
    head = text.format(domain, plain)
    return LivingSpec(title=f"{domain} Specification", purpose=plain, head=head, requirements=(), tail="")


def composed(change_id: str, deltas: Sequence[Delta], say: Catalogue = ENGLISH) -> bytes:
    """`spec-delta.md` for people, never read back: a table of counts, then the domains by name."""
    ordered = sorted(deltas, key=lambda delta: delta.domain)
    rows = [
        f"| {one.domain} | {len(one.added)} | {len(one.modified)} | {len(one.removed)} | {len(one.renamed)} |"
        for one in ordered
    ]
    table = "\n".join([say.words("| domain | added | modified | removed | renamed |"), "|---|---|---|---|---|", *rows])
    parts = [say.words("# Spec delta of {change_id}", change_id=change_id), table]
    for delta in ordered:
        parts += [f"## {delta.domain}", *_parts(delta)]
    return ("\n\n".join(parts) + "\n").encode()


def _parts(delta: Delta) -> Iterator[str]:
    if delta.purpose:
        yield f"**Purpose**: {delta.purpose}"
    if delta.renamed:
        yield "**RENAMED**"
        yield "\n".join(f"- {one.old} → {one.new}" for one in delta.renamed)
    if delta.removed:
        yield "**REMOVED**"
        yield "\n".join(
            f"- {one.name}" + "".join(f" ({what})" for what in (one.reason, one.migration) if what)
            for one in delta.removed
        )
    if delta.modified:
        yield "**MODIFIED**"
        yield from (one.source for one in delta.modified)
    if delta.added:
        yield "**ADDED**"
        yield from (one.source for one in delta.added)
