"""The output of the agents and commands of a loop: redacted, one file for each program."""

from __future__ import annotations

import os
from collections import deque
from pathlib import Path

import msgspec

from loopwright.loop.model import Loop
from loopwright.workspace.layout import Layout

_BACKLOG = 256 << 10
_ACTIONS_KEPT = 8


class Printed(msgspec.Struct, frozen=True):
    """Lines that a program printed since the last look; `unfinished` is a last line without its end."""

    name: str
    lines: tuple[str, ...]
    unfinished: str = ""


def agent_logs(layout: Layout, loop_id: str, action_id: str = "") -> list[Path]:
    """The logs of agents and of the commands of hypotheses, oldest first; of one action, or of all."""
    turns = layout.loop(loop_id).progress / "turns"
    logs: list[Path] = []
    for name in _names(turns, action_id):
        path = turns / name
        logs += [path] if name.endswith(".log") else [path / log for log in _names(path, "program-")]
    return _by_age(logs)


def validation_logs(layout: Layout, loop_id: str) -> list[Path]:
    """The logs of the validations of a loop, oldest first."""
    return _by_age(
        [
            layout.runs / run / "logs" / log
            for run in _names(layout.runs, f"{loop_id}-validate")
            for log in _names(layout.runs / run / "logs")
        ]
    )


def all_logs(layout: Layout, loop_id: str) -> list[Path]:
    """The logs of agents and validations, oldest first."""
    return _by_age([*agent_logs(layout, loop_id), *validation_logs(layout, loop_id)])


class Tail:
    """Reads new output since the last look. The first look reads the end of the newest log; with `whole`, all logs."""

    def __init__(self, layout: Layout, *, whole: bool = False) -> None:
        self._layout = layout
        self._whole = whole
        self._actions: deque[str] = deque(maxlen=_ACTIONS_KEPT)
        self._offsets: dict[Path, int] = {}
        self._is_first = True
        self._old: list[Path] = []  # logs of actions that ended before the first look
        self._rests: dict[Path, bytes] = {}

    def read(self, loop: Loop, started: tuple[str, ...] = ()) -> tuple[Printed, ...]:
        """The new output, program by program; `started` are the actions that started since the last look."""
        if self._is_first:
            self._is_first = False
            logs = [path for path in all_logs(self._layout, loop.loop_id) if _size(path)]
            if not self._whole:
                self._offsets = {path: _size(path) for path in logs[:-1]}
                self._offsets |= {path: max(0, _size(path) - _BACKLOG) for path in logs[-1:]}
            self._old = logs if self._whole else logs[-1:]
        at = (loop.under_way.id,) if loop.under_way is not None else ()
        self._actions += (name for name in (*started, *at) if name not in self._actions)
        turns = [log for action in self._actions for log in agent_logs(self._layout, loop.loop_id, action)]
        logs = _by_age([*turns, *validation_logs(self._layout, loop.loop_id), *self._old])
        outputs = (self._read_on(path, is_over=not at or path != logs[-1]) for path in dict.fromkeys(logs))
        return tuple(printed for printed in outputs if printed is not None)

    def _read_on(self, path: Path, *, is_over: bool) -> Printed | None:
        """The new output in one log; if the program ended, its last line counts even without a line break."""
        offset, rest = self._offsets.get(path, 0), self._rests.get(path, b"")
        data = _read(path, offset) if _size(path) > offset else b""
        if not data and not (rest and is_over):
            return None
        self._offsets[path] = offset + len(data)
        *lines, rest = (rest + data).split(b"\n")
        if rest and is_over:
            lines, rest = [*lines, rest], b""
        self._rests[path] = rest
        return Printed("/".join(path.parts[-3:]), tuple(_text(line) for line in lines), _text(rest))


def _read(path: Path, offset: int) -> bytes:
    try:
        with path.open("rb") as stream:
            stream.seek(offset)
            return stream.read()
    except OSError:
        return b""  # removed by `gc` just now


def _text(line: bytes) -> str:
    """The line as a terminal shows it in the end: a progress bar overwrites itself."""
    return line.decode("utf-8", "replace").rstrip("\r").rpartition("\r")[2]


def _by_age(paths: list[Path]) -> list[Path]:
    return sorted(paths, key=lambda path: (file_stat(path)[1], path))


def _size(path: Path) -> int:
    return file_stat(path)[2]


def file_stat(path: Path) -> tuple[int, int, int]:
    """Number, time and size of a file; zeros if it is missing."""
    try:
        status = path.stat()
    except OSError:
        return (0, 0, 0)
    return (status.st_ino, status.st_mtime_ns, status.st_size)


def _names(folder: Path, start: str = "") -> list[str]:
    try:
        return [name for name in os.listdir(folder) if name.startswith(start)]
    except OSError:
        return []
