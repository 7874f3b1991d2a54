"""Collects unreadable parts of an input: all are counted and reported, none is skipped silently."""

from __future__ import annotations

from loopwright.analysis.model import Malformed

_REASONS = 20
_RANGES = 1000


class MalformedParts:
    """Collects numbers and reasons; `unit` names what the numbers count."""

    def __init__(self, unit: str = "line") -> None:
        self._unit = unit
        self._count = 0
        self._ranges: list[list[int]] = []
        self._reasons: list[str] = []

    def add(self, number: int, reason: str) -> None:
        """Add a part; numbers must not decrease."""
        self._count += 1
        if self._ranges and number <= self._ranges[-1][1] + 1:
            self._ranges[-1][1] = max(number, self._ranges[-1][1])
        else:
            self._ranges.append([number, number])
        if len(self._reasons) < _REASONS:
            self._reasons.append(f"{self._unit} {number}: {reason}")

    def collected(self) -> Malformed:
        """The collected parts as a record."""
        if not self._count:
            return Malformed()
        shown = [str(first) if first == last else f"{first}-{last}" for first, last in self._ranges[:_RANGES]]
        more = len(self._ranges) - len(shown)
        where = f"{self._unit}s {', '.join(shown)}" + (f" and {more} more ranges" if more else "")
        return Malformed(count=self._count, where=where, reasons=tuple(self._reasons))
