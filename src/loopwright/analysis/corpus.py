"""The input of P1, without statistics: a corpus of `{confidence, correct}` lines, or a workspace's own reflections.

Lines and files are checked one by one; invalid ones are reported.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from loopwright.analysis.changes import surface_weight
from loopwright.analysis.input_files import InputFile, MalformedParts
from loopwright.analysis.model import Malformed
from loopwright.analysis.preregistered import SURFACE_WEIGHTS, Series
from loopwright.kernel import codec
from loopwright.reflection.model import Reflection
from loopwright.reflection.path_words import shown
from loopwright.reflection.store import read_reflections

_POINTS: Final = {series.value: series for series in Series}


class JudgedRecord(msgspec.Struct, frozen=True, gc=False):
    """A confidence and whether the work was right; `identity` is equal for records of the same work."""

    series: Series
    confidence: float
    right: bool
    churn: float | None = None
    surface_weight: float | None = None
    identity: tuple[str, ...] = ()


class Corpus(msgspec.Struct, frozen=True):
    """The content of a corpus file."""

    judged: tuple[JudgedRecord, ...]
    malformed: Malformed
    ignored_fields: tuple[str, ...]
    sha256: str


class _Line(msgspec.Struct, frozen=True):
    confidence: Annotated[float, Meta(ge=0, le=1)]
    correct: bool | int
    point: str | None = None
    series: str | None = None
    task_ref: str | int | None = None
    session_id: str | None = None
    churn: Annotated[float, Meta(ge=0)] | None = None
    surface: str | None = None


_FIELDS: Final = set(_Line.__struct_fields__)
_FIELDS_SHOWN: Final = 20


def read_corpus(file: InputFile) -> Corpus:
    """Every line as a judged confidence; malformed lines are reported, blank lines are skipped."""
    judged: list[JudgedRecord] = []
    malformed = MalformedParts()
    ignored: dict[str, None] = {}
    for number, line in file.lines():
        if line is None:
            malformed.add(number, "it is longer than 1 MiB")
            continue
        if not line.strip():
            continue
        try:
            judged.append(_judged(line))
        except codec.Undecodable as problem:
            malformed.add(number, str(problem))
            continue
        if len(ignored) < _FIELDS_SHOWN:
            ignored |= dict.fromkeys(codec.from_json(line, dict[str, Any]).keys() - _FIELDS)
    return Corpus(tuple(judged), malformed.collected(), tuple(sorted(ignored)), file.sha256)


def _judged(line: bytes) -> JudgedRecord:
    read = codec.from_json(line, _Line)
    if read.correct not in (0, 1):
        raise codec.Undecodable("`correct` is neither true nor false")
    if read.point is not None and read.series is not None and read.point != read.series:
        raise codec.Undecodable("`point` and `series` name different series")
    name = read.point or read.series or Series.REPORTED.value
    if name not in _POINTS:
        raise codec.Undecodable(f"the point is not one of {', '.join(_POINTS)}")
    if read.surface is not None and read.surface not in SURFACE_WEIGHTS:
        raise codec.Undecodable(f"the surface is not one of {', '.join(SURFACE_WEIGHTS)}")
    return JudgedRecord(
        series=_POINTS[name],
        confidence=read.confidence,
        right=bool(read.correct),
        churn=read.churn,
        surface_weight=None if read.surface is None else SURFACE_WEIGHTS[read.surface],
        identity=() if read.task_ref is None else (str(read.task_ref), read.session_id or ""),
    )


def without_duplicates(judged: tuple[JudgedRecord, ...]) -> tuple[tuple[JudgedRecord, ...], int]:
    """The last record of each work and series, in order, and the number of earlier records."""
    last = {(record.series, record.identity): number for number, record in enumerate(judged) if record.identity}
    kept = tuple(
        record
        for number, record in enumerate(judged)
        if not record.identity or last[record.series, record.identity] == number
    )
    return kept, len(judged) - len(kept)


_NAMED: Final = 100
_REASONS: Final = 20


class RatedReport(msgspec.Struct, frozen=True):
    """One confidence as the agent reported it; `work` identifies the work."""

    series: Series
    confidence: float
    time: int
    work: tuple[str, str]
    files: frozenset[bytes]
    surface_weight: float | None


class Reports(msgspec.Struct, frozen=True):
    """All reports, oldest first."""

    reports: tuple[RatedReport, ...]
    without_confidence: int
    malformed: Malformed
    sha256: str


def read_reports(folder: Path) -> Reports:
    """Every reflection and capture in the folder."""
    reflections = read_reflections(folder)
    reports: list[RatedReport] = []
    bad = {file.name: file.why for file in reflections.unreadable}
    digest = hashlib.sha256()
    without_confidence = 0
    for stored in reflections.stored:
        series = Series.HOOK if stored.point is None else Series(stored.point)
        try:
            report = _report(series, stored.reflection)
        except ValueError as problem:
            bad[stored.name] = str(problem)
            continue
        digest.update(codec.to_json_line([series, stored.reflection]))
        without_confidence += report is None
        reports += [report] if report is not None else []
    reports.sort(key=lambda report: report.time)
    return Reports(tuple(_with_files(reports)), without_confidence, _malformed(bad), digest.hexdigest())


@lru_cache(1 << 16)
def as_reported(file: bytes) -> bytes:
    """A file name from git as a reflection writes it: invalid UTF-8 and unprintable characters are escaped."""
    return shown(file.decode("utf-8", "surrogateescape")).encode()


def _malformed(bad: dict[str, str]) -> Malformed:
    names = sorted(bad)
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    reasons = tuple(f"{name}: {bad[name]}" for name in names[:_REASONS])
    return Malformed(count=len(names), where=", ".join(names[:_NAMED]) + more, reasons=reasons)


def _report(series: Series, reflection: Reflection) -> RatedReport | None:
    seconds = datetime.strptime(reflection.timestamp[:19], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=UTC).timestamp()
    if reflection.confidence is None:
        return None
    files = frozenset(name.encode("utf-8", "surrogateescape") for name in reflection.files_changed)
    return RatedReport(
        series=series,
        confidence=reflection.confidence,
        time=int(seconds),
        work=(reflection.task_ref, reflection.session_id),
        files=files,
        # Not the record's own risk: the agent's report may have raised it, and a baseline must not depend on reports.
        surface_weight=surface_weight(files) if files else None,
    )


def _with_files(reports: list[RatedReport]) -> list[RatedReport]:
    """A report before the work has no files yet: it gets the files of the next report about the same work."""
    following: dict[tuple[str, ...], RatedReport] = {}
    filled: list[RatedReport] = []
    for report in reversed(reports):
        task, session = report.work
        # Another session may have continued the task; a report of the same session comes first.
        later = following.get((task, session)) or following.get((task,))
        if report.files:
            following[task, session] = following[task,] = report
        if report.files or later is None:
            filled.append(report)
        else:
            known = {"files": later.files, "time": later.time, "surface_weight": later.surface_weight}
            filled.append(msgspec.structs.replace(report, **known))
    return filled[::-1]
