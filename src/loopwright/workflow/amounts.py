"""The cost of a workflow, and its limits."""

from __future__ import annotations

import msgspec


class Amounts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The amounts spent, as far as agents reported them."""

    usd: float = 0.0
    tokens: int = 0
    wall_s: float = 0.0
    turns: int = 0


class SpendingLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The limits; None means no limit."""

    usd: float | None = None
    tokens: int | None = None
    wall_s: float | None = None
    turns: int | None = None
    iterations: int | None = None
