"""Takes one reflection: mechanical fields from git, the agent's self-report, the risk floor, one file.

Whatever goes wrong on the way is left out and the record says `degraded`; only where nothing can be written is
there no record.
"""

from __future__ import annotations

import os
import sys
import time

from loopwright.reflection.capture import change_now, folder, session
from loopwright.reflection.capture.self_report import MOST_BYTES, SelfReport, read_report
from loopwright.reflection.capture.wanted import Wanted
from loopwright.reflection.risk import Claim, evaluate_risk_floor, raised_by
from loopwright.workspace import names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

SCHEMA = "reflection.v1"
_LONGEST_TEXT = 4096


class Occasion:
    """What is known when a reflection is to be taken."""

    __slots__ = ("cwd", "environment", "home", "is_sound", "mode", "moment_ms", "point", "report", "session", "until")

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


class Taking:
    """One reflection on its way; `place` first, then `gather`, then `write`."""

    def __init__(self, occasion: Occasion) -> None:
        self._occasion = occasion
        self.is_sound = occasion.is_sound
        self._repo = change_now.repository_above(occasion.cwd)
        root = names.workspace_above(occasion.cwd, occasion.home) or self._repo or occasion.cwd
        self._wanted = Wanted(root, occasion.home, occasion.environment)
        self.session = session.safe_name(occasion.session)
        self._now = change_now.NOTHING
        self.folder = self._make_folder()

    def _make_folder(self) -> str:
        chosen = self._wanted.folder(self._occasion.environment)
        if chosen is not None:
            try:
                os.makedirs(chosen, exist_ok=True)
            except OSError:
                self.is_sound = False
            else:
                return chosen
        return self._own_folder()

    def _own_folder(self) -> str:
        folder.make_workspace_folder(self._wanted.root, self._wanted.flavour)
        return self._wanted.own_folder

    def fall_back(self) -> bool:
        """Where the chosen folder takes nothing (full, read-only), use the layout's own; False when that is it."""
        if self.folder == self._wanted.own_folder:
            return False
        self.is_sound = False
        self.folder = self._own_folder()
        return True

    @property
    def lock_path(self) -> str:
        """The lock beside the sidecar."""
        return os.path.join(self.folder, f"{self.session}.lock")

    @property
    def base_path(self) -> str:
        """Where the start of the session is noted."""
        return os.path.join(self.folder, f"{self.session}.base")

    def gather(self) -> None:
        """Ask git what changed since the session's start."""
        if self._repo is None:
            return
        noted = folder.read_bounded(self.base_path, 200, follow=False) or b""
        base = self._occasion.environment.get("REFLECTION_BASE") or noted.decode("ascii", "replace").strip()
        self._now = change_now.read(self._repo, self._wanted.root, base, until=self._occasion.until)
        self.is_sound = self.is_sound and self._now.is_whole

    def note_base(self) -> None:
        """Remember where the session starts; the first note of a session stays."""
        if self._repo is not None and (commit := change_now.head(self._repo, until=self._occasion.until)):
            folder.create(self.base_path, commit.encode() + b"\n")

    def write(self) -> str:
        """Write what is known by now; returns the file's path."""
        name = folder.free_name(self.folder, self.session, self._occasion.moment_ms, self._occasion.point)
        record: dict[str, Any] = self.record(self._merged(name))
        if self._occasion.point is not None:
            record = {"point": self._occasion.point, "reflection": record}
        folder.write_record(self.folder, name, record)
        return os.path.join(self.folder, name)

    def record(self, report: SelfReport) -> dict[str, Any]:
        """All fields of `reflection.v1`."""
        repo = os.path.basename(self._repo or self._wanted.root) or "root"
        environment = self._occasion.environment
        risk = self._risk(report)
        return {
            "schema": SCHEMA,
            "task_ref": _text(environment.get("REFLECTION_TASK_REF") or f"{repo}@{self._now.branch}"),
            "agent": _text(environment.get("REFLECTION_AGENT") or "unknown"),
            "session_id": _text(self._occasion.session or session.UNKNOWN),
            "timestamp": session.iso(self._occasion.moment_ms),
            "repo": _text(repo),
            "confidence": report.confidence,
            "most_likely_wrong": report.most_likely_wrong,
            "known_not_in_diff": report.known_not_in_diff,
            "risk": risk,
            "files_changed": self._now.change.shown_files(),
            "provenance": {
                "source": "stop-hook",
                "reflection_attempt": session.attempts_so_far(self.folder, self.session) + 1,
                "degraded": not (self.is_sound and report.is_whole),
                "reflection_mode": self._occasion.mode,
            },
        }

    def _merged(self, name: str) -> SelfReport:
        """The self-report, unless an earlier record has it already."""
        if self._occasion.report is not None:
            return read_report(without_secrets(self._occasion.report, self._occasion.environment))
        path, is_chosen = self._wanted.report(self._occasion.environment)
        data = folder.read_bounded(path, MOST_BYTES, follow=is_chosen)
        try:
            if data is None or not folder.claim_report(self.folder, data, name):
                return SelfReport()
        except OSError:
            return SelfReport()
        return read_report(without_secrets(data, self._occasion.environment))

    def _risk(self, report: SelfReport) -> dict[str, object]:
        """The risk floor of the change; the doer's own claim can raise it."""
        change = self._now.change
        threshold, rules, is_sound = self._wanted.floor()
        self.is_sound = self.is_sound and is_sound
        floor = evaluate_risk_floor(change.files, change.insertions, change.deletions, threshold, rules, change.kinds)
        wrong = report.most_likely_wrong
        return raised_by(floor, Claim(wrong["surface"] if wrong else None, report.confidence)).record()


def without_secrets(data: bytes, environment: Mapping[str, str]) -> bytes:
    """A report in which no secret of the environment is left: an agent may quote what it was started with."""
    # Loaded only where there is a report: the names and forms of secrets cost more than all the rest.
    __import__("loopwright.redaction.environment_values")
    known = sys.modules["loopwright.redaction.environment_values"]
    values = known.secret_values(environment).values()
    for form in sorted((form for value in values for form in known.printed_forms(value)), key=len, reverse=True):
        data = data.replace(form, b"[secret]")
    return data


def _text(text: str) -> str:
    """What JSON and every reader of it can hold: bytes that are no text are shown escaped."""
    try:
        return text[:_LONGEST_TEXT].encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # half a character, as JSON can name it
        return text[:_LONGEST_TEXT].encode("utf-8", "backslashreplace").decode()
