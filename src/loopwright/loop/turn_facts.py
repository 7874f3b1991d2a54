"""What is put on record of an agent's turn: its start, its cost, its takeovers, its notes of progress. Pure."""

from __future__ import annotations

from loopwright.loop import commands as c
from loopwright.loop import events as e
from loopwright.loop.model import Loop
from loopwright.loop.verdict import Accepted, Verdict


def of_a_turn(command: c.NoteProgress | c.BeginTurn | c.NoteTakeover) -> Verdict:
    """Always taken: none of them moves anything."""
    match command:
        case c.NoteProgress(text=text, by=by):
            return Accepted((e.ProgressNoted(text=text, by=by),))
        case c.BeginTurn(turn=turn):
            return Accepted((e.TurnBegun(turn=turn),))
        case c.NoteTakeover(takeover=takeover):
            return Accepted((e.AgentChanged(takeover=takeover),))


def charged(loop: Loop, command: c.Count) -> Verdict:
    """A cost. An agent's turn is charged while it is open, so once, even if two workers count it."""
    is_open = loop.open_turn is not None and loop.open_turn.name == command.turn
    # Only agents have a role. A shell's turn is never open.
    if command.turn is not None and command.role is not None and not is_open:
        return Accepted(())
    event = e.CostCounted(
        spent=command.spent, task_id=command.task_id, turn=command.turn, turn_of=command.turn_of, role=command.role
    )
    return Accepted((event,))
