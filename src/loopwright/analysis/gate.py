"""Whether the closed loop may open: only if P1, P2 and P3 are recorded and passed under the current registration."""

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
    """Why one question keeps the gate closed, and the next command."""

    question: Experiment
    why: str
    next: str


class Open(msgspec.Struct, frozen=True):
    """All three passed."""

    sentences: tuple[str, ...]


class Closed(msgspec.Struct, frozen=True):
    """At least one question did not pass."""

    reasons: tuple[ClosedReason, ...]


def decide(
    newest: Mapping[Experiment, AnalysisResult | UnreadableResult], registration: str, tries: Mapping[Experiment, Tries]
) -> Open | Closed:
    """Open, or all reasons why not. Each result is listed with its inputs and the earlier attempts."""
    reasons = [
        ClosedReason(question, *refusal)
        for question in Experiment
        if (refusal := _refusal(question, newest.get(question), registration, tries)) is not None
    ]
    if reasons:
        return Closed(tuple(reasons))
    results = [result for result in newest.values() if isinstance(result, AnalysisResult)]
    ordered = sorted(results, key=lambda result: result.question)
    return Open(tuple(f"{part.question}: {part.verdict.sentence} ({_basis(part, tries)})" for part in ordered))


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
        return f"the newest result is not valid: {result.why}", again
    if result.preregistration != registration:
        return f"the result of {result.at} used other pre-registered numbers or heuristics", again
    match result.verdict:
        case Passed():
            return None
        case NotEnoughData(sentence):
            return f"{sentence} ({_basis(result, tries)})", f"{again} (when there is more data)"
        case Killed(sentence):
            return f"killed: {sentence} ({_basis(result, tries)})", f"{again} (with other data; the numbers stay)"


def _basis(result: AnalysisResult, tries: Mapping[Experiment, Tries]) -> str:
    """The time, inputs and window of a result, and earlier attempts, so that repeated attempts are visible."""
    inputs = ", ".join(f"{part.kind} {_short(part.name)} sha256 {part.sha256[:12]}" for part in result.inputs)
    window = "".join(f", {name} {value}" for name, value in result.parameters.items())
    earlier = tries.get(result.question, Tries())
    attempts = f"{earlier.before} earlier {'result' if earlier.before == 1 else 'results'} of {result.question}"
    failed = f", {earlier.not_passed} of them not passed" if earlier.before else ""
    return f"{result.at}; from {inputs or 'nothing'}{window}; {attempts}{failed}"


def _short(name: str) -> str:
    """A commit by its first digits; other names unchanged."""
    return " ".join(word[:12] if _COMMIT.fullmatch(word) else word for word in name.split(" ")) or "(nothing)"
