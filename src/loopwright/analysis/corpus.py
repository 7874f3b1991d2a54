"""P1's corpus: JSON lines of `{confidence, correct}`, checked line by line. Has no statistics."""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from loopwright.analysis.input_files import InputFile
from loopwright.analysis.malformed import MalformedParts
from loopwright.analysis.model import Malformed
from loopwright.analysis.preregistered import SURFACE_WEIGHTS, Series
from loopwright.kernel import codec

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
