"""Reads and writes recorded results: one immutable file each, published by a line in a hash-linked journal."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from loopwright.analysis.model import AnalysisResult
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
