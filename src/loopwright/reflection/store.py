"""Reads captured reflections. An invalid file is reported, never skipped silently."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

from loopwright.kernel import codec
from loopwright.kernel.files import shown
from loopwright.reflection.capture.folder import CAPTURE_SUFFIX, SUFFIX
from loopwright.reflection.capture.lock import SessionLock, is_alive
from loopwright.reflection.model import Capture, Point, Reflection

_T = TypeVar("_T")


class Stored(msgspec.Struct, frozen=True):
    """A reflection and its path; `point` is None for a reflection from the end of a turn."""

    name: str
    path: Path
    point: Point | None
    reflection: Reflection


class UnreadableReflection(msgspec.Struct, frozen=True):
    """A file with the name of a reflection and other content."""

    name: str
    why: str


class StoredReflections(msgspec.Struct, frozen=True):
    """All reflections in a folder, oldest first."""

    stored: tuple[Stored, ...]
    unreadable: tuple[UnreadableReflection, ...]


def read_reflections(folder: Path) -> StoredReflections:
    """Every reflection in a folder; a missing folder counts as empty."""
    stored: list[Stored] = []
    unreadable: list[UnreadableReflection] = []
    names = (
        [path for path in folder.iterdir() if path.name.endswith((SUFFIX, CAPTURE_SUFFIX))] if folder.is_dir() else []
    )
    for path in names:
        try:
            stored.append(read_reflection(path))
        except (OSError, codec.Undecodable) as problem:
            unreadable.append(UnreadableReflection(shown(path.name), str(problem)))
    stored.sort(key=lambda entry: (entry.reflection.timestamp, entry.name))
    unreadable.sort(key=lambda entry: entry.name)
    return StoredReflections(tuple(stored), tuple(unreadable))


def remove_hook_leftovers(folder: Path) -> int:
    """Remove what killed hooks left: temporary files of dead processes, and locks without a holder."""
    removed = 0
    for path in sorted(folder.rglob(".*.tmp")) if folder.is_dir() and not folder.is_symlink() else ():
        pid = path.name.removesuffix(".tmp").rpartition(".")[2]
        if not path.is_symlink() and not is_alive(pid):
            path.unlink(missing_ok=True)
            removed += 1
    for path in sorted(folder.glob("*.lock")) if folder.is_dir() and not folder.is_symlink() else ():
        with SessionLock(str(path)) as lock:
            removed += lock.is_held
    return removed


def read_reflection(path: Path) -> Stored:
    """Read one reflection strictly."""
    data = path.read_bytes()
    if path.name.endswith(CAPTURE_SUFFIX):
        capture = decode_capture(data)
        return Stored(shown(path.name), path, capture.point, capture.reflection)
    return Stored(shown(path.name), path, None, decode_reflection(data))


def decode_reflection(data: bytes) -> Reflection:
    """Decode a sidecar's bytes as a reflection; may raise `Undecodable`."""
    return _convert(_with_whole_numbers(codec.from_json(data, object)), Reflection)


def decode_capture(data: bytes) -> Capture:
    """Decode a capture's bytes; may raise `Undecodable`."""
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
    """Convert 1.0 to 1: JSON and its schema accept both as an integer, the model only 1."""
    provenance = document.get("provenance") if isinstance(document, dict) else None
    attempt = provenance.get("reflection_attempt") if isinstance(provenance, dict) else None
    if isinstance(document, dict) and isinstance(provenance, dict) and isinstance(attempt, float):
        whole = int(attempt) if attempt.is_integer() else attempt
        return {**document, "provenance": {**provenance, "reflection_attempt": whole}}
    return document
