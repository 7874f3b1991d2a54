"""All lies and all honest builds, and how to run one of them."""

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
    """The gate to review after a run; all runs that belong together share `top`."""
    script = one.played if isinstance(one, Lie) else one.script
    return play(one.world, script, top, top / f"{by}-{one.name}", ready)
