"""Captures one reflection: facts from git, the agent's self-report, the risk floor, one file.

A problem on the way leaves a field out and marks the record as `degraded`; an unknown change requires review. There is
no record only if no folder is writable.
"""

from __future__ import annotations

import os
import time

from loopwright.reflection.capture import change_now, folder
from loopwright.reflection.capture.self_report import MOST_BYTES, SelfReport, read_report, without_secrets
from loopwright.reflection.capture.settings import CaptureSettings
from loopwright.reflection.risk import Claim, evaluate_risk_floor, raised_by
from loopwright.reflection.rule_set import Frozen
from loopwright.workspace import names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

SCHEMA = "reflection.v1"
_LONGEST_TEXT = 4096
_MOST_FILES = 10_000


class CaptureRequest(Frozen):
    """What is known when a reflection is captured. `until` is a time of the monotonic clock."""

    cwd: str
    session: str
    mode: str
    environment: Mapping[str, str]
    until: float
    is_sound: bool = True
    point: str | None = None
    report: bytes | None = None
    # Whether the settings may choose the folder. It may turn out not to be writable.
    may_choose: bool = True

    @property
    def home(self) -> str:
        """The user's home folder."""
        return self.environment.get("HOME") or os.path.expanduser("~")


class ReflectionCapture:
    """Captures one reflection: create it with its folder, then call `gather`, then `write`."""

    def __init__(self, request: CaptureRequest) -> None:
        self._request = request
        self._repo = change_now.repository_above(request.cwd) if request.cwd else None
        root = names.project_above(request.cwd, request.home) if request.cwd else request.cwd
        self._settings = CaptureSettings(root, request.home, request.environment)
        self._now = change_now.NOTHING
        self._moment_ms = time.time_ns() // 1_000_000
        self._is_sound = request.is_sound and self._settings.is_sound
        self.session = folder.safe_name(request.session or folder.UNKNOWN)
        self.folder = self._settings.make_folder(may_choose=request.may_choose)

    @property
    def lock_path(self) -> str:
        """The lock file of the session."""
        return os.path.join(self.folder, f"{self.session}.lock")

    @property
    def _base_path(self) -> str:
        return os.path.join(self.folder, f"{self.session}.base")

    def gather(self) -> None:
        """Collect from git what changed since the session started."""
        if self._repo is None:
            return
        noted = folder.read_bounded(self._base_path, 200, follow=False) or b""
        base = self._request.environment.get("REFLECTION_BASE") or noted.decode("ascii", "replace").strip()
        self._now = change_now.read(
            self._repo, self._settings.root, base, until=self._request.until, home=self._request.home
        )

    def mark_incomplete(self) -> None:
        """Mark the change as incomplete after an interruption."""
        self._now = change_now.ChangeNow(self._now.change, (*self._now.unknown, "it was interrupted"))

    def note_base(self) -> None:
        """Record the commit at the session's start; the first record of a session is kept."""
        if self._repo is not None and (commit := change_now.head(self._repo, until=self._request.until)):
            folder.create(self._base_path, commit.encode() + b"\n")

    def write(self) -> str:
        """Write what is known so far, and return the file's path."""
        name = folder.free_name(self.folder, self.session, self._moment_ms, self._request.point)
        data = self._request.report
        if data is not None:
            self._write(name, read_report(data))
        elif (data := self._left_report()) is None:
            self._write(name, SelfReport())
        else:
            report = read_report(data)
            folder.merged_once(
                self.folder, data, name, lambda is_new: self._write(name, report if is_new else SelfReport())
            )
        return os.path.join(self.folder, name)

    def _left_report(self) -> bytes | None:
        return folder.read_bounded(self._settings.report, MOST_BYTES, follow=self._settings.report_is_chosen)

    def _write(self, name: str, report: SelfReport) -> None:
        record: dict[str, Any] = without_secrets(self.record(report), self._request.environment)
        if self._request.point is not None:
            record = {"point": self._request.point, "reflection": record}
        folder.write_record(self.folder, name, record)

    def record(self, report: SelfReport) -> dict[str, Any]:
        """All fields of `reflection.v1`."""
        repo = os.path.basename(self._repo or self._settings.root) or "root"
        branch = change_now.branch_of(self._repo) if self._repo else "none"
        environment = self._request.environment
        files = self._now.change.shown_files()
        is_complete = self._is_sound and not self._now.unknown and report.is_complete and len(files) <= _MOST_FILES
        return {
            "schema": SCHEMA,
            "task_ref": _text(environment.get("REFLECTION_TASK_REF") or f"{repo}@{branch}"),
            "agent": _text(environment.get("REFLECTION_AGENT") or "unknown"),
            "session_id": _text(self._request.session or folder.UNKNOWN),
            "timestamp": folder.iso(self._moment_ms),
            "repo": _text(repo),
            "confidence": report.confidence,
            "most_likely_wrong": report.most_likely_wrong,
            "known_not_in_diff": report.known_not_in_diff,
            "risk": self._risk(report),
            "files_changed": files[:_MOST_FILES],
            "provenance": {
                "source": "stop-hook",
                "reflection_attempt": folder.attempts_so_far(self.folder, self.session) + 1,
                "degraded": not is_complete,
                "reflection_mode": self._request.mode,
            },
        }

    def _risk(self, report: SelfReport) -> dict[str, object]:
        """The risk floor of the change. The agent's own report and unknown changes can only raise it."""
        change, floor = self._now.change, self._settings.floor
        verdict = evaluate_risk_floor(
            change.files, change.insertions, change.deletions, floor.threshold, floor.rules, change.kinds, change.lost
        )
        wrong = report.most_likely_wrong
        record = raised_by(verdict, Claim(wrong["surface"] if wrong else None, report.confidence)).record()
        if self._now.unknown:
            reason = f"{record['reason']}; not fully known, so it needs review: {'; '.join(self._now.unknown)}"
            score = max(float(str(record["score"])), floor.threshold)
            record |= {"needs_review": True, "score": score, "reason": reason}
        return record


def _text(text: str) -> str:
    """Text that JSON can hold: invalid bytes are shown as escapes."""
    try:
        return text[:_LONGEST_TEXT].encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can express
        return text[:_LONGEST_TEXT].encode("utf-8", "backslashreplace").decode()
