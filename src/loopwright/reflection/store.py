"""Reads captured reflections back; a file that is not one is named, never skipped in silence."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

from loopwright.kernel import codec
from loopwright.kernel.files import shown
from loopwright.reflection.capture.lock import SessionLock, is_alive
from loopwright.reflection.model import Capture, Point, Reflection

_T = TypeVar("_T")
SIDECAR = ".reflection.json"
CAPTURE = ".capture.json"


class Stored(msgspec.Struct, frozen=True):
    """A reflection and where it is; `point` is None for what a hook left at the end of a turn."""

    name: str
    path: Path
    point: Point | None
    reflection: Reflection


class UnreadableReflection(msgspec.Struct, frozen=True):
    """A file with such a name that holds something else."""

    name: str
    why: str


class StoredReflections(msgspec.Struct, frozen=True):
    """All that a folder holds, oldest first."""

    stored: tuple[Stored, ...]
    unreadable: tuple[UnreadableReflection, ...]


def read_shelf(folder: Path) -> StoredReflections:
    """Every reflection in a folder; a folder that is not there is empty."""
    stored: list[Stored] = []
    unreadable: list[UnreadableReflection] = []
    names = [path for path in folder.iterdir() if path.name.endswith((SIDECAR, CAPTURE))] if folder.is_dir() else []
    for path in names:
        try:
            stored.append(read_one(path))
        except (OSError, codec.Undecodable) as problem:
            unreadable.append(UnreadableReflection(shown(path.name), str(problem)))
    stored.sort(key=lambda one: (one.reflection.timestamp, one.name))
    unreadable.sort(key=lambda one: one.name)
    return StoredReflections(tuple(stored), tuple(unreadable))


def clear_debris(folder: Path) -> int:
    """Remove what hooks left that were killed: temporary files of dead processes, and locks that nobody holds."""
    removed = 0
    for path in sorted(folder.rglob(".*.tmp")) if folder.is_dir() and not folder.is_symlink() else ():
        pid = path.name.removesuffix(".tmp").rpartition(".")[2]
        if not path.is_symlink() and not is_alive(pid):
            path.unlink(missing_ok=True)
            removed += 1
    for path in sorted(folder.glob("*.lock")) if folder.is_dir() and not folder.is_symlink() else ():
        with SessionLock(str(path)) as lock:
            removed += lock.is_ours
    return removed


def read_one(path: Path) -> Stored:
    """One reflection, strictly."""
    data = path.read_bytes()
    if path.name.endswith(CAPTURE):
        capture = decode_capture(data)
        return Stored(shown(path.name), path, capture.point, capture.reflection)
    return Stored(shown(path.name), path, None, decode_reflection(data))


def decode_reflection(data: bytes) -> Reflection:
    """A sidecar's bytes as a reflection, or `Undecodable`."""
    return _convert(_with_whole_numbers(codec.from_json(data, object)), Reflection)


def decode_capture(data: bytes) -> Capture:
    """A capture's bytes, or `Undecodable`."""
    document = codec.from_json(data, object)
    if isinstance(document, dict) and "reflection" in document:
        document = {**document, "reflection": _with_whole_numbers(document["reflection"])}
    return _convert(document, Capture)


def _convert(document: object, kind: type[_T]) -> _T:
    try:
        return msgspec.convert(document, kind)
    except msgspec.ValidationError as problem:
        raise codec.Undecodable(str(problem)) from problem


def _with_whole_numbers(document: object) -> object:
    """To JSON, and to its schema, 1.0 is the whole number 1; to the model it would be another type."""
    provenance = document.get("provenance") if isinstance(document, dict) else None
    attempt = provenance.get("reflection_attempt") if isinstance(provenance, dict) else None
    if isinstance(document, dict) and isinstance(provenance, dict) and isinstance(attempt, float):
        whole = int(attempt) if attempt.is_integer() else attempt
        return {**document, "provenance": {**provenance, "reflection_attempt": whole}}
    return document
