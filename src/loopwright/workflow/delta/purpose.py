"""The `## Purpose` of a delta and of a living spec, and what OpenSpec thinks of it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from loopwright.workflow.delta.grammar import SPACE, Fences, boundary, heading

SHORTEST = 50
_GENERATED = ("TBD - created by archiving change ", ". Update Purpose after archive.")
_MARK = re.compile(r"(?:TBD|TODO)", re.IGNORECASE | re.ASCII)
_PUNCTUATION = re.compile("[ \t]*(?:\\Z|\n|[:\\-\u2013\u2014.,;()\\[\\]{}])")
_COMMENT_END = re.compile(r"--!?>")


def purpose_in(lines: Sequence[str], *, masked: bool) -> str:
    """The body of `## Purpose`. In a delta (`masked`) one that stands in a comment, or is only a sample, is none."""
    seen = _without_comments(lines) if masked else list(lines)
    fences = Fences(seen)
    titles = (i for i, line in enumerate(seen) if not fences[i] and _is_purpose(line))
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


def _is_purpose(line: str) -> bool:
    found = heading(line)
    return found is not None and found[0] == 2 and found[1].lower() == "purpose"


def _without_comments(lines: Sequence[str]) -> list[str]:
    """The lines with every comment blanked out; one that is never closed goes to the end."""
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
    """Whether nobody wrote this purpose yet: TBD, TODO, or the sentence that OpenSpec's archive puts there."""
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
    """Whether `--strict` finds it too short; it counts as JavaScript does."""
    return len(purpose.encode("utf-16-le", "surrogatepass")) // 2 < SHORTEST
