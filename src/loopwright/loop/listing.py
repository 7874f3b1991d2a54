"""`loopwright loop list` and `status`: a line for each loop.

Reads only the state files and imports little, so that a list of a thousand loops is fast.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from loopwright.kernel.files import read_regular_file
from loopwright.kernel.locks import is_held
from loopwright.workspace.layout import Layout

# The order in which a person wants to see them.
STATUSES = ("running", "paused", "failed", "created", "completed", "damaged")
_MOST_BYTES = 64 << 20
_DECISION = "decision_required_"


class _Hold(msgspec.Struct, frozen=True):
    holder: str = ""
    code: str = ""
    message: str = ""
    until: str | None = None


class _Own(msgspec.Struct, frozen=True):
    attempt: int = 1
    tags: list[str] = []
    priority: int = 0
    agent: str = ""
    holds: list[_Hold] = []
    workflow: str | None = None


class LoopLine(msgspec.Struct, frozen=True):
    """A line of the list, from the state file alone."""

    loop_id: str
    title: str = ""
    status: str = "damaged"
    current_iteration: int = 0
    max_iterations: int = 0
    updated_at: str = ""
    loopwright: _Own = _Own()


class Summary(msgspec.Struct, frozen=True):
    """A loop in the list, and whether a process drives it."""

    line: LoopLine
    has_worker: bool

    @property
    def is_abandoned(self) -> bool:
        """Whether the loop is running without a worker."""
        return self.line.status == "running" and not self.has_worker

    @property
    def open_decision(self) -> str | None:
        """The id of the first decision that waits for a person's answer."""
        codes = (hold.code for hold in self.line.loopwright.holds if hold.holder == "decision")
        return next((code.removeprefix(_DECISION) for code in codes), None)


def list_loops(layout: Layout) -> list[Summary]:
    """Every loop, the newest change first."""
    found = list(_summaries(layout))
    return sorted(found, key=lambda one: (one.line.updated_at, one.line.loop_id), reverse=True)


def _summaries(layout: Layout) -> Iterator[Summary]:
    decoder = msgspec.json.Decoder(LoopLine)
    for loop_id in layout.loop_ids():
        try:
            line = decoder.decode(read_regular_file(layout.loop(loop_id).state, most=_MOST_BYTES))
        except (OSError, ValueError):
            line = LoopLine(loop_id)
        if line.status not in STATUSES or line.loop_id != loop_id:
            line = LoopLine(loop_id)
        has_worker = line.status in ("running", "paused") and is_held(layout.loop_worker(loop_id))
        yield Summary(line, has_worker)


def way_on(one: Summary) -> str | None:
    """The next command for a person; None if none is needed."""
    loop_id = one.line.loop_id
    match one.line.status:
        case "paused" if (asked := one.open_decision) is not None:
            return f'loopwright loop answer {loop_id} {asked} "…"'
        case "paused":
            return f"loopwright loop resume {loop_id}"
        case "running" if one.is_abandoned:
            return f"loopwright loop resume {loop_id}"
        case "damaged":
            return f"loopwright loop check {loop_id} --fix"
        case "created":
            return f"loopwright loop start {loop_id}"
        case _:
            return None
