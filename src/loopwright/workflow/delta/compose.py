"""`spec-delta.md`: what a change does to all its domains, in one view for a person. Nothing reads it back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopwright.wording.catalogue import ENGLISH, Catalogue
from loopwright.workflow.delta.model import Delta


def composed(change_id: str, deltas: Sequence[Delta], say: Catalogue = ENGLISH) -> bytes:
    """The view: a table of counts, then the domains in the order of their names."""
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
