"""All that is played: pairs of the product, lies with scenes of their own, and honest work. Plays one of them."""

from __future__ import annotations

from pathlib import Path

import about_examples
import about_later_assertions
import about_linters
import about_open_classes
import about_outsiders
import about_places
import about_records
import about_state
import about_tests
import about_third_outsider
import honest
import uncaught
from model import Honest, Lie
from paths import PATHS, Gate
from scene import Ready, scripted

LIES = (
    *about_tests.LIES, *about_places.LIES, *about_records.LIES, *about_outsiders.CAUGHT, *about_open_classes.CAUGHT, *uncaught.LIES,
    *about_third_outsider.CAUGHT, *about_state.LIES, *about_linters.LIES, *about_examples.CAUGHT,
    *about_later_assertions.CAUGHT,
    *about_outsiders.OPEN, *about_open_classes.OPEN, *about_third_outsider.OPEN,
    *about_examples.OPEN,
)  # fmt: skip
WORK = honest.WORK
# The paths on which honest work is counted.
WORK_PATHS = ("build", "loop")
# Without isolation a real agent does not start unattended, so it can tell no lie.
THROUGH_AGENTS = tuple(lie for lie in LIES if lie.trace and lie.world.isolation != "none")


def judged(one: Lie | Honest, top: Path, ready: Ready = scripted, by: str = "scripted") -> Gate:
    """The gate to review after a build, or the end of a loop; all runs that belong together share `top`."""
    script, way = (one.played, one.way) if isinstance(one, Lie) else (one.script, "build")
    return PATHS[way].run(one.world, script, top, top / f"{by}-{one.name}", ready)
