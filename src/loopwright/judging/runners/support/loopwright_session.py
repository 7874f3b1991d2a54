"""Writes the results of one test session as NDJSON: a start line, a line per test, the changed state, an end line.

Runs inside the user's test programs, also on old versions of Python, and never fails there. The folder for the reports
is removed from the environment during a session: runners that a test starts are part of the test and report nothing.

The product may replace what writes the report. So functions are bound here before the product runs, as in
`loopwright_state`, and a report that lost a line has no end.
"""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable
from json import load
from json.encoder import encode_basestring_ascii
from os import close, getpid, write
from os import open as open_file
from time import time_ns
from typing import Any

from loopwright_state import UNKNOWN, limited

# Functions of this module look built-in names up here.
__builtins__ = dict(vars(builtins))
FOLDER = "LOOPWRIGHT_REPORTS"
SELECTION = "selection.json"
LONGEST_TEXT = 20_000
_TO_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
_SEPARATOR = os.sep


class Session:
    """One session of one runner in this process."""

    def __init__(
        self, folder: str, runner: str, version: str, root: str, changed: Callable[[], list[str]] | None
    ) -> None:
        self._folder = folder
        # Lists what changed in the state of the process; None if that can't be known.
        self._changed = changed
        # What changed in other processes of the session.
        self.changed_elsewhere: list[str] = []
        self.selected = _SELECTED if folder == _FOLDER else _selected_files(folder)
        self._process = getpid()
        self._lost_a_line = False
        self._path = f"{folder}{_SEPARATOR}{runner}-{self._process}-{time_ns()}.ndjson"
        self._write({"kind": "start", "runner": runner, "version": version, "root": root})

    def add(self, file: str, group: str, name: str, status: str, seconds: float, message: str, trace: str) -> None:
        """Write the result of one test."""
        line = {"kind": "test", "file": file, "group": group, "name": name, "status": status}
        texts = {"message": message[:LONGEST_TEXT], "trace": trace[-LONGEST_TEXT:]}
        self._write({**line, **texts, "ms": seconds})

    def lose(self) -> None:
        """Note that a result can't be written: the report is incomplete then."""
        self._lost_a_line = True

    def end(self, early: str) -> None:
        """Write the end line. `early` says why tests may be missing; else it is empty."""
        names = {UNKNOWN} if self._changed is None else {*self._changed(), *self.changed_elsewhere}
        self._write({"kind": "state", "changed": limited(names)})
        self._write({"kind": "end", "early": early})
        os.environ[FOLDER] = self._folder

    def _write(self, line: dict[str, Any]) -> None:
        # A forked child has a copy of the session. Its results belong to the test that forked it.
        if getpid() != self._process or self._lost_a_line:
            return
        try:
            data = (_encoded(line) + "\n").encode("ascii")
            # Opened for each line: a test may close all files of the process.
            handle = open_file(self._path, _TO_APPEND, 0o600)
            try:
                is_whole = write(handle, data) == len(data)
            finally:
                close(handle)
        except Exception:
            is_whole = False
        # Then the end line is missing as well, and the reader notices that.
        self._lost_a_line = not is_whole


def _selected_files(folder: str) -> list[str]:
    """The test files to run, as ends of their paths; empty: all of them."""
    try:
        with open(folder + _SEPARATOR + SELECTION, encoding="utf-8") as file:
            return [str(name) for name in load(file)]
    except (OSError, ValueError):
        return []


def is_selected(path: str, selected: list[str]) -> bool:
    """Whether a test file is one of those to run."""
    return any(path == name or path.endswith("/" + name) for name in selected) or not selected


def _encoded(value: Any) -> str:
    """JSON, by a function in C: a number is a duration in seconds and is written in milliseconds."""
    if isinstance(value, dict):
        return "{" + ", ".join([_encoded(key) + ": " + _encoded(part) for key, part in value.items()]) + "}"
    if isinstance(value, list):
        return "[" + ", ".join([_encoded(part) for part in value]) + "]"
    if isinstance(value, str):
        return encode_basestring_ascii(str.encode(value, "utf-8", "backslashreplace").decode("utf-8"))
    return "%.3f" % (value * 1000)


# Now: the product may change it, or replace what reads it.
_FOLDER = os.environ.get(FOLDER, "")
_SELECTED = _selected_files(_FOLDER) if _FOLDER else []


def open_session(runner: str, version: str, root: str, changed: Callable[[], list[str]] | None) -> Session | None:
    """A session, if reports are requested and this process is not part of another session's test."""
    folder = os.environ.pop(FOLDER, None)
    return Session(folder, runner, version, root, changed) if folder else None
