"""The bytes of recorded results: one immutable file each, published by a line in a hash-linked journal."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from loopwright.analysis.model import Result
from loopwright.analysis.preregistered import Question
from loopwright.journal.model import Entry
from loopwright.journal.store import Journal
from loopwright.kernel import codec
from loopwright.kernel.digest import sha256
from loopwright.kernel.files import create_exclusively, shown
from loopwright.workspace.layout import Layout

RECORDED: Final = "analysis.recorded"


class Unreadable(msgspec.Struct, frozen=True):
    """A result that the journal names and that is not there as it was written."""

    why: str


class AnalysisStore:
    """All recorded results of a workspace."""

    def __init__(self, layout: Layout) -> None:
        self._folder = layout.analysis
        self.journal = Journal(layout.analysis_journal, layout.lock("analysis"))

    def record(self, result: Result) -> Path:
        """Write the result, then name it in the journal."""
        data = codec.to_json(result)
        digest = sha256(data)
        path = self._folder / f"{result.question}-{result.at.replace(':', '').replace('-', '')}-{digest[:12]}.json"
        # The name holds the digest: one that is there already has the same bytes.
        create_exclusively(path, data)
        verdict = type(result.verdict).__struct_config__.tag
        facts = {"question": str(result.question), "file": path.name, "sha256": digest, "verdict": str(verdict)}
        with self.journal.writing() as writer:
            writer.append(RECORDED, facts, result.at)
        return path

    def newest(self) -> dict[Question, Result | Unreadable]:
        """The last recorded result of each question."""
        last: dict[Question, Entry] = {}
        for entry in self.journal.entries():
            if entry.kind == RECORDED and entry.data.get("question") in tuple(Question):
                last[Question(entry.data["question"])] = entry
        return {question: self._load(entry) for question, entry in last.items()}

    def _load(self, entry: Entry) -> Result | Unreadable:
        path = self._folder / Path(entry.data.get("file", "")).name
        try:
            data = path.read_bytes()
        except OSError as problem:
            return Unreadable(f"its file {shown(path.name)} can't be read: {problem.strerror}")
        if sha256(data) != entry.data.get("sha256"):
            return Unreadable(f"its file {shown(path.name)} is not what was recorded")
        try:
            return codec.from_json(data, Result)
        except codec.Undecodable as problem:
            return Unreadable(f"its file {shown(path.name)} was written by another version: {problem}")
