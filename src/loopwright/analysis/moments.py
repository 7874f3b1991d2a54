"""Parses times as people and exports write them, into seconds since 1970. Ambiguous text is refused."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from loopwright.kernel.clock import stamp

_FORMATS: Final = ("%d/%b/%y %I:%M %p", "%d/%b/%Y %I:%M %p", "%a, %d %b %Y %H:%M:%S %z", "%b %d, %Y", "%d %b %Y")
_SPAN: Final = re.compile(r"(\d{1,5})[ .]?(day|week|month|year)s?(?:[ .]ago)?", re.IGNORECASE)
_DAYS: Final = {"day": 1, "week": 7, "month": 30, "year": 365}
# Smaller numbers are seconds, larger ones milliseconds; between 1973 and 5138 the two can't be confused.
_MILLISECONDS_FROM: Final = 1e11
_FIRST, _LAST = 1e8, 2.5e14


def read_moment(value: object) -> int | None:
    """ISO 8601, a few common formats, or a number; UTC if there is no zone; None if the format is unknown."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return _from_number(float(value))
    text = str(value).strip()
    if re.fullmatch(r"\d{9,14}(?:\.\d+)?", text):
        return _from_number(float(text))
    moment = _from_iso(text.removesuffix(" UTC").replace("/", "-", 2 if re.match(r"\d{4}/", text) else 0))
    for form in _FORMATS if moment is None else ():
        moment = moment or _from_form(text, form)
    return moment


def read_bound(text: str, now: datetime) -> int | None:
    """The value of `--since` and `--until`: a time, or a span before now such as `90 days`."""
    span = _SPAN.fullmatch(text.strip())
    if span is None:
        return read_moment(text)
    days = int(span[1]) * _DAYS[span[2].lower()]
    return max(0, int((now - timedelta(days=min(days, 365 * 1900))).timestamp()))


def moment_text(seconds: int) -> str:
    """Seconds as text, in the format of every file that Loopwright writes."""
    try:
        return stamp(datetime.fromtimestamp(seconds, UTC))
    except (OverflowError, ValueError, OSError):
        # Git allows any time in a commit.
        return f"{seconds} s after 1970"


def _from_number(number: float) -> int | None:
    if not _FIRST <= number <= _LAST:
        return None
    return int(number / 1000 if number >= _MILLISECONDS_FROM else number)


def _from_iso(text: str) -> int | None:
    try:
        return _seconds(datetime.fromisoformat(text))
    except ValueError:
        return None


def _from_form(text: str, form: str) -> int | None:
    try:
        return _seconds(datetime.strptime(text, form))  # noqa: DTZ007 -- _seconds adds the zone
    except ValueError:
        return None


def _seconds(moment: datetime) -> int | None:
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return int(aware.timestamp()) if aware.year >= 1970 else None
