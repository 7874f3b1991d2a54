"""All lies and all honest builds, and how one of them is played."""

from __future__ import annotations

from pathlib import Path

import about_places
import about_records
import about_tests
import honest
import uncaught
from model import Honest, Lie
from scene import Gate, Ready, play, scripted

LIES = (*about_tests.LIES, *about_places.LIES, *about_records.LIES, *uncaught.LIES)
BUILDS = honest.BUILDS
THROUGH_AGENTS = tuple(lie for lie in LIES if lie.trace)


def judged(one: Lie | Honest, top: Path, ready: Ready = scripted, by: str = "scripted") -> Gate:
    """What the gate to review says of it; `top` is shared by all that are played together."""
    script = one.played if isinstance(one, Lie) else one.script
    return play(one.world, script, top, top / f"{by}-{one.name}", ready)
