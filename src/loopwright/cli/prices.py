"""A note on how reliable a cost is."""

from __future__ import annotations

from loopwright.cli.language import words
from loopwright.loop.model import Spent


def price_note(spent: Spent) -> str:
    """Says which costs were not reported, or computed; empty if agents reported all costs."""
    note = "" if spent.usd_known else words(" (cost of some turns not reported)")
    if spent.usd_computed:
        note += words(" (including {usd} computed from a price list)", usd=f"{spent.usd_computed:.2f}")
    return note
