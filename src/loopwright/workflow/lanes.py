"""The lanes of a build iteration, and the result of each lane that lets the change continue. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec

LEAN = ("execution", "verification", "evidence")
FULL = (*LEAN, "architect", "deslop", "regression")
APPROVE, DONE, DROPPED, SKIPPED, PASSED, FAILED = "approve", "done", "dropped", "skipped", "passed", "failed"
# If tidying up breaks something, its changes are dropped: the tree is again the one that was verified before.
_FINE = {"architect": (APPROVE,), "deslop": (DONE, DROPPED, SKIPPED), "regression": (PASSED,)}


class Opinion(msgspec.Struct, frozen=True, kw_only=True):
    """An architect's answer about the build; any other verdict is invalid."""

    verdict: Literal["approve", "iterate"]
    notes: str = ""


def incomplete(lanes: Mapping[str, str], *, full: bool) -> Iterator[str]:
    """The lanes that have not ended in this iteration."""
    return (lane for lane in (FULL if full else LEAN) if lane not in lanes)


def against(lanes: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The lanes that block the change, each with its result."""
    for lane, fine in _FINE.items():
        status = lanes.get(lane)
        # Without tidying up there is no regression to look for.
        skipped = lane == "regression" and status == SKIPPED and lanes.get("deslop") == SKIPPED
        if status is not None and status not in fine and not skipped:
            yield lane, status


def after_checks(
    *, passed: bool, same_work: bool, after_deslop: bool, can_drop: bool, was_dropped: bool
) -> tuple[tuple[tuple[str, str], ...], bool]:
    """The lanes that a run of the checks ends, with their results, and whether the run starts an iteration.

    The checks after tidying up belong to the iteration that tidied up. If they fail and earlier work exists, the loop
    returns to that work and checks it again. Otherwise the next iteration must fix the failure.
    """
    if after_deslop and passed:
        return (("deslop", DROPPED if was_dropped and not can_drop else DONE), ("regression", PASSED)), False
    if after_deslop and can_drop:
        return (("deslop", DROPPED), ("regression", FAILED)), False
    checked = (("verification", PASSED if passed else FAILED), ("evidence", "collected"))
    # An architect's verdict on this exact tree is still valid.
    return (checked, False) if same_work else ((("execution", "completed"), *checked), True)


def notes(lanes: Mapping[str, str]) -> bytes:
    """The page of an iteration: each lane with its result."""
    lines = [f"- {lane}: {status}" for lane, status in lanes.items()]
    return ("# Lanes of this iteration\n\n" + "\n".join(lines) + "\n").encode()
