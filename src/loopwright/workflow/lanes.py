"""The lanes of an iteration of a build: which there are, and which word of each lets the change go on. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec

LEAN = ("execution", "verification", "evidence")
FULL = (*LEAN, "architect", "deslop", "regression")
APPROVE, DONE, DROPPED, SKIPPED, PASSED, FAILED = "approve", "done", "dropped", "skipped", "passed", "failed"
# What tidying up broke is dropped: the tree is then the one that was verified before, so nothing is lost by it.
_FINE = {"architect": (APPROVE,), "deslop": (DONE, DROPPED, SKIPPED), "regression": (PASSED,)}


class Opinion(msgspec.Struct, frozen=True, kw_only=True):
    """What an architect answers about what was built; any other word than these is no answer."""

    verdict: Literal["approve", "iterate"]
    notes: str = ""


def incomplete(lanes: Mapping[str, str], *, full: bool) -> Iterator[str]:
    """The lanes that are not through in this iteration."""
    return (lane for lane in (FULL if full else LEAN) if lane not in lanes)


def against(lanes: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The lanes that keep the change from going on, each with its word."""
    for lane, fine in _FINE.items():
        status = lanes.get(lane)
        # Where nothing was tidied up, nothing could break.
        skipped = lane == "regression" and status == SKIPPED and lanes.get("deslop") == SKIPPED
        if status is not None and status not in fine and not skipped:
            yield lane, status


def after_checks(
    *, passed: bool, same_work: bool, after_deslop: bool, can_drop: bool, was_dropped: bool
) -> tuple[tuple[tuple[str, str], ...], bool]:
    """Which lanes a run of the checks ends, with their words, and whether it begins an iteration.

    The checks after tidying up belong to the iteration that tidied up. Where they fail, and there is work from before
    to go back to, that is taken up again and checked once more; else the failure is the next iteration's to mend.
    """
    if after_deslop and passed:
        return (("deslop", DROPPED if was_dropped and not can_drop else DONE), ("regression", PASSED)), False
    if after_deslop and can_drop:
        return (("deslop", DROPPED), ("regression", FAILED)), False
    checked = (("verification", PASSED if passed else FAILED), ("evidence", "collected"))
    # What an architect said of this very tree still holds.
    return (checked, False) if same_work else ((("execution", "completed"), *checked), True)


def notes(lanes: Mapping[str, str]) -> bytes:
    """The page of an iteration: each lane with its word."""
    lines = [f"- {lane}: {status}" for lane, status in lanes.items()]
    return ("# Lanes of this iteration\n\n" + "\n".join(lines) + "\n").encode()
