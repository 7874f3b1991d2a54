"""`loopwright reflect`: record a reflection by hand; list, show and export reflections."""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from loopwright.errors import StorageFailed, UnknownReflection
from loopwright.kernel import codec
from loopwright.kernel.files import shown
from loopwright.reflection.capture.lock import SessionLock
from loopwright.reflection.capture.take import CaptureRequest, ReflectionCapture
from loopwright.reflection.model import MostLikelyWrong, Point
from loopwright.reflection.store import Stored, StoredReflections, read_reflection, read_reflections
from loopwright.stages.context import Context
from loopwright.stages.reflecting import capture_mode, folder_of

_WITHIN_S = 60.0
_COLUMNS = (
    "name", "point", "timestamp", "session_id", "task_ref", "agent", "repo", "confidence", "wrong_surface",
    "wrong_description", "known_not_in_diff", "needs_review", "score", "surface", "reason", "files_changed", "degraded",
    "reflection_attempt", "reflection_mode",
)  # fmt: skip


class ReportInput(msgspec.Struct, frozen=True):
    """A self-report of the author, with the fields of `reflection-input.json`."""

    confidence: float | None = None
    most_likely_wrong: MostLikelyWrong | None = None
    known_not_in_diff: str | None = None


class ReflectionRequest(msgspec.Struct, frozen=True):
    """What a reflection records in addition to the changes that git shows."""

    session: str = "manual"
    point: Point | None = None
    report: ReportInput | bytes | None = None
    task_ref: str | None = None
    agent: str | None = None


def reflect(context: Context, request: ReflectionRequest) -> Stored:
    """Record a reflection and return it as it was written."""
    variables = {"REFLECTION_TASK_REF": request.task_ref, "REFLECTION_AGENT": request.agent}
    environment = {**context.environment, **{name: value for name, value in variables.items() if value is not None}}
    report = codec.to_json(request.report) if isinstance(request.report, ReportInput) else request.report
    capture_request = CaptureRequest(
        cwd=str(context.project),
        session=request.session,
        mode=capture_mode(context),
        environment=environment,
        until=time.monotonic() + _WITHIN_S,
        point=request.point,
        report=report,
    )
    try:
        capture = ReflectionCapture(capture_request)
        with SessionLock(capture.lock_path) as lock:
            if not lock.is_held:
                raise StorageFailed(
                    f"another process records a reflection of the session '{shown(request.session)}'",
                    hint="wait a moment and repeat the command, or use another --session",
                )
            capture.gather()
            return read_reflection(Path(capture.write()))
    except OSError as problem:
        raise StorageFailed(
            f"the reflection could not be written: {problem.strerror}: {shown(problem.filename or '')}",
            hint="check the folder, or set another one with REFLECTION_DIR",
        ) from problem


def all_reflections(context: Context) -> StoredReflections:
    """Every reflection of the workspace."""
    return read_reflections(folder_of(context))


def find(context: Context, name: str | None) -> Stored:
    """The reflection whose file name starts with `name`; for None, the last one."""
    reflections = all_reflections(context).stored
    if not reflections:
        raise UnknownReflection("this workspace has no reflections", hint="record one with `loopwright reflect`")
    if name is None:
        return reflections[-1]
    matching = [stored for stored in reflections if stored.name.startswith(name)]
    if len(matching) == 1 or (matching and matching[0].name == name):
        return matching[0]
    names = ", ".join(stored.name for stored in (matching or reflections)[-3:])
    reason = (
        f"{len(matching)} reflections start with '{shown(name)}'"
        if matching
        else f"there is no reflection '{shown(name)}'"
    )
    raise UnknownReflection(reason, hint=f"list all with `loopwright reflect list`; the last are: {names}")


def export(stored: Sequence[Stored], form: Literal["jsonl", "csv"]) -> Iterator[str]:
    """The reflections as text, one line each."""
    if form == "jsonl":
        for item in stored:
            record = {"name": item.name, "point": item.point, "reflection": codec.to_builtins(item.reflection)}
            yield json.dumps(record, ensure_ascii=False) + "\n"
        return
    buffer = io.StringIO()
    rows = csv.writer(buffer, lineterminator="\n")
    rows.writerow(_COLUMNS)
    for item in stored:
        rows.writerow(_row(item))
    yield buffer.getvalue()


def _row(stored: Stored) -> list[object]:
    reflection, risk, made = stored.reflection, stored.reflection.risk, stored.reflection.provenance
    wrong = reflection.most_likely_wrong
    return [
        stored.name, stored.point or "", reflection.timestamp, reflection.session_id, reflection.task_ref,
        reflection.agent, reflection.repo, "" if reflection.confidence is None else reflection.confidence,
        wrong.surface if wrong else "", wrong.description if wrong else "", reflection.known_not_in_diff or "",
        risk.needs_review, risk.score, risk.surface, risk.reason, "\n".join(reflection.files_changed), made.degraded,
        made.reflection_attempt, made.reflection_mode,
    ]  # fmt: skip
