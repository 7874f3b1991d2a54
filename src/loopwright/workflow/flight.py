"""The budget of an autopilot over all stages of a workflow. Pure."""

from __future__ import annotations

from loopwright.workflow.model import Amounts, Flight

LANDED = "done"
_WORDS = {"usd": "US dollars", "tokens": "tokens", "wall_s": "seconds of work", "turns": "agent turns"}
# Sums of fractions may miss the limit by a rounding error.
_NEAR = 1e-6


def used_by(flight: Flight, spent: Amounts) -> Amounts:
    """The amounts spent since the autopilot started, by all agents."""
    before = flight.before
    return Amounts(
        usd=round(max(0.0, spent.usd - before.usd), 6),
        tokens=max(0, spent.tokens - before.tokens),
        wall_s=round(max(0.0, spent.wall_s - before.wall_s), 3),
        turns=max(0, spent.turns - before.turns),
    )


def left_of(flight: Flight, spent: Amounts, name: str) -> float | None:
    """The remaining amount of one kind; None means no limit."""
    limit = getattr(flight.limits, name)
    return None if limit is None else max(0.0, limit - getattr(used_by(flight, spent), name))


def used_up(flight: Flight, spent: Amounts) -> tuple[str, str] | None:
    """The first limit that is reached, as a code and a sentence; None if another turn fits."""
    used = used_by(flight, spent)
    for name, words in _WORDS.items():
        limit = getattr(flight.limits, name)
        if limit is not None and getattr(used, name) >= limit - _NEAR:
            return f"budget_{name}", f"the autopilot has used {getattr(used, name):g} of {limit:g} {words}"
    return None
