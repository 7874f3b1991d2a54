"""What tokens cost, from a dated table that settings can override; a model that is not in it has no price. Pure."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from datetime import date
from functools import cache
from pathlib import Path

import msgspec

from loopwright.workspace.settings_model import Price

_MILLION = 1_000_000
_DATE = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2})$")


class Tokens(msgspec.Struct, frozen=True):
    """Tokens by price: new input, read from the cache, written to the cache, and output."""

    input: int = 0
    cached: int = 0
    written: int = 0
    output: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.input + self.cached + self.written + self.output

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            self.input + other.input,
            self.cached + other.cached,
            self.written + other.written,
            self.output + other.output,
        )

    def since(self, before: Tokens) -> Tokens:
        """What was added to an earlier total; nothing where a total shrank."""
        return Tokens(
            max(0, self.input - before.input),
            max(0, self.cached - before.cached),
            max(0, self.written - before.written),
            max(0, self.output - before.output),
        )


class PriceList(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One provider's prices, the page that said them, and on which day."""

    provider: str
    source: str
    as_of: date
    models: Mapping[str, Price]


class _Shipped(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    lists: tuple[PriceList, ...]


@cache
def shipped_prices() -> tuple[PriceList, ...]:
    """The tables that come with this version."""
    text = Path(__file__).with_name("prices.toml").read_bytes()
    return msgspec.convert(tomllib.loads(text.decode()), _Shipped).lists


def price_of(model: str, own: Mapping[str, Price]) -> Price | None:
    """The user's price for a model, else the table's; a name stands for its dated versions, too."""
    undated = _DATE.sub("", model)
    tables = (own, *(one.models for one in shipped_prices()))
    found = (prices.get(name) for prices in tables for name in (model, undated))
    return next((price for price in found if price is not None), None)


def cost_of(model: str, tokens: Tokens, own: Mapping[str, Price]) -> float | None:
    """What these tokens cost; None for a model without a price."""
    price = price_of(model, own)
    if price is None:
        return None
    sums = (
        tokens.input * price.input,
        tokens.cached * (price.input if price.cached is None else price.cached),
        tokens.written * (price.input if price.written is None else price.written),
        tokens.output * price.output,
    )
    return sum(sums) / _MILLION
