"""What one turn of an agent cost. Pure. Loops, workflows and runs each book this record in their own form."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from loopwright.agents.port import Answer, Usage

_N = TypeVar("_N", int, float)


class TurnCost(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of a turn. None means that the agent did not report it."""

    # The folder of the turn's record.
    turn: str
    agent: str
    role: str
    usd: float | None = None
    tokens: int | None = None
    # How long the agent's programs worked; a pause is not work.
    worked_s: float = 0.0
    # Whether the dollars were computed from tokens and a price list.
    is_computed: bool = False
    # Whether the process that asked died during the turn.
    is_cut_off: bool = False

    def with_usage(self, used: Usage, answer: Answer | None) -> TurnCost:
        """The same with what was reported at the end and during the turn: the larger of both, as either may be partial.

        A sum that the program reports for the whole turn wins over what was computed during the turn.
        """
        usd = answer.cost_usd if answer is not None else None
        source = answer.cost_source if answer is not None else None
        is_final = source == "reported" and usd is not None
        return msgspec.structs.replace(
            self,
            usd=_larger(usd, None if is_final else used.usd),
            tokens=_larger(answer.tokens if answer is not None else None, used.tokens),
            is_computed=source == "computed",
        )


def _larger(one: _N | None, other: _N | None) -> _N | None:
    return max((amount for amount in (one, other) if amount is not None), default=None)
