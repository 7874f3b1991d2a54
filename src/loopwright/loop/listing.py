"""`loopwright loop list` and `status`: a line for each loop.

Reads only the state files and imports little, so that a list of a thousand loops is fast.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from loopwright.kernel.files import read_regular_file
from loopwright.kernel.locks import is_held
from loopwright.wording.choices import Choice
from loopwright.workspace.layout import Layout

# The order in which a person wants to see them.
STATUSES = ("running", "paused", "failed", "created", "completed", "damaged")
_MOST_BYTES = 64 << 20


class _Hold(msgspec.Struct, frozen=True):
    holder: str = ""
    code: str = ""
    message: str = ""
    until: str | None = None


class _Proof(msgspec.Struct, frozen=True):
    grade: str = ""
    reason: str = ""


class _Own(msgspec.Struct, frozen=True):
    attempt: int = 1
    tags: list[str] = []
    priority: int = 0
    agent: str = ""
    holds: list[_Hold] = []
    workflow: str | None = None
    # Who accepted work that nothing proves, and why.
    accepted_by: str = ""
    forced: str = ""
    # How well each task is proven: proven, changed or unproven.
    proofs: dict[str, _Proof] = {}
    # What a person can do about work that nothing proves.
    choices: list[Choice] = []


class LoopLine(msgspec.Struct, frozen=True):
    """A line of the list, from the state file alone."""

    loop_id: str
    title: str = ""
    status: str = "damaged"
    current_iteration: int = 0
    max_iterations: int = 0
    updated_at: str = ""
    completed_at: str = ""
    loopwright: _Own = _Own()

    @property
    def is_accepted(self) -> bool:
        """Whether a person accepted work that nothing proves."""
        return self.status == "completed" and bool(self.loopwright.accepted_by)


class _Decision(msgspec.Struct, frozen=True):
    id: str
    answer: str | None = None


class _Decisions(msgspec.Struct, frozen=True):
    decisions: list[_Decision] = []


class _Asked(msgspec.Struct, frozen=True):
    """The questions in a state file. They are no part of the line, which programs read."""

    loopwright: _Decisions = _Decisions()


class Summary(msgspec.Struct, frozen=True):
    """A loop in the list, and whether a process drives it."""

    line: LoopLine
    has_worker: bool
    # The id of the first question that waits for a person's answer.
    open_decision: str | None = None

    @property
    def is_abandoned(self) -> bool:
        """Whether the loop is running without a worker."""
        return self.line.status == "running" and not self.has_worker


def list_loops(layout: Layout) -> list[Summary]:
    """Every loop, the newest change first."""
    return sorted(_summaries(layout), key=lambda loop: (loop.line.updated_at, loop.line.loop_id), reverse=True)


def _summaries(layout: Layout) -> Iterator[Summary]:
    decoder = msgspec.json.Decoder(LoopLine)
    for loop_id in layout.loop_ids():
        open_decision = None
        try:
            data = read_regular_file(layout.loop(loop_id).state, most=_MOST_BYTES)
            line = decoder.decode(data)
            if any(hold.holder == "decision" for hold in line.loopwright.holds):
                asked = msgspec.json.decode(data, type=_Asked).loopwright.decisions
                open_decision = next((decision.id for decision in asked if decision.answer is None), None)
        except (OSError, ValueError):
            line = LoopLine(loop_id)
        if line.status not in STATUSES or line.loop_id != loop_id:
            line = LoopLine(loop_id)
        has_worker = line.status in ("running", "paused") and is_held(layout.loop_worker(loop_id))
        yield Summary(line, has_worker, open_decision)


def way_on(loop: Summary) -> str | None:
    """The next command for a person; None if none is needed."""
    loop_id = loop.line.loop_id
    match loop.line.status:
        case "paused" if loop.open_decision is not None:
            return f'loopwright loop answer {loop_id} {loop.open_decision} "…"'
        case "paused" if loop.line.loopwright.choices:
            return loop.line.loopwright.choices[0].command
        case "paused" if any(hold.holder == "proof" for hold in loop.line.loopwright.holds):
            return f"loopwright loop show {loop_id}"  # an older version wrote the file
        case "paused" if loop.line.loopwright.workflow is not None and not loop.line.loopwright.holds:
            return f"loopwright status {loop.line.loopwright.workflow}"  # its build decides about its work
        case "paused":
            return f"loopwright loop resume {loop_id}"
        case "running" if loop.is_abandoned:
            return f"loopwright loop resume {loop_id}"
        case "damaged":
            return f"loopwright loop check {loop_id} --fix"
        case "created":
            return f"loopwright loop start {loop_id}"
        case _:
            return None


def ways_on(loop: Summary) -> list[Choice]:
    """The commands among which a person chooses: the first is the next command. Empty if none is needed."""
    command = way_on(loop)
    choices = loop.line.loopwright.choices
    if command is None:
        return []
    return choices if choices and command == choices[0].command else [Choice(command)]
