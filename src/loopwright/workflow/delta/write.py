"""Writes living specs and the overview `spec-delta.md`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopwright.wording.catalogue import ENGLISH, Catalogue
from loopwright.workflow.delta.model import Delta, LivingSpec
from loopwright.workflow.delta.read import read_living


def write_living(spec: LivingSpec) -> bytes:
    """The bytes of a living spec; unchanged parts are byte for byte as read."""
    return (spec.head + "".join(requirement.source for requirement in spec.requirements) + spec.tail).encode()


def new_living(domain: str, purpose: str) -> LivingSpec:
    """A new spec without requirements. A missing or invalid purpose is replaced with a plain sentence."""
    plain = f"The behaviour of {domain} that archived changes have settled, one requirement each."
    text = "# {} Specification\n\n## Purpose\n\n{}\n\n## Requirements\n"
    if purpose and "<!--" not in purpose:
        spec = read_living(text.format(domain, purpose).encode())
        fits = isinstance(spec, LivingSpec) and spec.purpose == purpose and not spec.tail
        if isinstance(spec, LivingSpec) and fits and all(problem.code != "no_purpose" for problem in spec.remarks):
            return spec
    head = text.format(domain, plain)
    return LivingSpec(title=f"{domain} Specification", purpose=plain, head=head, requirements=(), tail="")


def composed(change_id: str, deltas: Sequence[Delta], catalogue: Catalogue = ENGLISH) -> bytes:
    """`spec-delta.md` for people, never read back: a table of counts, then the domains by name."""
    ordered = sorted(deltas, key=lambda delta: delta.domain)
    rows = [
        f"| {delta.domain} | {len(delta.added)} | {len(delta.modified)} | {len(delta.removed)} | {len(delta.renamed)} |"
        for delta in ordered
    ]
    table = "\n".join(
        [catalogue.message("| domain | added | modified | removed | renamed |"), "|---|---|---|---|---|", *rows]
    )
    parts = [catalogue.message("# Spec delta of {change_id}", change_id=change_id), table]
    for delta in ordered:
        parts += [f"## {delta.domain}", *_parts(delta)]
    return ("\n\n".join(parts) + "\n").encode()


def _parts(delta: Delta) -> Iterator[str]:
    if delta.purpose:
        yield f"**Purpose**: {delta.purpose}"
    if delta.renamed:
        yield "**RENAMED**"
        yield "\n".join(f"- {rename.old} → {rename.new}" for rename in delta.renamed)
    if delta.removed:
        yield "**REMOVED**"
        yield "\n".join(
            f"- {removal.name}" + "".join(f" ({what})" for what in (removal.reason, removal.migration) if what)
            for removal in delta.removed
        )
    if delta.modified:
        yield "**MODIFIED**"
        yield from (requirement.source for requirement in delta.modified)
    if delta.added:
        yield "**ADDED**"
        yield from (requirement.source for requirement in delta.added)
