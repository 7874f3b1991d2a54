"""The JSON Schema of `reflection.v1`, generated from the model. CI compares the checked-in file with it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from loopwright.kernel import codec
from loopwright.reflection.model import Capture, Reflection

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
