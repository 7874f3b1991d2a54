"""The reflection on a turn in a sandbox, as `reflection.v1`. The caller passes the changed files; git can't see them.

The record is the same for the end of a turn and for the three points at which the agent is asked for its confidence.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from loopwright.kernel import codec
from loopwright.reflection.capture import folder as reflection_files
from loopwright.reflection.capture.self_report import FIELDS, SelfReport, read_report
from loopwright.reflection.capture.settings import Floor
from loopwright.reflection.change import Change
from loopwright.reflection.model import SCHEMA, CaptureMode, MostLikelyWrong, Point, Provenance, Reflection, Risk
from loopwright.reflection.risk import Claim, evaluate_risk_floor, raised_by
from loopwright.reflection.store import decode_reflection

_MOST_FILES = 10_000
_LONGEST_TEXT = 4096
_TEXTS = ("task_ref", "agent", "session_id", "repo", "known_not_in_diff")


class SelfRating(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent answers when it is asked for its confidence."""

    confidence: Annotated[float, Meta(ge=0, le=1)]
    most_likely_wrong: MostLikelyWrong | None = None
    known_not_in_diff: str | None = None

    def as_report(self) -> SelfReport:
        """The same answer as a self-report."""
        wrong = msgspec.to_builtins(self.most_likely_wrong)
        return SelfReport(self.confidence, wrong, self.known_not_in_diff, is_complete=True)


class ReflectedWork(msgspec.Struct, frozen=True, kw_only=True):
    """The work that a reflection is about: its ids, its agent, and its files so far."""

    task_ref: str
    session: str
    agent: str
    files: tuple[str, ...] = ()


def claims_of(report: bytes, hook_records: Sequence[bytes]) -> SelfReport:
    """The agent's own report, else the report that a hook in its sandbox captured; never the hook's other fields."""
    for data in () if report else hook_records:
        with suppress(codec.Undecodable):
            captured = decode_reflection(data)
            return read_report(codec.to_json({name: getattr(captured, name) for name in FIELDS}))
    return read_report(report)


def reflection_on(
    work: ReflectedWork, report: SelfReport, floor: Floor, *, repo: str, mode: CaptureMode, at_ms: int, earlier: int
) -> Reflection:
    """The record with complete texts, because a secret is only found in a complete text."""
    files = tuple(sorted(set(work.files)))
    verdict = evaluate_risk_floor(files, threshold=floor.threshold, rules=floor.rules)
    wrong = report.most_likely_wrong
    claim = Claim(wrong["surface"] if wrong else None, report.confidence)
    return Reflection(
        schema=SCHEMA,
        task_ref=work.task_ref,
        agent=work.agent,
        session_id=work.session,
        timestamp=reflection_files.iso(at_ms),
        repo=repo or "root",
        confidence=report.confidence,
        most_likely_wrong=msgspec.convert(wrong, MostLikelyWrong | None),
        known_not_in_diff=report.known_not_in_diff,
        risk=msgspec.convert(raised_by(verdict, claim).record(), Risk),
        files_changed=Change(files).shown_files()[:_MOST_FILES],
        provenance=Provenance(
            source="stop-hook",
            reflection_attempt=earlier + 1,
            degraded=not report.is_complete or len(files) > _MOST_FILES,
            reflection_mode=mode,
        ),
    )


def without_secrets(record: Reflection, clean: Callable[[str], str]) -> Reflection:
    """The record with every text cleaned, and then cut to the allowed length."""

    def cleaned(text: str) -> str:
        return clean(text)[:_LONGEST_TEXT]

    wrong = record.most_likely_wrong
    texts = {name: cleaned(text) for name in _TEXTS if (text := getattr(record, name)) is not None}
    return replace(
        record,
        most_likely_wrong=replace(wrong, description=cleaned(wrong.description)) if wrong is not None else None,
        risk=replace(record.risk, reason=cleaned(record.risk.reason)),
        files_changed=[cleaned(path) for path in record.files_changed],
        **texts,
    )


def has_point(folder: Path, session: str, point: Point) -> bool:
    """Whether this session was already asked at this point."""
    safe_name = reflection_files.safe_name(session)
    example = reflection_files.file_name(safe_name, 0, point)
    names = os.listdir(folder) if folder.is_dir() else []
    # Another session's name may begin with this name, so the length must match, too.
    start, end = f"{safe_name}-", f".{point}{reflection_files.CAPTURE_SUFFIX}"
    return any(len(name) == len(example) and name.startswith(start) and name.endswith(end) for name in names)
