"""Tasks in versioned files, from their history: ticked checkboxes, changed status lines, moved files.

Reads added and removed lines, oldest commit first. Does not know what the tasks led to.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Final

import msgspec

from loopwright.analysis.preregistered import TASK_FILES
from loopwright.errors import GitFailed
from loopwright.kernel.git_history import History

_CHECKBOX: Final = re.compile(TASK_FILES.checkbox)
_STATUS: Final = re.compile(TASK_FILES.status_line, re.IGNORECASE)
_LONGEST: Final = 2000
Identity = tuple[str, str]


class Completion(msgspec.Struct):
    """A completed task: its commit, its time, and the times when it was reopened."""

    commit: str
    completed: int
    reopened: list[int]


class _Touch(msgspec.Struct):
    """What one commit did to one file: the texts of its checkboxes by mark, and its status."""

    path: str
    is_new: bool = False
    is_gone: bool = False
    ticked: dict[str, None] = msgspec.field(default_factory=dict)
    open: dict[str, None] = msgspec.field(default_factory=dict)
    removed: dict[str, None] = msgspec.field(default_factory=dict)
    status: str | None = None


def read_task_files(history: History, tips: tuple[str, ...], globs: Iterable[str]) -> tuple[list[Completion], int]:
    """Completed tasks, and the total number of tasks."""
    # Contents may hold anything, including NULs, so the text before each commit must not be guessable.
    nonce = os.urandom(12).hex()
    reader = _PatchReader(f"\0{nonce} ")
    try:
        history.stream(
            "-c", "core.quotePath=false", "log", "--reverse", "-p", "-U0", "--no-renames", "--no-ext-diff",
            "--no-textconv", "--no-color", f"--format=tformat:%x00{nonce} %H %ct", *tips, "--",
            *(f":(glob,icase){glob}" for glob in globs), on_output=reader.feed,
        )  # fmt: skip
    except GitFailed as problem:
        if not history.is_partial:
            raise
        raise GitFailed(
            "this partial clone lacks the contents of the task files",
            hint="analyse a full clone, or an export of the board: loopwright analyze board-history FILE",
        ) from problem
    reader.finish()
    return reader.tasks.completions(), len(reader.tasks.known)


class Tasks:
    """The state of every task while commits are applied."""

    def __init__(self) -> None:
        self.known: dict[Identity, Completion | None] = {}
        self._done: list[Completion] = []
        self._boxed: set[str] = set()

    def completions(self) -> list[Completion]:
        """All completions so far."""
        return self._done

    def apply(self, commit: str, time: int, touches: list[_Touch]) -> None:
        """Apply one commit's changes to task files."""
        removed = {text: (touch.path, text) for touch in touches for text in touch.removed}
        gone = {PurePosixPath(touch.path).name: (touch.path, "") for touch in touches if touch.is_gone}
        for touch in touches:
            for text in (*touch.ticked, *touch.open):
                self._move(removed.get(text), (touch.path, text))
                self._set((touch.path, text), text in touch.ticked, commit, time)
            if touch.ticked or touch.open:
                self._boxed.add(touch.path)
            self._file(touch, gone.get(PurePosixPath(touch.path).name), commit, time)

    def _file(self, touch: _Touch, from_: Identity | None, commit: str, time: int) -> None:
        """A file itself is a task if it has a status line, or moves into a folder for completed tasks."""
        identity = (touch.path, "")
        if touch.is_new:
            self._move(from_, identity)
        moved_to_done = touch.is_new and from_ is not None and _is_done_folder(touch.path)
        if touch.status is not None:
            self._set(identity, touch.status in TASK_FILES.done_words, commit, time)
        elif moved_to_done and touch.path not in self._boxed:
            self._set(identity, True, commit, time)

    def _move(self, from_: Identity | None, to: Identity) -> None:
        if from_ is not None and from_ != to and from_ in self.known and to not in self.known:
            self.known[to] = self.known.pop(from_)

    def _set(self, identity: Identity, is_done: bool, commit: str, time: int) -> None:
        current = self.known.setdefault(identity, None)
        if is_done and current is None:
            done = Completion(commit, time, [])
            self._done.append(done)
            self.known[identity] = done
        elif not is_done and current is not None:
            current.reopened.append(time)
            self.known[identity] = None


class _PatchReader:
    """Turns git's patches into touches, line by line."""

    def __init__(self, mark: str) -> None:
        self.tasks = Tasks()
        self._mark = mark.encode()
        self._rest = b""
        self._commit: tuple[str, int] | None = None
        self._touches: list[_Touch] = []
        self._in_lines = False

    def feed(self, data: bytes) -> None:
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()[-(1 << 20) :]
        for line in lines:
            self._take(line)

    def finish(self) -> None:
        self._take(self._rest)
        self._flush()

    def _take(self, line: bytes) -> None:
        if line.startswith(self._mark):
            self._flush()
            name, _, time = line[len(self._mark) :].decode("ascii", "replace").partition(" ")
            self._commit = (name, int(time) if time.isdigit() else 0)
            return
        text = line[:_LONGEST].decode("utf-8", "replace")
        if line.startswith(b"diff --git "):
            self._touches.append(_Touch(""))
            self._in_lines = False
        elif not self._touches:
            return
        elif line.startswith(b"@@ "):
            self._in_lines = True
        elif self._in_lines:
            _read_line(self._touches[-1], text)
        else:
            _read_head(self._touches[-1], text)

    def _flush(self) -> None:
        if self._commit is not None:
            self.tasks.apply(*self._commit, [touch for touch in self._touches if touch.path])
        self._touches = []


def _read_head(touch: _Touch, text: str) -> None:
    if text.startswith("new file mode"):
        touch.is_new = True
    elif text.startswith("deleted file mode"):
        touch.is_gone = True
    elif text.startswith(("--- a/", "+++ b/")):
        touch.path = text[6:].rstrip("\t")


def _read_line(touch: _Touch, text: str) -> None:
    box = _CHECKBOX.match(text[1:].rstrip("\r"))
    if box is not None:
        kept = touch.removed if text.startswith("-") else touch.open if box["mark"] == " " else touch.ticked
        kept[box["text"]] = None
    elif text.startswith("+") and (status := _STATUS.match(text[1:].rstrip("\r"))):
        touch.status = status["status"].strip().lower().replace(" ", "_").replace("-", "_")


def _is_done_folder(path: str) -> bool:
    return any(part.lower() in TASK_FILES.done_folders for part in PurePosixPath(path).parts[:-1])
