"""The `reflection.v1` record and its JSON Schema. CI compares the checked-in schema file with the model.

The hook writes records without this module, with the standard library only. Tests compare the two.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from loopwright.kernel import codec

SCHEMA: Final = "reflection.v1"
SurfaceName = Literal["auth", "data", "infra", "build", "ui", "test", "docs", "none"]
CaptureMode = Literal["off", "solo", "orchestrated"]
Point = Literal["before", "after", "adversarial"]
_Share = Annotated[float, Meta(ge=0, le=1)]
_Moment = Annotated[str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?Z$(?!\n)")]


class _Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Strict and immutable."""


class MostLikelyWrong(_Record, frozen=True, kw_only=True):
    """Where the agent would look first for its own mistake."""

    surface: SurfaceName
    description: str


class Risk(_Record, frozen=True, kw_only=True):
    """The verdict of the risk floor."""

    needs_review: bool
    score: _Share
    surface: SurfaceName
    reason: str


class Provenance(_Record, frozen=True, kw_only=True):
    """How the record was created."""

    source: Literal["stop-hook"]
    reflection_attempt: Annotated[int, Meta(ge=1)]
    degraded: bool
    reflection_mode: CaptureMode


class Reflection(_Record, frozen=True, kw_only=True):
    """The end of one piece of work. The three self-reported fields are null if they were not reported or not valid."""

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
    """The same record, taken at one of three points of the work."""

    point: Point
    reflection: Reflection


SCHEMA_FILE = Path(__file__).with_name("reflection.v1.schema.json")
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def reflection_schema() -> dict[str, object]:
    """The schema of a sidecar; its definitions include the schema of a capture."""
    (top,), definitions = msgspec.json.schema_components([Reflection], ref_template="#/$defs/{name}")
    capture = msgspec.json.schema_components([Capture], ref_template="#/$defs/{name}")[1]
    return {
        "$schema": _DIALECT,
        "title": "reflection.v1",
        **top,
        "$defs": dict(sorted({**capture, **definitions}.items())),
    }


def schema_bytes() -> bytes:
    """The content that the schema file must have."""
    return codec.to_json(reflection_schema())
