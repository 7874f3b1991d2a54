"""Finds all runs on which the verdict of one validation rests."""

from __future__ import annotations

from collections.abc import Iterable

from loopwright.evidence.store import RECORDED, STARTED, RunStore


class JudgingRuns:
    """The runs that the journal records for a workflow from now on, and earlier runs that count again."""

    def __init__(self, store: RunStore, slug: str) -> None:
        self._store = store
        self._slug = slug
        self._begin = len(store.journal.entries())
        self._earlier: list[str] = []

    def count_again(self, runs: tuple[str, ...]) -> None:
        """Add runs that may be older than this validation."""
        self._earlier += runs

    def ids(self, others: Iterable[str] = ()) -> tuple[str, ...]:
        """All of them, and others that count, in order."""
        entries = self._store.journal.entries()[self._begin :]
        ours = {
            entry.data["run_id"]
            for entry in entries
            if entry.kind == STARTED and entry.data.get("workflow") == self._slug
        }
        recorded = (entry.data["run_id"] for entry in entries if entry.kind == RECORDED)
        return tuple(dict.fromkeys((*self._earlier, *others, *(run for run in recorded if run in ours))))
