"""What is put on record of an agent's turn: that it begins, who takes it over, what is said of progress. Pure."""

from __future__ import annotations

from loopwright.loop import commands as c
from loopwright.loop import events as e
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
