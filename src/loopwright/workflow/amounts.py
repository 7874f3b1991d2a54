"""What a workflow cost, and what it may."""

from __future__ import annotations

import msgspec


class Amounts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was spent, as far as agents said."""

    usd: float = 0.0
    tokens: int = 0
    wall_s: float = 0.0
    turns: int = 0


class SpendingLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What may be spent; None is no limit."""

    usd: float | None = None
    tokens: int | None = None
    wall_s: float | None = None
    turns: int | None = None
    iterations: int | None = None
