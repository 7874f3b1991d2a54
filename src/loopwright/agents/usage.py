"""What a turn used and what it cost.

An agent's program or its adapter reports usage as JSON lines in a file; the lines add up. A line may also name the
session, so that the session is known after a crash. The file is not trusted: invalid lines are skipped and reported,
and only its first part is read if it is huge. Prices come from a dated table that settings can override.
"""

from __future__ import annotations

import errno
import json
import math
import os
import re
import stat
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from datetime import date
from functools import cache
from pathlib import Path

import msgspec

from loopwright.agents.port import Usage
from loopwright.kernel.codec import json_object
from loopwright.kernel.files import clear_path, read_head
from loopwright.kernel.ids import is_identifier
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
        """The sum of all kinds."""
        return self.input + self.cached + self.written + self.output

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            self.input + other.input,
            self.cached + other.cached,
            self.written + other.written,
            self.output + other.output,
        )

    def since(self, before: Tokens) -> Tokens:
        """The growth since an earlier total; 0 where a number shrank."""
        return Tokens(
            max(0, self.input - before.input),
            max(0, self.cached - before.cached),
            max(0, self.written - before.written),
            max(0, self.output - before.output),
        )


class PriceList(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One provider's prices, their source page, and its date."""

    provider: str
    source: str
    as_of: date
    models: Mapping[str, Price]


class _Shipped(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    lists: tuple[PriceList, ...]


@cache
def shipped_prices() -> tuple[PriceList, ...]:
    """The price lists of this version."""
    text = Path(__file__).with_name("prices.toml").read_bytes()
    return msgspec.convert(tomllib.loads(text.decode()), _Shipped).lists


def price_of(model: str, own: Mapping[str, Price]) -> Price | None:
    """The user's price for a model, else the shipped price. A name covers its dated versions as well."""
    undated = _DATE.sub("", model)
    tables = (own, *(prices.models for prices in shipped_prices()))
    candidates = (table.get(name) for table in tables for name in (model, undated))
    return next((price for price in candidates if price is not None), None)


def cost_of(model: str, tokens: Tokens, own: Mapping[str, Price]) -> float | None:
    """The cost of these tokens in dollars; None for a model without a price."""
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


FILE = "usage.jsonl"
VARIABLE = "LOOPWRIGHT_USAGE"
_MOST_BYTES = 1 << 20
_MOST_USD = 1e9
_MOST_TOKENS = 1 << 53
_SHOWN_PROBLEMS = 3
_LONGEST_SESSION = 100


def forget_usage(mailbox: Path) -> None:
    """Remove the usage of an earlier turn with the same mailbox."""
    clear_path(mailbox / FILE)


def add_usage(mailbox: Path, used: Usage) -> None:
    """Add a line for an adapter. Never writes through a link or pipe that the agent put in the file's place."""
    line = {"usd": used.usd, "tokens": used.tokens, "session": used.session}
    data = json.dumps({name: value for name, value in line.items() if value is not None}).encode() + b"\n"
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with suppress(OSError):
        handle = os.open(mailbox / FILE, flags, 0o600)
        try:
            if stat.S_ISREG(os.fstat(handle).st_mode):
                os.write(handle, data)
        finally:
            os.close(handle)


def read_usage(path: Path, *, is_over: bool) -> Usage:
    """The sum of the lines. While the program runs, the last line may be incomplete."""
    try:
        data, is_longer = read_head(path, _MOST_BYTES)
    except OSError as problem:
        gone = problem.errno == errno.ENOENT
        return Usage() if gone else Usage(problems=(f"the usage file can't be read: {problem.strerror}",))
    lines = data.split(b"\n")
    rest = lines.pop()
    if is_over and rest and not is_longer:
        lines.append(rest)
    usd: float | None = None
    tokens: int | None = None
    session: str | None = None
    bad: list[str] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        added = _added(line)
        if added is None:
            bad.append(f"line {number} of the usage file is invalid: {line[:60].decode('utf-8', 'replace')}")
            continue
        usd = usd if added.usd is None else (usd or 0.0) + added.usd
        tokens = tokens if added.tokens is None else (tokens or 0) + added.tokens
        session = added.session or session
    return Usage(usd, tokens, _named(bad, is_longer=is_longer), session)


def _added(line: bytes) -> Usage | None:
    document = json_object(line)
    if document is None:
        return None
    usd, tokens, session = document.get("usd"), document.get("tokens"), document.get("session")
    # The session ends up on a command line, and the file is not trusted.
    session = session if isinstance(session, str) and is_session(session) else None
    if usd is None and tokens is None and session is None:
        return None
    if not _is_amount(usd, _MOST_USD) or not _is_amount(tokens, _MOST_TOKENS) or isinstance(tokens, float):
        return None
    return Usage(None if usd is None else float(usd), tokens, session=session)


def is_session(text: str) -> bool:
    """Whether this can be the name of a session."""
    return is_identifier(text) and len(text) <= _LONGEST_SESSION and text[0].isalnum()


def _is_amount(value: object, most: float) -> bool:
    if value is None:
        return True
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) and 0 <= value <= most


def _named(bad: list[str], *, is_longer: bool) -> tuple[str, ...]:
    named = bad[:_SHOWN_PROBLEMS]
    if len(bad) > _SHOWN_PROBLEMS:
        named.append(f"the usage file has {len(bad)} invalid lines in total")
    if is_longer:
        named.append(f"the usage file has more than {_MOST_BYTES:,} bytes; the rest is not counted")
    return tuple(named)
