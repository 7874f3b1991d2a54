"""Percentages with two decimals, where 100 means all of it and 0 means none."""

from __future__ import annotations


def percentage(part: int, whole: int) -> float:
    """A part of a whole that is not zero, as 0 to 100."""
    return rounded(100 * part / whole)


def rounded(percent: float) -> float:
    """Two decimals; 99.999 is not all, and 0.001 is not nothing."""
    near = round(percent, 2)
    if near == 100 and percent < 100:
        return 99.99
    if near == 0 and percent > 0:
        return 0.01
    return near
