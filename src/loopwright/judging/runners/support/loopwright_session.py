"""Writes the results of one test session as NDJSON: a start line, a line per test, the changed state, an end line.

Runs inside the user's test programs, also on old versions of Python, and never fails there. The folder for the reports
is removed from the environment during a session: runners that a test starts are part of the test and report nothing.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from typing import Any

from loopwright_state import MOST_NAMES

# Lists what changed in the state of the process; None if that is not known.
Changed = Callable[[], Any]
FOLDER = "LOOPWRIGHT_REPORTS"
SELECTION = "selection.json"
LONGEST_TEXT = 20_000


class Session:
    """One session of one runner in this process."""

    def __init__(self, folder: str, runner: str, version: str, root: str, changed: Changed) -> None:
        self._folder = folder
        self._changed = changed
        # What changed in other processes of the session.
        self.changed_elsewhere: list[str] = []
        self.selected = _selected_files(folder)
        self._process = os.getpid()
        self._path = os.path.join(folder, f"{runner}-{self._process}-{time.time_ns()}.ndjson")
        self._write({"kind": "start", "runner": runner, "version": version, "root": root})

    def add(self, file: str, group: str, name: str, status: str, seconds: float, message: str, trace: str) -> None:
        """Write the result of one test."""
        line = {"kind": "test", "file": file, "group": group, "name": name, "status": status}
        texts = {"message": message[:LONGEST_TEXT], "trace": trace[-LONGEST_TEXT:]}
        self._write({**line, **texts, "ms": round(seconds * 1000, 3)})

    def end(self, early: str) -> None:
        """Write the end line. `early` says why tests may be missing; else it is empty."""
        changed = self._changed()
        if changed is not None:
            self._write({"kind": "state", "changed": sorted({*changed, *self.changed_elsewhere})[:MOST_NAMES]})
        self._write({"kind": "end", "early": early})
        os.environ[FOLDER] = self._folder

    def _write(self, line: dict[str, Any]) -> None:
        # A forked child has a copy of the session. Its results belong to the test that forked it.
        if os.getpid() != self._process:
            return
        try:
            data = (json.dumps({key: _clean(value) for key, value in line.items()}) + "\n").encode("ascii")
            # Opened for each line: a test may close all files of the process.
            handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0), 0o600)
            try:
                os.write(handle, data)
            finally:
                os.close(handle)
        except Exception:
            return  # then the end line is missing as well, and the reader notices that


def _selected_files(folder: str) -> list[str]:
    """The test files to run, as ends of their paths; empty: all of them."""
    try:
        with open(os.path.join(folder, SELECTION), encoding="utf-8") as file:
            return [str(name) for name in json.load(file)]
    except (OSError, ValueError):
        return []


def is_selected(path: str, selected: list[str]) -> bool:
    """Whether a test file is one of those to run."""
    return any(path == name or path.endswith("/" + name) for name in selected) or not selected


def _clean(value: Any) -> Any:
    if isinstance(value, list):
        return [_clean(part) for part in value]
    return value.encode("utf-8", "backslashreplace").decode("utf-8") if isinstance(value, str) else value


def open_session(runner: str, version: str, root: str, changed: Changed) -> Session | None:
    """A session, if reports are requested and this process is not part of another session's test."""
    folder = os.environ.pop(FOLDER, None)
    return Session(folder, runner, version, root, changed) if folder else None
