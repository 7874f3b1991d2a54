"""What work may cost, and whether it may go on. Pure."""

from __future__ import annotations

from loopwright.loop.model import Budget, Hold, Holder, Spent

_WORDS = {"usd": "US dollars", "tokens": "tokens", "wall_s": "seconds of work", "turns": "turns of agents"}


def exceeded(spent: Spent, budget: Budget, now: str, whose: str) -> Hold | None:
    """The hold for the first limit that is reached; None when there is room."""
    for name, word in _WORDS.items():
        limit, used = getattr(budget, name), getattr(spent, name)
        if limit is not None and used >= limit:
            message = f"{whose} has used {used:g} of {limit:g} {word}"
            return Hold(holder=Holder.BUDGET, code=f"budget_{name}", message=message, since=now)
    return None


def seconds_left(spent: Spent, budget: Budget, otherwise: float) -> float:
    """How long a turn may take."""
    return otherwise if budget.wall_s is None else max(0.1, min(otherwise, budget.wall_s - spent.wall_s))
