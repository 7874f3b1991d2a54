"""A run's page for people, in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from loopwright.evidence.model import IsolationRecord, ReplanTurn, StepRecord

_MOST_FILES = 50


def summary_of(
    run_id: str,
    goal: str,
    steps: Sequence[StepRecord],
    isolation: IsolationRecord | None,
    changed: Sequence[str],
    notes: Iterable[str],
) -> str:
    """What ran, what it showed and what it changed."""
    lines = [
        f"# {run_id}",
        "",
        goal or "(no goal given)",
        "",
        "| step | outcome | seconds | checks |",
        "|---|---|---|---|",
    ]
    for step in steps:
        verified = sum(check.outcome == "passed" for check in step.checks)
        declared = sum(check.outcome == "declared" for check in step.checks)
        checks = f"{verified} verified" + (f", {declared} only declared" if declared else "")
        lines.append(f"| {step.id} | {step.outcome} | {step.duration_s:.2f} | {checks} |")
    lines += ["", f"Changed files: {len(changed)}", ""]
    lines += [f"- {path}" for path in changed[:_MOST_FILES]]
    if len(changed) > _MOST_FILES:
        lines.append(f"- … and {len(changed) - _MOST_FILES} more")
    if isolation is not None:
        lines += [
            "",
            f"Isolation: {isolation.used} (asked for: {isolation.requested}); network {isolation.network}.",
        ]
    lines += [f"Note: {note}" for note in notes]
    lines += ["", f"Check it: `loopwright verify {run_id}`. Repeat it: `loopwright rerun {run_id}`.", ""]
    return "\n".join(lines)


def in_words(turn: ReplanTurn) -> str:
    """Who was asked for a new plan, what came of it and what it cost."""
    usd = "an untold sum" if turn.usd is None else f"{turn.usd:.4f} USD"
    tokens = "untold" if turn.tokens is None else f"{turn.tokens:,}"
    said = "gave a plan" if turn.failure is None else f"gave none ({turn.failure})"
    cost = f"{usd}, {tokens} tokens, {turn.worked_s:.1f} s"
    return f"asked for a new plan ({turn.attempt}), {turn.agent} {said}: {cost}; turns/{turn.turn}"
