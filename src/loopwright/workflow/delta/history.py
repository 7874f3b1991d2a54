"""The history that a living spec carries: a section `## Archived Changes`, one line a deed.

It is a section of its own because a comment inside a requirement would be shown as its text or as part of a scenario,
would go when the requirement is replaced, and could say nothing of one that was removed. OpenSpec's tools keep sections
that they do not know, and show none of them. A name stands last on its line, so nothing has to be escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from loopwright.workflow.delta.grammar import SPACE, Fences, boundary, heading
from loopwright.workflow.delta.intake import lines_of
from loopwright.workflow.delta.model import Deed, Delta, Newline, Operation

TITLE = "Archived Changes"
_OPERATIONS = frozenset(Operation)


def deeds_of(delta: Delta, change_id: str) -> tuple[Deed, ...]:
    """What merging this delta does, in the order of doing."""
    renamed = [
        Deed(change_id, operation, name)
        for one in delta.renamed
        for operation, name in ((Operation.RENAMED_FROM, one.old), (Operation.RENAMED_TO, one.new))
    ]
    return (
        *renamed,
        *(Deed(change_id, Operation.REMOVED, one.name) for one in delta.removed),
        *(Deed(change_id, Operation.MODIFIED, one.name) for one in delta.modified),
        *(Deed(change_id, Operation.ADDED, one.name) for one in delta.added),
    )


def deeds_in(lines: Sequence[str], fences: Fences) -> Iterator[Deed]:
    """The deeds that a file records; other lines of the section are somebody's notes."""
    inside = False
    for i, line in enumerate(lines):
        if fences[i]:
            continue
        if 1 <= boundary(line) <= 2:
            inside = heading(line) == (2, TITLE)
        elif inside and (deed := _deed(line)) is not None:
            yield deed


def _deed(line: str) -> Deed | None:
    change_id, mark, rest = line.removeprefix("- ").partition(" | ")
    operation, second, name = rest.partition(" | ")
    if not (line.startswith("- ") and mark and second and name.strip(SPACE) and operation in _OPERATIONS):
        return None
    return Deed(change_id, Operation(operation), name.strip(SPACE))


def with_deeds(tail: str, deeds: Iterable[Deed], newline: Newline) -> str:
    """The end of a spec with these deeds in its history; everything else stays where it stands."""
    text = lines_of(tail)
    fences = Fences(text.bare)
    said = "".join(f"- {deed.change_id} | {deed.operation} | {deed.requirement}{newline}" for deed in deeds)
    title = next((i for i, line in enumerate(text.bare) if not fences[i] and heading(line) == (2, TITLE)), None)
    if title is None:
        return ended(tail, newline) + f"## {TITLE}{newline}{newline}{said}"
    end = title + 1
    while end < len(text.bare) and (fences[end] or not 1 <= boundary(text.bare[end]) <= 2):
        end += 1
    while not text.bare[end - 1].strip(SPACE):
        end -= 1
    before, after = text.between(0, end), text.between(end, len(text.bare))
    return (before if before.endswith(("\n", "\r")) else before + newline) + said + after


def ended(text: str, newline: Newline) -> str:
    """The text with a blank line at its end, so that a heading can follow; only what is missing is added."""
    if not text:
        return text
    last = lines_of(text).whole[-1]
    if not last.endswith(("\n", "\r")):
        return text + newline + newline
    return text if not last.strip(SPACE) else text + newline
