"""Where programs are looked for: never in the folder that one happens to stand in."""

from __future__ import annotations

import os


def without_relative(path: str) -> str:
    """PATH without entries that mean another folder elsewhere: in a sandbox those hold what an agent wrote."""
    return os.pathsep.join(entry for entry in path.split(os.pathsep) if entry.startswith("/"))
