"""Strict JSON for typed records, and readable YAML.

JSON: unknown fields, wrong types and NaN are errors. YAML reading has limits for size, depth and aliases.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import yaml

_T = TypeVar("_T")


class Undecodable(ValueError):
    """The bytes are not a valid record."""


Encoder = Callable[[Any], Any]
Decoder = Callable[[type, Any], Any]


def to_json(record: object, encode: Encoder | None = None) -> bytes:
    """A record as indented JSON with a final newline. Equal records give equal bytes."""
    return msgspec.json.format(msgspec.json.encode(record, enc_hook=encode)) + b"\n"


def to_json_line(record: object, encode: Encoder | None = None) -> bytes:
    """A record as one line of JSON."""
    return msgspec.json.encode(record, enc_hook=encode) + b"\n"


def from_json(data: bytes, kind: type[_T], decode: Decoder | None = None) -> _T:
    """Decode bytes into a record of this type; `Undecodable` tells what is wrong and where."""
    try:
        return msgspec.json.decode(data, type=kind, dec_hook=decode)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
        raise Undecodable(str(problem)) from problem


def read_json(path: Path, kind: type[_T]) -> _T | None:
    """The record in a file; None if the file can't be read or holds something else."""
    try:
        return from_json(path.read_bytes(), kind)
    except (OSError, Undecodable):
        return None


def json_object(data: bytes | str) -> dict[str, Any] | None:
    """A JSON object of untrusted origin, with any fields; None for anything else."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def to_builtins(record: object, encode: Encoder | None = None) -> object:
    """A record as plain dicts, lists and scalars."""
    return msgspec.to_builtins(record, enc_hook=encode)


class _PlainDumper(yaml.SafeDumper):
    """Keeps the order of fields and writes multi-line text as readable blocks."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 -- PyYAML's signature
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_PlainDumper.add_representer(str, _represent_text)


def to_yaml(record: object, encode: Encoder | None = None) -> bytes:
    """A record as readable YAML."""
    text = yaml.dump(
        to_builtins(record, encode),
        Dumper=_PlainDumper,
        sort_keys=False,
        allow_unicode=True,
        width=100,
    )
    return text.encode()
