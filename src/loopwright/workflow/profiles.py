"""How thoroughly an idea is clarified before it is planned; the profile `quick` skips clarifying and planning."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Profile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How thoroughly an idea is clarified."""

    name: str
    threshold: float
    max_rounds: int


PROFILES: Mapping[str, Profile] = {
    "standard": Profile(name="standard", threshold=0.20, max_rounds=15),
    "deep": Profile(name="deep", threshold=0.10, max_rounds=25),
}
# Of `loopwright do`: no round of questions, and a plan that follows from the idea and the checks.
QUICK = Profile(name="quick", threshold=1.0, max_rounds=0)
