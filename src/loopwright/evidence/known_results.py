"""Finds results that an earlier run has recorded already. The journal of runs is the index: nothing else is stored.

A run counts only while its evidence verifies. A removed run does not count.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from loopwright.evidence.model import Evidence
from loopwright.evidence.store import COLLECTED, RECORDED, RESULT_KEY, RunStore
from loopwright.evidence.verify import Verifier
from loopwright.kernel.clock import stamp
from loopwright.kernel.digest import digest_of

# What a key can't see (a network, a date, a system library) may change from one day to the next.
_LONGEST = timedelta(days=1)
# A run that failed in another way than by a failed command says nothing about the tree.
_RESULTS = (None, "STEP_FAILED")
# Runs that show which tests are flaky, after the first run.
REPEATS = 2


def key_on_tree(depends_on: str, commit: str | None, tree: str, *, is_exact: bool = True) -> str:
    """What results depend on, with the tree. Tests may read the commit.

    A copy of the project is not exact: it also holds ignored files. Its results count for other copies only.
    """
    return digest_of([depends_on, commit, tree, is_exact])


def repeated_key(depends_on: str, number: int) -> str:
    """What the results of one more run of the same commands depend on: that run counts for itself."""
    return digest_of([depends_on, "again", number])


def recall(store: RunStore, keys: tuple[str, ...], now: datetime, step_ids: tuple[str, ...]) -> Evidence | None:
    """The newest sound evidence of a run with one of these keys, with these names for its steps; None without one."""
    entries = store.journal.entries()
    gone = {entry.data["run_id"] for entry in entries if entry.kind == COLLECTED}
    oldest = stamp(now - _LONGEST)
    found = [
        entry.data["run_id"]
        for entry in entries
        if entry.kind == RECORDED and entry.data.get(RESULT_KEY) in keys and entry.at >= oldest
    ]
    for run_id in reversed([run_id for run_id in found if run_id not in gone]):
        # Without a repository the trees are not composed again: the key has the tree.
        verdict = Verifier(store, None, Path(), entries).verify(run_id)
        evidence = store.load(run_id)[0] if not verdict.mismatches else None
        if evidence is not None and evidence.result_key in keys and evidence.error_code in _RESULTS:
            renamed = _renamed(evidence, step_ids)
            if renamed is not None:
                return renamed
    return None


def _renamed(evidence: Evidence, step_ids: tuple[str, ...]) -> Evidence | None:
    """The evidence with these names of its steps, whose commands are in the key; None if a step did not end."""
    steps = evidence.steps_of_plan
    if len(steps) != len(step_ids) or not all(step.came_to_its_end for step in steps):
        return None
    renamed = [msgspec.structs.replace(step, id=name) for step, name in zip(steps, step_ids, strict=True)]
    return msgspec.structs.replace(evidence, steps=renamed)
