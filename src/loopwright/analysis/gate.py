"""Whether the closed loop may open: only on recorded, passing P1, P2 and P3 under the current registration. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import msgspec

from loopwright.analysis.model import AnalysisResult, Killed, NotEnoughData, Passed
from loopwright.analysis.preregistered import Experiment
from loopwright.analysis.store import Tries, UnreadableResult

COMMANDS: Final = {
    Experiment.CALIBRATION: "loopwright analyze calibration",
    Experiment.GIT_HISTORY: "loopwright analyze git-history",
    Experiment.BOARD_HISTORY: "loopwright analyze board-history",
}
_COMMIT: Final = re.compile(r"[0-9a-f]{40,64}")


class ClosedReason(msgspec.Struct, frozen=True):
    """Why one question keeps the gate closed, and what moves on."""

    question: Experiment
    why: str
    next: str


class Open(msgspec.Struct, frozen=True):
    """All three passed."""

    sentences: tuple[str, ...]


class Closed(msgspec.Struct, frozen=True):
    """At least one did not."""

    reasons: tuple[ClosedReason, ...]


def decide(
    newest: Mapping[Experiment, AnalysisResult | UnreadableResult], registration: str, tries: Mapping[Experiment, Tries]
) -> Open | Closed:
    """Open, or every reason why not; each counted result with what it was made from and what was tried before."""
    reasons = [
        ClosedReason(question, *refusal)
        for question in Experiment
        if (refusal := _refusal(question, newest.get(question), registration, tries)) is not None
    ]
    if reasons:
        return Closed(tuple(reasons))
    results = [result for result in newest.values() if isinstance(result, AnalysisResult)]
    ordered = sorted(results, key=lambda result: result.question)
    return Open(tuple(f"{one.question}: {one.verdict.sentence} ({_basis(one, tries)})" for one in ordered))


def _refusal(
    question: Experiment,
    result: AnalysisResult | UnreadableResult | None,
    registration: str,
    tries: Mapping[Experiment, Tries],
) -> tuple[str, str] | None:
    again = COMMANDS[question]
    if result is None:
        return "no result is recorded", again
    if isinstance(result, UnreadableResult):
        return f"the newest result can't be trusted: {result.why}", again
    if result.preregistration != registration:
        return f"the result of {result.at} was made under other pre-registered numbers or heuristics", again
    match result.verdict:
        case Passed():
            return None
        case NotEnoughData(sentence):
            return f"{sentence} ({_basis(result, tries)})", f"{again} (when there is more data)"
        case Killed(sentence):
            return f"killed: {sentence} ({_basis(result, tries)})", f"{again} (on other data; the numbers stay)"


def _basis(result: AnalysisResult, tries: Mapping[Experiment, Tries]) -> str:
    """When, from what, over which window, after how many others: whoever tries until one passes is seen."""
    inputs = ", ".join(f"{one.kind} {_short(one.name)} sha256 {one.sha256[:12]}" for one in result.inputs) or "nothing"
    window = "".join(f", {name} {value}" for name, value in result.parameters.items())
    earlier = tries.get(result.question, Tries())
    before = f"{earlier.before} earlier results of {result.question}"
    failed = f", {earlier.not_passed} of them not passed" if earlier.before else ""
    return f"{result.at}; of {inputs}{window}; {before}{failed}"


def _short(name: str) -> str:
    """A commit by its first digits; other names as they are."""
    return " ".join(word[:12] if _COMMIT.fullmatch(word) else word for word in name.split(" ")) or "(nothing)"
