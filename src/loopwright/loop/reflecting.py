"""Who keeps reflections on a builder's turns: what a loop asks of them. That nobody does is the rule."""

from __future__ import annotations

from typing import Protocol

from loopwright.reflection.capture.self_report import SelfReport
from loopwright.reflection.model import Point
from loopwright.reflection.points import ReflectedWork


class Reflections(Protocol):
    """`is_on` tells whether anybody asked for them."""

    is_on: bool

    def keep(self, work: ReflectedWork, said: SelfReport, point: Point | None = None) -> None:
        """Write one; `OSError` or an error of ours where that can't be done."""

    def has(self, work: ReflectedWork, point: Point) -> bool:
        """Whether one is there of this session and point."""


class NoReflections:
    """Nobody asked for reflections."""

    is_on = False

    def keep(self, work: ReflectedWork, said: SelfReport, point: Point | None = None) -> None:
        """Nothing."""

    def has(self, work: ReflectedWork, point: Point) -> bool:
        """None."""
        del work, point
        return False
