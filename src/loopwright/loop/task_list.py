"""The task list beside the state file: one JSON object a line, ended by a newline and by nothing else. Pure."""

from __future__ import annotations

from typing import Any

from loopwright.kernel import codec
from loopwright.loop.model import Task
from loopwright.loop.outside import NotTaken, tasks_of


def tasks_in(data: bytes) -> tuple[Task, ...]:
    """Its tasks; `NotTaken` names the first line that is none."""
    lines: list[dict[str, Any]] = []
    for number, raw in _lines(data):
        try:
            lines.append(codec.from_json(raw, dict))
        except codec.Undecodable as problem:
            raise NotTaken(f"line {number}: {problem}") from problem
    return tasks_of(lines)


def tasks_left_in(data: bytes) -> tuple[Task, ...]:
    """What can be read of a list that is damaged: each line for itself, the first of an id."""
    found: dict[str, Task] = {}
    for _, raw in _lines(data):
        try:
            (task,) = tasks_of([codec.from_json(raw, dict)])
        except (codec.Undecodable, NotTaken):
            continue
        found.setdefault(task.id, task)
    return tuple(found.values())


def _lines(data: bytes) -> list[tuple[int, bytes]]:
    # Not `splitlines`: a text may hold what Unicode calls the end of a line, and JSON does not.
    return [(number, raw) for number, raw in enumerate(data.split(b"\n"), start=1) if raw.strip()]
