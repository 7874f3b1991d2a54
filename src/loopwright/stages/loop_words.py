"""What people type into a loop stands in files that agents and other tools read: it is checked before it is written."""

from __future__ import annotations

from loopwright.errors import SecretLeak, WrongUsage
from loopwright.loop import events as e
from loopwright.loop.model import Loop
from loopwright.stages.context import Context, loops_of
from loopwright.stages.person import actor


def fit(context: Context, what: str, text: str) -> str:
    """The text as it may be kept; `SecretLeak` when a secret is in it, as in a plan."""
    try:
        data = text.encode()
    except UnicodeEncodeError as problem:
        raise WrongUsage(f"{what} is not UTF-8", hint="check the terminal's encoding; nothing was written") from problem
    return fit_bytes(context, what, data).decode("utf-8", "replace")


def fit_words(context: Context, what: str, text: str) -> str:
    """The same for what can't be left out."""
    if not text.strip():
        raise WrongUsage(f"{what} needs words", hint="say what is wanted; nothing was written")
    return fit(context, what, text)


def fit_bytes(context: Context, what: str, data: bytes) -> bytes:
    """The same for a file."""
    scanned = context.tools().redactor.scan(data, what, trusts_pragma=True)
    if scanned.must_stop:
        raise SecretLeak(
            f"a secret is in what would be kept: {scanned.findings[0].sentence()}",
            hint="take it out, or name a variable that holds it; nothing was written",
        )
    return scanned.clean.data


def answer_decision(
    context: Context, loop_id: str, decision_id: str, text: str, *, revision: int | None = None
) -> Loop:
    """Record the answer; the loop's hold is lifted when no decision is open any more."""
    said = fit(context, "the answer", text)
    with loops_of(context).changing(loop_id, revision=revision) as opened:
        return opened.apply(e.DecisionAnswered(decision_id=decision_id, answer=said, by=actor()), actor())
