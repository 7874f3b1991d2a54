"""How sure a sum of money is, in words."""

from __future__ import annotations

from loopwright.cli.language import words
from loopwright.loop.model import Spent


def price_note(spent: Spent) -> str:
    """What of it nobody told, and what was computed; nothing where agents reported all of it."""
    note = "" if spent.usd_known else words(" (not every turn told its price)")
    if spent.usd_computed:
        note += words(" ({usd} of it computed from a list of prices)", usd=f"{spent.usd_computed:.2f}")
    return note
