"""What a failed step needs, by what its log says. The table is data; `loopwright explain needs` shows it."""

from __future__ import annotations

import msgspec


class NeedRule(msgspec.Struct, frozen=True):
    """Words in a log, and what they call for."""

    words: tuple[str, ...]
    needs: str
    reason: str


TABLE = (
    NeedRule(("not found", "no module", "import error"), "RESEARCH", "something that the step uses is missing"),
    NeedRule(("version", "incompatible"), "RESEARCH", "versions do not fit together"),
    NeedRule(("assert", "expected", "test failed"), "REPLAN", "the work does not do what was expected of it"),
)
OTHERWISE = NeedRule((), "RESEARCH", "the log does not say what is wrong")


def needs_of(log: str) -> NeedRule:
    """The first row of which a word is in the log, whatever its case."""
    text = log.casefold()
    for row in TABLE:
        if any(word in text for word in row.words):
            return row
    return OTHERWISE
