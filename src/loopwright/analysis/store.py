"""Recorded results, and whether the closed loop may open: only if P1, P2 and P3 passed under the current registration.

A result is one immutable file, published by a line in a hash-linked journal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from loopwright.analysis.model import AnalysisResult, Killed, NotEnoughData, Passed
from loopwright.analysis.preregistered import Experiment
from loopwright.journal.store import Entry, Journal
from loopwright.kernel import codec
from loopwright.kernel.digest import sha256
from loopwright.kernel.files import create_exclusively, shown
from loopwright.workspace.layout import Layout

RECORDED: Final = "analysis.recorded"
PASSED: Final = "passed"


class UnreadableResult(msgspec.Struct, frozen=True):
    """A result that the journal names and whose file is missing or changed."""

    why: str


class Tries(msgspec.Struct, frozen=True):
    """How many results of a question were recorded before the newest, and how many of those did not pass."""

    before: int = 0
    not_passed: int = 0


class AnalysisStore:
    """All recorded results of a workspace."""

    def __init__(self, layout: Layout) -> None:
        self._folder = layout.analysis
        self.journal = Journal(layout.analysis_journal, layout.lock("analysis"))

    def record(self, result: AnalysisResult) -> Path:
        """Write the result, then name it in the journal."""
        data = codec.to_json(result)
        digest = sha256(data)
        path = self._folder / f"{result.question}-{result.at.replace(':', '').replace('-', '')}-{digest[:12]}.json"
        # The name contains the digest, so an existing file has the same bytes.
        create_exclusively(path, data)
        verdict = type(result.verdict).__struct_config__.tag
        facts = {"question": str(result.question), "file": path.name, "sha256": digest, "verdict": str(verdict)}
        with self.journal.writing() as writer:
            writer.append(RECORDED, facts, result.at)
        return path

    def newest(self) -> dict[Experiment, AnalysisResult | UnreadableResult]:
        """The last recorded result of each question."""
        return {question: self._load(entries[-1]) for question, entries in self._by_question().items()}

    def tries(self) -> dict[Experiment, Tries]:
        """The attempts before the newest result of each question."""
        return {
            question: Tries(len(before), sum(entry.data.get("verdict") != PASSED for entry in before))
            for question, (*before, _) in self._by_question().items()
        }

    def _by_question(self) -> dict[Experiment, list[Entry]]:
        by_question: dict[Experiment, list[Entry]] = {}
        for entry in self.journal.entries():
            if entry.kind == RECORDED and entry.data.get("question") in tuple(Experiment):
                by_question.setdefault(Experiment(entry.data["question"]), []).append(entry)
        return by_question

    def _load(self, entry: Entry) -> AnalysisResult | UnreadableResult:
        path = self._folder / Path(entry.data.get("file", "")).name
        try:
            data = path.read_bytes()
        except OSError as problem:
            return UnreadableResult(f"its file {shown(path.name)} can't be read: {problem.strerror}")
        if sha256(data) != entry.data.get("sha256"):
            return UnreadableResult(f"its file {shown(path.name)} was changed after it was recorded")
        try:
            return codec.from_json(data, AnalysisResult)
        except codec.Undecodable as problem:
            return UnreadableResult(f"its file {shown(path.name)} was written by another version: {problem}")


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
