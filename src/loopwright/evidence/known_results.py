"""Finds results that an earlier run has recorded already. The journal of runs is the index: nothing else is stored.

A run counts only while its evidence verifies. A removed run does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
# Separates the parts of a key. The first part is the same for all runs of the same commands on the same tree.
_PART = ":"
_BESIDE = "side-by-side"


def key_on_tree(depends_on: str, commit: str | None, tree: str, *, is_exact: bool = True) -> str:
    """What results depend on, with the tree. Tests may read the commit.

    A copy of the project is not exact: it also holds ignored files. Its results count for other copies only.
    """
    shared, *parts = depends_on.split(_PART)
    return _PART.join((digest_of([shared, commit, tree, is_exact]), *parts))


def repeated_key(depends_on: str, number: int, only: tuple[str, ...] = ()) -> str:
    """What the results of one more run of the same commands depend on: that run counts for itself.

    `only` are the test files to which the run is limited; empty: all.
    """
    return f"{depends_on}{_PART}{digest_of(['again', number, *only])}"


def beside_key(depends_on: str) -> str:
    """What the results of a run depend on that runs at the same time as a run on the work, which may disturb it."""
    return f"{depends_on}{_PART}{_BESIDE}"


def ran_beside(key: str) -> bool:
    """Whether another run may have disturbed the run with this key: then its failures do not make a test flaky."""
    return key.rpartition(_PART)[2] == _BESIDE


def recall(store: RunStore, keys: tuple[str, ...], now: datetime, step_ids: tuple[str, ...]) -> Evidence | None:
    """The newest sound evidence of a run with one of these keys, with these names for its steps; None without one.

    A run that another run may have disturbed counts if it passed.
    """
    beside = frozenset(map(beside_key, keys)).difference(keys)
    wanted = beside.union(keys)
    for evidence in _sound_runs(store, lambda key: key in wanted, now, step_ids):
        if evidence.result_key not in beside or evidence.error_code is None:
            return evidence
    return None


def known_runs(
    store: RunStore, keys: tuple[str, ...], now: datetime, step_ids: tuple[str, ...]
) -> tuple[Evidence, ...]:
    """All sound evidence of runs with one of these keys, and of more runs of the same commands, newest first."""
    return tuple(_sound_runs(store, lambda key: key.partition(_PART)[0] in keys, now, step_ids))


def _sound_runs(
    store: RunStore, is_wanted: Callable[[str], bool], now: datetime, step_ids: tuple[str, ...]
) -> Iterator[Evidence]:
    entries = store.journal.entries()
    gone = {entry.data["run_id"] for entry in entries if entry.kind == COLLECTED}
    oldest = stamp(now - _LONGEST)
    found = [
        entry.data
        for entry in entries
        if entry.kind == RECORDED and is_wanted(entry.data.get(RESULT_KEY, "")) and entry.at >= oldest
    ]
    # Without a repository the trees are not composed again: the key has the tree.
    verifier = Verifier(store, None, Path(), entries)
    for facts in reversed([facts for facts in found if facts["run_id"] not in gone]):
        verdict = verifier.verify(facts["run_id"])
        evidence = store.load(facts["run_id"])[0] if not verdict.mismatches else None
        if evidence is not None and evidence.result_key == facts[RESULT_KEY] and evidence.error_code in _RESULTS:
            renamed = _renamed(evidence, step_ids)
            if renamed is not None:
                yield renamed


def _renamed(evidence: Evidence, step_ids: tuple[str, ...]) -> Evidence | None:
    """The evidence with these names of its steps, whose commands are in the key; None if a step did not end."""
    steps = evidence.steps_of_plan
    if len(steps) != len(step_ids) or not all(step.came_to_its_end for step in steps):
        return None
    renamed = [msgspec.structs.replace(step, id=name) for step, name in zip(steps, step_ids, strict=True)]
    return msgspec.structs.replace(evidence, steps=renamed)
