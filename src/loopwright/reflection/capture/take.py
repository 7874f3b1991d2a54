"""Takes one reflection: mechanical fields from git, the agent's self-report, the risk floor, one file.

Whatever goes wrong on the way is left out and the record says `degraded`; what changed and is not known asks for
review. Only where nothing can be written is there no record.
"""

from __future__ import annotations

import os
import time

from loopwright.reflection.capture import change_now, folder, session
from loopwright.reflection.capture.secrets_out import without_secrets
from loopwright.reflection.capture.self_report import MOST_BYTES, SelfReport, read_report
from loopwright.reflection.capture.settings import CaptureSettings
from loopwright.reflection.risk import Claim, evaluate_risk_floor, raised_by
from loopwright.workspace import names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

SCHEMA = "reflection.v1"
_LONGEST_TEXT = 4096
_MOST_FILES = 10_000


class Occasion:
    """What is known when a reflection is to be taken."""

    __slots__ = (
        "cwd", "environment", "home", "is_sound", "may_choose", "mode", "moment_ms", "point", "report", "session",
        "until",
    )  # fmt: skip

    def __init__(
        self,
        *,
        cwd: str,
        session: str,
        mode: str,
        environment: Mapping[str, str],
        within_s: float,
        is_sound: bool = True,
        point: str | None = None,
        report: bytes | None = None,
        may_choose: bool = True,
    ) -> None:
        self.cwd = cwd
        self.session = session
        self.mode = mode
        self.environment = environment
        self.home = environment.get("HOME") or os.path.expanduser("~")
        self.until = time.monotonic() + within_s
        self.moment_ms = time.time_ns() // 1_000_000
        self.is_sound = is_sound
        self.point = point
        self.report = report
        self.may_choose = may_choose

    def without_choice(self) -> Occasion:
        """The same, in the layout's own folder: the one that was chosen takes nothing."""
        return Occasion(
            cwd=self.cwd, session=self.session, mode=self.mode, environment=self.environment,
            within_s=self.until - time.monotonic(), is_sound=False, point=self.point, report=self.report,
            may_choose=False,
        )  # fmt: skip


class Taking:
    """One reflection on its way: made where it will be kept, then `gather`, then `write`."""

    def __init__(self, occasion: Occasion) -> None:
        self._occasion = occasion
        self._repo = change_now.repository_above(occasion.cwd) if occasion.cwd else None
        above = names.workspace_above(occasion.cwd, occasion.home) if occasion.cwd else None
        self._wanted = CaptureSettings(above or self._repo or occasion.cwd, occasion.home, occasion.environment)
        self._now = change_now.NOTHING
        self._is_sound = occasion.is_sound and self._wanted.is_sound
        self.session = session.safe_name(occasion.session or session.UNKNOWN)
        self.folder = self._wanted.make_folder(may_choose=occasion.may_choose)

    @property
    def lock_path(self) -> str:
        """The lock beside the sidecar."""
        return os.path.join(self.folder, f"{self.session}.lock")

    @property
    def _base_path(self) -> str:
        return os.path.join(self.folder, f"{self.session}.base")

    def gather(self) -> None:
        """Ask git what changed since the session's start."""
        if self._repo is None:
            return
        noted = folder.read_bounded(self._base_path, 200, follow=False) or b""
        base = self._occasion.environment.get("REFLECTION_BASE") or noted.decode("ascii", "replace").strip()
        self._now = change_now.read(
            self._repo, self._wanted.root, base, until=self._occasion.until, home=self._occasion.home
        )

    def did_not_finish(self) -> None:
        """Gathering was cut short: what is not known by now stays unknown."""
        self._now = change_now.ChangeNow(self._now.change, (*self._now.unknown, "it was cut short"))

    def note_base(self) -> None:
        """Remember where the session starts; the first note of a session stays."""
        if self._repo is not None and (commit := change_now.head(self._repo, until=self._occasion.until)):
            folder.create(self._base_path, commit.encode() + b"\n")

    def write(self) -> str:
        """Write what is known by now; returns the file's path."""
        name = folder.free_name(self.folder, self.session, self._occasion.moment_ms, self._occasion.point)
        data = self._occasion.report
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
        return folder.read_bounded(self._wanted.report, MOST_BYTES, follow=self._wanted.report_is_chosen)

    def _write(self, name: str, report: SelfReport) -> None:
        record: dict[str, Any] = without_secrets(self.record(report), self._occasion.environment)
        if self._occasion.point is not None:
            record = {"point": self._occasion.point, "reflection": record}
        folder.write_record(self.folder, name, record)

    def record(self, report: SelfReport) -> dict[str, Any]:
        """All fields of `reflection.v1`."""
        repo = os.path.basename(self._repo or self._wanted.root) or "root"
        branch = change_now.branch_of(self._repo) if self._repo else "none"
        environment = self._occasion.environment
        files = self._now.change.shown_files()
        is_whole = self._is_sound and not self._now.unknown and report.is_whole and len(files) <= _MOST_FILES
        return {
            "schema": SCHEMA,
            "task_ref": _text(environment.get("REFLECTION_TASK_REF") or f"{repo}@{branch}"),
            "agent": _text(environment.get("REFLECTION_AGENT") or "unknown"),
            "session_id": _text(self._occasion.session or session.UNKNOWN),
            "timestamp": session.iso(self._occasion.moment_ms),
            "repo": _text(repo),
            "confidence": report.confidence,
            "most_likely_wrong": report.most_likely_wrong,
            "known_not_in_diff": report.known_not_in_diff,
            "risk": self._risk(report),
            "files_changed": files[:_MOST_FILES],
            "provenance": {
                "source": "stop-hook",
                "reflection_attempt": session.attempts_so_far(self.folder, self.session) + 1,
                "degraded": not is_whole,
                "reflection_mode": self._occasion.mode,
            },
        }

    def _risk(self, report: SelfReport) -> dict[str, object]:
        """The risk floor of the change; the doer's own claim can raise it, and so does what is not known."""
        change, floor = self._now.change, self._wanted.floor
        verdict = evaluate_risk_floor(
            change.files, change.insertions, change.deletions, floor.threshold, floor.rules, change.kinds
        )
        wrong = report.most_likely_wrong
        record = raised_by(verdict, Claim(wrong["surface"] if wrong else None, report.confidence)).record()
        if self._now.unknown:
            said = f"{record['reason']}; not all of it is known, so it needs review: {'; '.join(self._now.unknown)}"
            record |= {"needs_review": True, "score": max(float(str(record["score"])), floor.threshold), "reason": said}
        return record


def _text(text: str) -> str:
    """What JSON and every reader of it can hold: bytes that are no text are shown escaped."""
    try:
        return text[:_LONGEST_TEXT].encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # half a character, as JSON can name it
        return text[:_LONGEST_TEXT].encode("utf-8", "backslashreplace").decode()
