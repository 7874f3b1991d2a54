"""A workspace's reflections and captures as confidence reports; invalid files are reported. Judges nothing."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec

from loopwright.analysis.model import Malformed
from loopwright.analysis.paths import surface_weight
from loopwright.analysis.preregistered import Series
from loopwright.kernel import codec
from loopwright.reflection.model import Reflection
from loopwright.reflection.path_words import shown
from loopwright.reflection.store import read_reflections

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
