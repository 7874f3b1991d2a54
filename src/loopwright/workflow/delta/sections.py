"""Two sections of a living spec without requirements: its purpose, and the history `## Archived Changes`.

The history is a section because a comment inside a requirement would be read as its text, would disappear with it, and
could not record a removal. OpenSpec's tools keep unknown sections and do not show them. The name is last on its line,
so nothing needs escaping.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from loopwright.workflow.delta.grammar import SPACE, Fences, boundary, heading, is_section
from loopwright.workflow.delta.intake import lines_of
from loopwright.workflow.delta.model import Deed, Delta, Newline, Operation

SHORTEST = 50
_GENERATED = ("TBD - created by archiving change ", ". Update Purpose after archive.")
_MARK = re.compile(r"(?:TBD|TODO)", re.IGNORECASE | re.ASCII)
_PUNCTUATION = re.compile("[ \t]*(?:\\Z|\n|[:\\-\u2013\u2014.,;()\\[\\]{}])")
_COMMENT_END = re.compile(r"--!?>")


def purpose_in(lines: Sequence[str], *, masked: bool) -> str:
    """The body of `## Purpose`. In a delta (`masked`) comments and samples do not count."""
    seen = _without_comments(lines) if masked else list(lines)
    fences = Fences(seen)
    titles = (i for i, line in enumerate(seen) if not fences[i] and is_section(line, "purpose"))
    start = next(titles, None)
    if start is None:
        return ""
    end = start + 1
    ends = (2,) if masked else (1, 2)
    while end < len(seen) and (fences[end] or boundary(seen[end]) not in ends):
        end += 1
    prose = "".join(seen[i] for i in range(start + 1, end) if not fences[i])
    if masked and not prose.strip(SPACE):
        return ""
    return "\n".join(lines[start + 1 : end]).strip(SPACE)


def _without_comments(lines: Sequence[str]) -> list[str]:
    """The lines with comments blanked out; an unclosed comment extends to the end."""
    text = "\n".join(lines)
    shown: list[str] = []
    at = 0
    while (opens := text.find("<!--", at)) >= 0:
        closes = _COMMENT_END.search(text, opens + 4)
        end = closes.end() if closes else len(text)
        shown += [text[at:opens], re.sub(r"[^\n]", " ", text[opens:end])]
        at = end
    return "".join([*shown, text[at:]]).split("\n")


def is_placeholder(purpose: str) -> bool:
    """Whether the purpose is still a placeholder: TBD, TODO, or the sentence from OpenSpec's archive."""
    lines = purpose.split("\n")
    fences = Fences(lines)
    prose = "\n".join(line for i, line in enumerate(lines) if not fences[i]).strip(SPACE)
    mark = _MARK.match(prose)
    if mark and not _goes_on(prose[mark.end() : mark.end() + 1]):
        shouted = mark[0].isupper()
        return shouted or _PUNCTUATION.match(prose, mark.end()) is not None or _is_generated(prose)
    return _is_generated(prose)


def _is_generated(prose: str) -> bool:
    begins = prose.find(_GENERATED[0])
    return begins >= 0 and prose.find(_GENERATED[1], begins) >= 0


def _goes_on(character: str) -> bool:
    return character == "_" or (character != "" and unicodedata.category(character)[0] in "LNM")


def is_brief(purpose: str) -> bool:
    """Whether `--strict` finds the purpose too short; counts as JavaScript does."""
    return len(purpose.encode("utf-16-le", "surrogatepass")) // 2 < SHORTEST


TITLE = "Archived Changes"
_OPERATIONS = frozenset(Operation)


def deeds_of(delta: Delta, change_id: str) -> tuple[Deed, ...]:
    """The history lines of a delta, in merge order."""
    renamed = [
        Deed(change_id, operation, name)
        for rename in delta.renamed
        for operation, name in ((Operation.RENAMED_FROM, rename.old), (Operation.RENAMED_TO, rename.new))
    ]
    return (
        *renamed,
        *(Deed(change_id, Operation.REMOVED, removal.name) for removal in delta.removed),
        *(Deed(change_id, Operation.MODIFIED, requirement.name) for requirement in delta.modified),
        *(Deed(change_id, Operation.ADDED, requirement.name) for requirement in delta.added),
    )


def deeds_in(lines: Sequence[str], fences: Fences) -> Iterator[Deed]:
    """The history lines in a file; other lines of the section are notes."""
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
    """The end of a spec with these lines added to its history; the rest is unchanged."""
    text = lines_of(tail)
    fences = Fences(text.bare)
    entries = "".join(f"- {deed.change_id} | {deed.operation} | {deed.requirement}{newline}" for deed in deeds)
    title = next((i for i, line in enumerate(text.bare) if not fences[i] and heading(line) == (2, TITLE)), None)
    if title is None:
        return ended(tail, newline) + f"## {TITLE}{newline}{newline}{entries}"
    end = title + 1
    while end < len(text.bare) and (fences[end] or not 1 <= boundary(text.bare[end]) <= 2):
        end += 1
    while not text.bare[end - 1].strip(SPACE):
        end -= 1
    before, after = text.between(0, end), text.between(end, len(text.bare))
    return (before if before.endswith(("\n", "\r")) else before + newline) + entries + after


def ended(text: str, newline: Newline) -> str:
    """The text with a blank line at its end, so that a heading can follow; adds only what is missing."""
    if not text:
        return text
    last = lines_of(text).whole[-1]
    if not last.endswith(("\n", "\r")):
        return text + newline + newline
    return text if not last.strip(SPACE) else text + newline
