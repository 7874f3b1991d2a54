"""All lies and all honest builds, and how one of them is played."""

from __future__ import annotations

from pathlib import Path

import about_places
import about_records
import about_tests
import honest
import uncaught
from model import Honest, Lie
from scene import Gate, play

LIES = (*about_tests.LIES, *about_places.LIES, *about_records.LIES, *uncaught.LIES)
BUILDS = honest.BUILDS


def judged(one: Lie | Honest, top: Path) -> Gate:
    """What the gate to review says of it; `top` is shared by all that are played together."""
    return play(one.world, one.script, top, top / one.name)
