"""Checks the texts that people type into a loop: agents and other tools read the files that contain them."""

from __future__ import annotations

from loopwright.errors import SecretLeak, WrongUsage
from loopwright.loop import events as e
from loopwright.loop.model import Loop
from loopwright.stages.context import Context, loops_of
from loopwright.stages.person import actor


def fit(context: Context, what: str, text: str) -> str:
    """The text as it may be stored; `SecretLeak` if it contains a secret."""
    try:
        data = text.encode()
    except UnicodeEncodeError as problem:
        raise WrongUsage(
            f"{what} is not UTF-8", hint="check the encoding of the terminal; nothing was written"
        ) from problem
    return fit_bytes(context, what, data).decode("utf-8", "replace")


def fit_words(context: Context, what: str, text: str) -> str:
    """The same for a text that must not be empty."""
    if not text.strip():
        raise WrongUsage(f"{what} is empty", hint="write a text; nothing was stored")
    return fit(context, what, text)


def fit_bytes(context: Context, what: str, data: bytes) -> bytes:
    """The same for a file."""
    scanned = context.tools().redactor.scan(data, what, trusts_pragma=True)
    if scanned.must_stop:
        raise SecretLeak(
            f"the text contains a secret: {scanned.findings[0].sentence()}",
            hint="remove the secret, or refer to a variable that contains it; nothing was stored",
        )
    return scanned.clean.data


def answer_decision(
    context: Context, loop_id: str, decision_id: str, text: str, *, revision: int | None = None
) -> Loop:
    """Record the answer; the hold of the loop is lifted when no question is open."""
    answer = fit(context, "the answer", text)
    with loops_of(context).changing(loop_id, revision=revision) as opened:
        return opened.apply(e.DecisionAnswered(decision_id=decision_id, answer=answer, by=actor()), actor())
