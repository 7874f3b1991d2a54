"""Keeps what a doer said at one of three points of its work, as `reflection.v1` of work that git does not see yet.

The hook asks git what changed; here the work is in a sandbox, and whoever asks knows its files. Rules, threshold and
folder are found as the hook finds them: by variables, the user's file, and the workspace's as far as that is trusted.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from loopwright.reflection.capture import folder as records
from loopwright.reflection.capture import session as sessions
from loopwright.reflection.capture.secrets_out import without_secrets
from loopwright.reflection.capture.wanted import Wanted
from loopwright.reflection.change import Change
from loopwright.reflection.model import (
    SCHEMA,
    Capture,
    CaptureMode,
    MostLikelyWrong,
    Point,
    Provenance,
    Reflection,
    Risk,
)
from loopwright.reflection.risk import Claim, evaluate_risk_floor, raised_by
from loopwright.workspace.layout import user_home

_MOST_FILES = 10_000
_LONGEST_TEXT = 4096


class SelfRating(msgspec.Struct, frozen=True, kw_only=True):
    """What a doer answers that is asked how sure it is."""

    confidence: Annotated[float, Meta(ge=0, le=1)]
    most_likely_wrong: MostLikelyWrong | None = None
    known_not_in_diff: str | None = None


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked about: whose work, under which names it is found again, and the files of it so far."""

    root: Path
    environment: Mapping[str, str]
    mode: CaptureMode
    task_ref: str
    session: str
    agent: str
    files: Sequence[str] = ()


def keep_point(work: Work, point: Point, said: SelfRating | None, moment_ms: int) -> Path:
    """Write one capture; None is an answer that did not come: the record says `degraded`, and no confidence."""
    wanted = _wanted(work)
    folder = _folder(wanted)
    name = records.free_name(folder, sessions.safe_name(work.session), moment_ms, point)
    capture = Capture(point=point, reflection=_reflection(work, wanted, said, moment_ms))
    records.write_record(folder, name, without_secrets(msgspec.to_builtins(capture), work.environment))
    return Path(folder, name)


def has_point(work: Work, point: Point) -> bool:
    """Whether this session was asked at this point already."""
    found = _wanted(work)
    name_of = sessions.safe_name(work.session)
    # Another session's name may begin like this one: only what is as long is of this one.
    start, end, length = f"{name_of}-", f".{point}{sessions.CAPTURE_SUFFIX}", len(sessions.file_name(name_of, 0, point))
    folder = Path(found.folder or found.own_folder)
    names = os.listdir(folder) if folder.is_dir() else []
    return any(len(name) == length and name.startswith(start) and name.endswith(end) for name in names)


def _wanted(work: Work) -> Wanted:
    return Wanted(str(work.root), work.environment.get("HOME") or str(user_home()), work.environment)


def _folder(wanted: Wanted) -> str:
    if wanted.folder is not None:
        Path(wanted.folder).mkdir(parents=True, exist_ok=True)
        return wanted.folder
    records.make_workspace_folder(wanted.root, wanted.flavour)
    return wanted.own_folder


def _reflection(work: Work, wanted: Wanted, said: SelfRating | None, moment_ms: int) -> Reflection:
    wrong, known = (said.most_likely_wrong, said.known_not_in_diff) if said is not None else (None, None)
    if wrong is not None:
        wrong = replace(wrong, description=wrong.description[:_LONGEST_TEXT])
    files = tuple(sorted(set(work.files)))
    floor = evaluate_risk_floor(files, None, None, wanted.floor.threshold, wanted.floor.rules)
    claim = Claim(wrong.surface if wrong is not None else None, said.confidence if said is not None else None)
    return Reflection(
        schema=SCHEMA,
        task_ref=work.task_ref[:_LONGEST_TEXT],
        agent=work.agent[:_LONGEST_TEXT],
        session_id=work.session[:_LONGEST_TEXT],
        timestamp=sessions.iso(moment_ms),
        repo=work.root.name or "root",
        confidence=said.confidence if said is not None else None,
        most_likely_wrong=wrong,
        known_not_in_diff=known[:_LONGEST_TEXT] if known is not None else None,
        risk=msgspec.convert(raised_by(floor, claim).record(), Risk),
        files_changed=Change(files).shown_files()[:_MOST_FILES],
        provenance=Provenance(
            source="stop-hook",
            reflection_attempt=1,
            degraded=said is None or not wanted.is_sound or len(files) > _MOST_FILES,
            reflection_mode=work.mode,
        ),
    )
