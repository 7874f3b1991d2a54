"""The `reflection.v1` record: the one definition that the checked-in JSON Schema is generated from.

The hook writes such records without this module, with the standard library alone; tests hold the two together.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

SCHEMA: Final = "reflection.v1"
SurfaceName = Literal["auth", "data", "infra", "build", "ui", "test", "docs", "none"]
CaptureMode = Literal["off", "solo", "orchestrated"]
Point = Literal["before", "after", "adversarial"]
_Share = Annotated[float, Meta(ge=0, le=1)]
_Moment = Annotated[str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?Z$(?!\n)")]


class _Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Strict and immutable."""


class MostLikelyWrong(_Record, frozen=True, kw_only=True):
    """Where the doer would look first for its own mistake."""

    surface: SurfaceName
    description: str


class Risk(_Record, frozen=True, kw_only=True):
    """The verdict of the risk floor."""

    needs_review: bool
    score: _Share
    surface: SurfaceName
    reason: str


class Provenance(_Record, frozen=True, kw_only=True):
    """How the record came to be."""

    source: Literal["stop-hook"]
    reflection_attempt: Annotated[int, Meta(ge=1)]
    degraded: bool
    reflection_mode: CaptureMode


class Reflection(_Record, frozen=True, kw_only=True):
    """One end of work. The three self-reported fields are null where nothing valid was reported."""

    schema: Literal["reflection.v1"]
    task_ref: str
    agent: str
    session_id: str
    timestamp: _Moment
    repo: str
    confidence: _Share | None
    most_likely_wrong: MostLikelyWrong | None
    known_not_in_diff: str | None
    risk: Risk
    files_changed: list[str]
    provenance: Provenance


class Capture(_Record, frozen=True, kw_only=True):
    """The same record taken at one of three points of the work."""

    point: Point
    reflection: Reflection
