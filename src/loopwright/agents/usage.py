"""The usage file, in which an agent's program or its adapter reports what it used: lines of JSON that add up.

A line may also name the agent's session, so that it is known after a crash.

The file is not trusted: invalid lines are skipped and reported, and a huge file is read up to a limit.
"""

from __future__ import annotations

import errno
import json
import math
import os
import stat
from contextlib import suppress
from pathlib import Path

from loopwright.agents.port import Usage
from loopwright.kernel.files import clear_path, read_head
from loopwright.kernel.ids import is_identifier

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
    """Add a line for an adapter; nothing is written through a link or pipe that the agent put there."""
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
    """The sum of the lines; while the program runs its last line may be incomplete."""
    try:
        data, is_longer = read_head(path, _MOST_BYTES)
    except OSError as problem:
        gone = problem.errno == errno.ENOENT
        return Usage() if gone else Usage(problems=(f"the file of use can't be read: {problem.strerror}",))
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
            bad.append(f"line {number} of the file of use is none: {line[:60].decode('utf-8', 'replace')}")
            continue
        usd = usd if added.usd is None else (usd or 0.0) + added.usd
        tokens = tokens if added.tokens is None else (tokens or 0) + added.tokens
        session = added.session or session
    return Usage(usd, tokens, _named(bad, is_longer=is_longer), session)


def _added(line: bytes) -> Usage | None:
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict):
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
    more = len(bad) - _SHOWN_PROBLEMS
    named = bad[:_SHOWN_PROBLEMS]
    if more > 0:
        named.append(f"and {more} more lines of it")
    if is_longer:
        named.append(f"the file of use has more than {_MOST_BYTES:,} bytes; the rest is not counted")
    return tuple(named)
