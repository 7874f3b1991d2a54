"""Numbers, shares and times as reports write them."""

from __future__ import annotations

import math
import os
import re
import tempfile
import time
from pathlib import Path

from loopwright.kernel.files import storage

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_SPACES = re.compile(r"[\s'’_]")
_LONGEST = 40


def parse_decimal(text: str) -> float | None:
    """The number; None if the text is not a finite number."""
    plain = _SPACES.sub("", text[: _LONGEST + 1])
    if len(plain) > _LONGEST:
        return None
    plain = _with_point(plain)
    if _NUMBER.fullmatch(plain) is None:
        return None
    number = float(plain)
    return number if math.isfinite(number) else None


def parse_count(text: str) -> int | None:
    """A whole number of things, or None."""
    number = parse_decimal(text)
    return int(number) if number is not None and number >= 0 and number == int(number) else None


def _with_point(text: str) -> str:
    """The last of two kinds of separators is the decimal one; one that comes more than once groups thousands.

    A single comma is taken as decimal: `1,078` of a localised writer is common, a test of just 1078.000 s is not.
    """
    comma, point = text.rfind(","), text.rfind(".")
    if comma < 0:
        return text.replace(".", "") if text.count(".") > 1 else text
    if point < 0:
        return text.replace(",", "" if text.count(",") > 1 else ".")
    if comma < point:
        return text.replace(",", "")
    return text.replace(".", "").replace(",", ".")


def percentage(part: int, whole: int) -> float:
    """The percentage of a part; the whole is not zero."""
    return rounded(100 * part / whole)


def rounded(percent: float) -> float:
    """Two decimals; 99.999 is not all, and 0.001 is not nothing."""
    near = round(percent, 2)
    if near == 100 and percent < 100:
        return 99.99
    if near == 0 and percent > 0:
        return 0.01
    return near


_LONGEST_WAIT_S = 3.0


def moment_before_run(folder: Path) -> int:
    """Nanoseconds that are later than every file written in this file system so far, and never later than a new one.

    File systems date files by a coarse clock, or by a server's: `time.time_ns` can be milliseconds ahead of a file that
    is written after it. So a file of our own is dated again and again until its time moves on.
    """
    with storage(folder), tempfile.NamedTemporaryFile(dir=folder, prefix=".loopwright-moment-") as probe:
        handle = probe.fileno()
        first = os.fstat(handle).st_mtime_ns
        give_up = time.monotonic() + _LONGEST_WAIT_S
        while True:
            os.utime(handle)
            now = os.fstat(handle).st_mtime_ns
            if now > first:
                return now
            if time.monotonic() > give_up:
                return first + 1  # better to miss a new report than to take an old one
            time.sleep(0.001)
