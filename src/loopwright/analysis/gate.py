"""Whether the closed loop may open: only on recorded, passing P1, P2 and P3 under the current registration. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from loopwright.analysis.model import Killed, NotEnoughData, Passed, Result
from loopwright.analysis.preregistered import Question
from loopwright.analysis.store import Unreadable

COMMANDS: Final = {
    Question.CALIBRATION: "loopwright analyze calibration",
    Question.GIT_HISTORY: "loopwright analyze git-history",
    Question.BOARD_HISTORY: "loopwright analyze board-history",
}


class Reason(msgspec.Struct, frozen=True):
    """Why one question keeps the gate closed, and what moves on."""

    question: Question
    why: str
    next: str


class Open(msgspec.Struct, frozen=True):
    """All three passed."""

    sentences: tuple[str, ...]


class Closed(msgspec.Struct, frozen=True):
    """At least one did not."""

    reasons: tuple[Reason, ...]


def decide(newest: Mapping[Question, Result | Unreadable], registration: str) -> Open | Closed:
    """Open, or every reason why not."""
    reasons = [
        Reason(question, *refusal)
        for question in Question
        if (refusal := _refusal(question, newest.get(question), registration)) is not None
    ]
    if reasons:
        return Closed(tuple(reasons))
    results = [result for result in newest.values() if isinstance(result, Result)]
    ordered = sorted(results, key=lambda result: result.question)
    return Open(tuple(f"{result.question}: {result.verdict.sentence} ({result.at})" for result in ordered))


def _refusal(question: Question, result: Result | Unreadable | None, registration: str) -> tuple[str, str] | None:
    again = COMMANDS[question]
    if result is None:
        return "no result is recorded", again
    if isinstance(result, Unreadable):
        return f"the newest result can't be trusted: {result.why}", again
    if result.preregistration != registration:
        return f"the result of {result.at} was made under other pre-registered numbers or heuristics", again
    match result.verdict:
        case Passed():
            return None
        case NotEnoughData(sentence):
            return sentence, f"{again} (when there is more data)"
        case Killed(sentence):
            return f"killed: {sentence}", f"{again} (on other data; the numbers stay)"
