"""How long a loop waits at a limit of which nobody told the end, or a wrong one. Pure."""

from __future__ import annotations

# The first wait at a limit whose end was told, and the longest: short limits that are real come often, and are short.
LEAST_S = 1.0
LONGEST_FOR_TOLD_S = 60.0


def wait_s(held_before: int, first_s: float, longest_s: float) -> float:
    """The first wait, twice as long after each that was in vain, and never longer than the longest."""
    wait = first_s
    for _ in range(held_before):
        if wait >= longest_s:
            break
        wait *= 2
    return min(wait, longest_s)
