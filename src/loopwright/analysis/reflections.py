"""A workspace's own reflections and captures, read and checked; each invalid file is named. Owns no judgement."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from loopwright.analysis.malformed import MalformedParts
from loopwright.analysis.model import Malformed
from loopwright.analysis.paths import surface_weight
from loopwright.analysis.preregistered import Series
from loopwright.kernel import codec
from loopwright.kernel.files import shown
from loopwright.reflection.model import Capture, Reflection

_LARGEST: Final = 4 << 20
_REFLECTION: Final = ".reflection.json"
_CAPTURE: Final = ".capture.json"


class Report(msgspec.Struct, frozen=True):
    """One confidence as the doer gave it; `work` says what it belongs to."""

    series: Series
    confidence: float
    time: int
    work: tuple[str, str]
    files: frozenset[bytes]
    surface_weight: float | None


class Reports(msgspec.Struct, frozen=True):
    """All of them, oldest first."""

    reports: tuple[Report, ...]
    without_confidence: int
    malformed: Malformed
    sha256: str


def read_reports(folder: Path) -> Reports:
    """Every reflection and capture in the folder; numbers of malformed files count in the order of their names."""
    paths = sorted(path for path in folder.glob("*.json") if path.name.endswith((_REFLECTION, _CAPTURE)))
    reports: list[Report] = []
    malformed = MalformedParts("file")
    digest = hashlib.sha256()
    silent = 0
    for number, path in enumerate(paths, start=1):
        try:
            data = _bytes_of(path)
            series, reflection = _decoded(path, data)
            report = _report(series, reflection)
        except (codec.Undecodable, ValueError) as problem:
            malformed.add(number, f"{shown(path.name)}: {problem}")
            continue
        digest.update(hashlib.sha256(data).digest())
        if report is None:
            silent += 1
        else:
            reports.append(report)
    reports.sort(key=lambda report: report.time)
    return Reports(tuple(_with_files(reports)), silent, malformed.collected(), digest.hexdigest())


def _bytes_of(path: Path) -> bytes:
    try:
        if not path.is_file():
            raise codec.Undecodable("it is not a file")
        with path.open("rb") as stream:
            data = stream.read(_LARGEST + 1)
    except OSError as problem:
        raise codec.Undecodable(f"it can't be read: {problem.strerror}") from problem
    if len(data) > _LARGEST:
        raise codec.Undecodable(f"it is larger than {_LARGEST >> 20} MiB")
    return data


def _decoded(path: Path, data: bytes) -> tuple[Series, Reflection]:
    if path.name.endswith(_CAPTURE):
        capture = codec.from_json(data, Capture)
        return Series(capture.point), capture.reflection
    return Series.HOOK, codec.from_json(data, Reflection)


def _report(series: Series, reflection: Reflection) -> Report | None:
    seconds = datetime.strptime(reflection.timestamp[:19], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=UTC).timestamp()
    if reflection.confidence is None:
        return None
    files = frozenset(name.encode("utf-8", "surrogateescape") for name in reflection.files_changed)
    return Report(
        series=series,
        confidence=reflection.confidence,
        time=int(seconds),
        work=(reflection.task_ref, reflection.session_id),
        files=files,
        # Not the record's own risk: the doer's claim may have raised that, and a baseline owes nothing to claims.
        surface_weight=surface_weight(files) if files else None,
    )


def _with_files(reports: list[Report]) -> list[Report]:
    """What was said before the work has no files yet: it takes those of the next report about the same work."""
    following: dict[tuple[str, str], Report] = {}
    filled: list[Report] = []
    for report in reversed(reports):
        later = following.get(report.work)
        if report.files:
            following[report.work] = report
        if report.files or later is None:
            filled.append(report)
        else:
            known = {"files": later.files, "time": later.time, "surface_weight": later.surface_weight}
            filled.append(msgspec.structs.replace(report, **known))
    return filled[::-1]
