"""A workspace's own reflections and captures as reports of confidence; invalid files are named. Judges nothing."""

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
    """One confidence as the doer gave it; `work` says what it belongs to."""

    series: Series
    confidence: float
    time: int
    work: tuple[str, str]
    files: frozenset[bytes]
    surface_weight: float | None


class Reports(msgspec.Struct, frozen=True):
    """All of them, oldest first."""

    reports: tuple[RatedReport, ...]
    without_confidence: int
    malformed: Malformed
    sha256: str


def read_reports(folder: Path) -> Reports:
    """Every reflection and capture in the folder."""
    shelf = read_reflections(folder)
    reports: list[RatedReport] = []
    bad = {one.name: one.why for one in shelf.unreadable}
    digest = hashlib.sha256()
    silent = 0
    for stored in shelf.stored:
        series = Series.HOOK if stored.point is None else Series(stored.point)
        try:
            report = _report(series, stored.reflection)
        except ValueError as problem:
            bad[stored.name] = str(problem)
            continue
        digest.update(codec.to_json_line([series, stored.reflection]))
        silent += report is None
        reports += [report] if report is not None else []
    reports.sort(key=lambda report: report.time)
    return Reports(tuple(_with_files(reports)), silent, _malformed(bad), digest.hexdigest())


@lru_cache(1 << 16)
def as_reported(file: bytes) -> bytes:
    """A name of git's as a reflection writes it: what is no UTF-8 or can't be printed is escaped there."""
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
        # Not the record's own risk: the doer's claim may have raised that, and a baseline owes nothing to claims.
        surface_weight=surface_weight(files) if files else None,
    )


def _with_files(reports: list[RatedReport]) -> list[RatedReport]:
    """What was said before the work has no files yet: it takes those of the next report about the same work."""
    following: dict[tuple[str, ...], RatedReport] = {}
    filled: list[RatedReport] = []
    for report in reversed(reports):
        task, session = report.work
        # Another session may have gone on with the task; its own comes first.
        later = following.get((task, session)) or following.get((task,))
        if report.files:
            following[task, session] = following[task,] = report
        if report.files or later is None:
            filled.append(report)
        else:
            known = {"files": later.files, "time": later.time, "surface_weight": later.surface_weight}
            filled.append(msgspec.structs.replace(report, **known))
    return filled[::-1]
