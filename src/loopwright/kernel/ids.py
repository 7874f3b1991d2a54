"""Names that are safe in a path, run ids, and a safe PATH."""

from __future__ import annotations

import os
import re
from datetime import datetime

from loopwright.kernel.clock import compact_stamp

IDENTIFIER = re.compile(r"[A-Za-z0-9._-]{1,64}")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST = 64


def is_identifier(text: str) -> bool:
    """Whether the text is safe in a path without changes."""
    return IDENTIFIER.fullmatch(text) is not None and text.strip(".") != ""


def sanitised(text: str) -> str:
    """The text made safe for a path: never empty, never hidden, never `..`, never over 64 characters."""
    safe = _UNSAFE.sub("-", text).strip(".-")[:_LONGEST].rstrip(".-")
    return safe or "unnamed"


def new_run_id(moment: datetime) -> str:
    """A new run id that sorts by time."""
    return f"run-{compact_stamp(moment)}-{os.urandom(3).hex()}"


def without_relative(path: str) -> str:
    """PATH without relative entries: in a sandbox they would point at folders that an agent writes."""
    return os.pathsep.join(entry for entry in path.split(os.pathsep) if entry.startswith("/"))
