"""Every reason why a workflow can't go on, by its code: one sentence for a person, and what to type."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Blocker(msgspec.Struct, frozen=True):
    """A typed reason; `next` is the command that moves on, where there is one."""

    code: str
    message: str
    next: str = ""


class _Row(msgspec.Struct, frozen=True):
    message: str
    next: str


# `{slug}` is the workflow's; the others are named by whoever blocks. A code that ends with `_` gets a suffix.
_CLARIFY: Mapping[str, _Row] = {
    "unresolved_ambiguity": _Row("{count} questions are open: {items}", 'loopwright answer {slug} {first} "…"'),
    "clarify_current_round_required": _Row("no round of clarifying was held yet", "loopwright clarify {slug}"),
    "clarify_max_rounds_exceeded": _Row(
        "{rounds} rounds were held, and {most} are the most", "loopwright clarify {slug} --profile deep"
    ),
    "clarify_ambiguity_score_above_threshold": _Row(
        "the ambiguity score is {score}, above {threshold}: {why}", "loopwright clarify {slug}"
    ),
    "clarify_non_goals_unresolved": _Row(
        "the section Non-Goals says nothing yet", "write it into {spec}, or loopwright clarify {slug}"
    ),
    "clarify_decision_boundaries_unresolved": _Row(
        "the section Decision Boundaries says nothing yet", "write it into {spec}, or loopwright clarify {slug}"
    ),
    "clarify_pressure_pass_incomplete": _Row(
        "no earlier answer was pressed on by a later question", "loopwright clarify {slug}"
    ),
    "spec_": _Row("{spec} can't be read: {problem}", "correct it; an older version is in {objects}"),
}
_APPROVALS: Mapping[str, _Row] = {
    "approval_void_": _Row(
        "what was approved for {transition} changed afterwards: {changed}",
        "loopwright approve {slug} --from {origin} --to {target}",
    ),
    "approval_missing_": _Row(
        "nobody approved {transition} yet", "loopwright approve {slug} --from {origin} --to {target}"
    ),
    "approval_rejected_": _Row(
        "{by} said no to {transition}: {reason}", "loopwright approve {slug} --from {origin} --to {target}"
    ),
}
TABLE: Mapping[str, _Row] = {**_CLARIFY, **_APPROVALS}


def blocker(code: str, suffix: str = "", /, **facts: object) -> Blocker:
    """The blocker of this code, with its sentence filled in."""
    row = TABLE[code]
    return Blocker(f"{code}{suffix}", row.message.format(**facts), row.next.format(**facts))
