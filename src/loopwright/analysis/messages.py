"""Reads a commit message: a feature, a fix or a revert, and of which commit. Pure; patterns are in `preregistered`.

Never reads files or other commits.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

import msgspec

from loopwright.analysis.preregistered import HEURISTICS, CatchingGate

# Limits, so that a hostile message takes no longer than a long message.
LONGEST_TITLE: Final = 300
LONGEST_MESSAGE: Final = 8000


class ChangeKind(StrEnum):
    """The kind of a change, by its message."""

    FEATURE = "feature"
    FIX = "fix"
    REVERT = "revert"
    RELAND = "reland"
    OTHER = "other"


class ReadMessage(msgspec.Struct, frozen=True, gc=False):
    """A parsed message. `names` are commits that it reverts or fixes; `undone` is the title that it reverts."""

    kind: ChangeKind
    title: str
    names: tuple[str, ...] = ()
    undone: str = ""
    hint: CatchingGate | None = None


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.MULTILINE)


_TYPED = _compiled(HEURISTICS.typed_title)
_FIX = _compiled(HEURISTICS.fix_title)
_FEATURE = _compiled(HEURISTICS.feature_title)
_SQUASH = _compiled(HEURISTICS.squash_title)
_REVERT = _compiled(HEURISTICS.revert_title)
_RELAND = _compiled(HEURISTICS.reland_title)
_REVERTED = _compiled(HEURISTICS.reverted_commit)
_FIXED = _compiled(HEURISTICS.fixed_commit)
_INTEGRATION = _compiled(HEURISTICS.integration_merge)
_BRANCH = _compiled(HEURISTICS.merged_branch)
_FIX_BRANCH = _compiled(HEURISTICS.fix_branch)
_OTHER_BRANCH = _compiled(HEURISTICS.other_branch)
_CI_WORDS = _compiled(HEURISTICS.ci_words)
_HIDDEN_WORDS = _compiled(HEURISTICS.hidden_words)
_TYPES: Final = (
    dict.fromkeys(HEURISTICS.feature_types, ChangeKind.FEATURE)
    | dict.fromkeys(HEURISTICS.fix_types, ChangeKind.FIX)
    | dict.fromkeys(HEURISTICS.revert_types, ChangeKind.REVERT)
    | dict.fromkeys(HEURISTICS.other_types, ChangeKind.OTHER)
)


def read_message(message: str, *, is_merge: bool = False) -> ReadMessage:
    """Parse a commit message."""
    title, _, body = message[:LONGEST_MESSAGE].strip().partition("\n")
    title = title[:LONGEST_TITLE].strip()
    kind = _merge_kind(title, body) if is_merge else _kind(title)
    reverted = _REVERTED.search(body)
    if reverted is not None and kind is not ChangeKind.RELAND:
        kind = ChangeKind.REVERT
    match kind:
        case ChangeKind.REVERT:
            undone = _REVERT.match(title)
            reason = "\n".join(line for line in body.splitlines() if not _REVERTED.search(line))
            return ReadMessage(
                kind,
                title,
                names=(reverted["id"].lower(),) if reverted else (),
                undone=undone["title"] if undone else "",
                hint=_hint(reason),
            )
        case ChangeKind.FIX:
            return ReadMessage(kind, title, names=_fixed(body), hint=_hint(title))
        case ChangeKind.FEATURE | ChangeKind.RELAND | ChangeKind.OTHER:
            # `Fixes: <commit>` is as clear as a title.
            names = _fixed(body)
            return ReadMessage(
                ChangeKind.FIX if names else kind, title, names=names, hint=_hint(title) if names else None
            )


def _kind(title: str) -> ChangeKind:
    if _RELAND.match(title):
        return ChangeKind.RELAND
    typed = _TYPED.match(title)
    known = _TYPES.get(typed["type"].lower()) if typed else None
    if known is not None:
        return known
    if _REVERT.match(title):
        return ChangeKind.REVERT
    if _FIX.search(title):
        return ChangeKind.FIX
    if _FEATURE.match(title) or _SQUASH.search(title):
        return ChangeKind.FEATURE
    return ChangeKind.OTHER


def _merge_kind(title: str, body: str) -> ChangeKind:
    """A merged side branch is a feature, unless its title, its request's title or its name tells otherwise."""
    if _INTEGRATION.match(title):
        return ChangeKind.OTHER
    branch = _BRANCH.match(title)
    if branch is None:
        return _kind(title)
    request = next((line.strip() for line in body.splitlines() if line.strip()), "")
    kind = _kind(request[:LONGEST_TITLE])
    typed = _TYPED.match(request)
    if kind is not ChangeKind.OTHER or (typed is not None and typed["type"].lower() in HEURISTICS.other_types):
        return kind
    name = branch["a"] or branch["b"] or branch["c"] or ""
    if _FIX_BRANCH.match(name):
        return ChangeKind.FIX
    return ChangeKind.OTHER if _OTHER_BRANCH.match(name) else ChangeKind.FEATURE


def _fixed(body: str) -> tuple[str, ...]:
    return tuple(match["id"].lower() for match in _FIXED.finditer(body))


def _hint(text: str) -> CatchingGate | None:
    if _CI_WORDS.search(text):
        return CatchingGate.CI
    return CatchingGate.REFLECTION if _HIDDEN_WORDS.search(text) else None
