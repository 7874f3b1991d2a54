"""`loopwright reflect`: take a reflection now, by hand; list, show and export what is there."""

from __future__ import annotations

import csv
import io
import json
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
from loopwright.reflection.store import Stored, StoredReflections, read_one, read_reflections
from loopwright.stages.context import Context
from loopwright.stages.reflecting import capture_mode, folder_of

_WITHIN_S = 60.0
_COLUMNS = (
    "name", "point", "timestamp", "session_id", "task_ref", "agent", "repo", "confidence", "wrong_surface",
    "wrong_description", "known_not_in_diff", "needs_review", "score", "surface", "reason", "files_changed", "degraded",
    "reflection_attempt", "reflection_mode",
)  # fmt: skip


class ReportInput(msgspec.Struct, frozen=True):
    """What the doer says of its own work, as `reflection-input.json` would say it."""

    confidence: float | None = None
    most_likely_wrong: MostLikelyWrong | None = None
    known_not_in_diff: str | None = None


class ReflectionRequest(msgspec.Struct, frozen=True):
    """What a person wants recorded beyond what git says."""

    session: str = "manual"
    point: Point | None = None
    report: ReportInput | bytes | None = None
    task_ref: str | None = None
    agent: str | None = None


def reflect(context: Context, wanted: ReflectionRequest) -> Stored:
    """Take one reflection and return it as it was written."""
    said = {"REFLECTION_TASK_REF": wanted.task_ref, "REFLECTION_AGENT": wanted.agent}
    environment = {**context.environment, **{name: value for name, value in said.items() if value is not None}}
    report = codec.to_json(wanted.report) if isinstance(wanted.report, ReportInput) else wanted.report
    occasion = CaptureRequest(
        cwd=str(context.project),
        session=wanted.session,
        mode=capture_mode(context),
        environment=environment,
        within_s=_WITHIN_S,
        point=wanted.point,
        report=report,
    )
    try:
        capture = ReflectionCapture(occasion)
        with SessionLock(capture.lock_path) as lock:
            if not lock.is_held:
                raise StorageFailed(
                    f"a reflection of the session '{shown(wanted.session)}' is being taken right now",
                    hint="wait a moment, or use another --session",
                )
            capture.gather()
            return read_one(Path(capture.write()))
    except OSError as problem:
        raise StorageFailed(
            f"no reflection could be written: {problem.strerror}: {shown(problem.filename or '')}",
            hint="check that folder, or choose another with REFLECTION_DIR",
        ) from problem


def shelf(context: Context) -> StoredReflections:
    """Every reflection of the workspace."""
    return read_reflections(folder_of(context))


def find(context: Context, name: str | None) -> Stored:
    """The reflection that is meant: a file name, the start of one, or None for the last."""
    found = shelf(context)
    if not found.stored:
        raise UnknownReflection("there is no reflection in this workspace", hint="`loopwright reflect` takes one")
    if name is None:
        return found.stored[-1]
    matching = [one for one in found.stored if one.name.startswith(name)]
    if len(matching) == 1 or (matching and matching[0].name == name):
        return matching[0]
    names = ", ".join(one.name for one in (matching or found.stored)[-3:])
    reason = (
        f"'{shown(name)}' fits {len(matching)} reflections" if matching else f"there is no reflection '{shown(name)}'"
    )
    raise UnknownReflection(reason, hint=f"`loopwright reflect list` shows all; the last are: {names}")


def export(stored: Sequence[Stored], form: Literal["jsonl", "csv"]) -> Iterator[str]:
    """These reflections, a line each."""
    if form == "jsonl":
        for one in stored:
            record = {"name": one.name, "point": one.point, "reflection": codec.to_builtins(one.reflection)}
            yield json.dumps(record, ensure_ascii=False) + "\n"
        return
    buffer = io.StringIO()
    rows = csv.writer(buffer, lineterminator="\n")
    rows.writerow(_COLUMNS)
    for one in stored:
        rows.writerow(_row(one))
    yield buffer.getvalue()


def _row(one: Stored) -> list[object]:
    reflection, risk, made = one.reflection, one.reflection.risk, one.reflection.provenance
    wrong = reflection.most_likely_wrong
    return [
        one.name, one.point or "", reflection.timestamp, reflection.session_id, reflection.task_ref, reflection.agent,
        reflection.repo, "" if reflection.confidence is None else reflection.confidence, wrong.surface if wrong else "",
        wrong.description if wrong else "", reflection.known_not_in_diff or "", risk.needs_review, risk.score,
        risk.surface, risk.reason, "\n".join(reflection.files_changed), made.degraded, made.reflection_attempt,
        made.reflection_mode,
    ]  # fmt: skip
