"""What is put on record of an agent's turn: that it begins, and what the agent says of its progress. Pure."""

from __future__ import annotations

from loopwright.loop import commands as c
from loopwright.loop import events as e
from loopwright.loop.verdict import Accepted, Verdict


def of_a_turn(command: c.NoteProgress | c.BeginTurn) -> Verdict:
    """Always taken: neither moves anything."""
    match command:
        case c.NoteProgress(text=text, by=by):
            return Accepted((e.ProgressNoted(text=text, by=by),))
        case c.BeginTurn(turn=turn):
            return Accepted((e.TurnBegun(turn=turn),))
