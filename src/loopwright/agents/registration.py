"""Adds our commands to a harness's hooks and takes them out again. Pure: documents in, documents out.

What is not ours stays as it is, in its order; what we can't understand is refused, never overwritten.
"""

from __future__ import annotations

import shlex
from typing import Any

from loopwright.agents.harness import Harness

_OURS = ("loopwright/hooks/entry.py", "loopwright\\hooks\\entry.py")
Document = dict[str, Any]


class NotUnderstood(ValueError):
    """The file's hooks are not of the shape that the harness documents."""


def command_line(interpreter: str, hook: str, verb: str) -> str:
    """How a harness's shell is told to run the hook: isolated and without site-packages, so it starts at once."""
    return shlex.join((interpreter, "-I", "-S", hook, verb))


def with_ours(document: Document, harness: Harness, interpreter: str, hook: str) -> Document:
    """The document with our commands in it, each once, whatever of ours was there before."""
    hooks = dict(without_ours(document).get("hooks", {}))
    for event, verb in harness.events():
        groups = hooks.get(event, [])
        _require(isinstance(groups, list), f"hooks.{event} is not a list")
        ours = {"hooks": [{"type": "command", "command": command_line(interpreter, hook, verb)}]}
        hooks[event] = [*groups, ours]
    return {**document, "hooks": hooks}


def without_ours(document: Document) -> Document:
    """The document without our commands, and without what would be empty because of that."""
    if "hooks" not in document:
        return document
    hooks = document["hooks"]
    _require(isinstance(hooks, dict), "`hooks` is not an object")
    kept: Document = {}
    for event, groups in hooks.items():
        if not isinstance(groups, list) or not any(map(_holds_ours, groups)):
            kept[event] = groups
            continue
        left = [group for group in map(_group_without_ours, groups) if group is not None]
        if left:
            kept[event] = left
    rest = {key: value for key, value in document.items() if key != "hooks"}
    return {**document, "hooks": kept} if kept or not hooks else rest


def registered(document: Document, harness: Harness) -> dict[str, str]:
    """Our commands by the event that calls them; empty when we are not registered."""
    found: dict[str, str] = {}
    hooks = document.get("hooks")
    for event, _ in harness.events():
        groups = hooks.get(event) if isinstance(hooks, dict) else None
        for group in groups if isinstance(groups, list) else ():
            if _holds_ours(group):
                found[event] = next(entry["command"] for entry in group["hooks"] if _is_ours(entry))
    return found


def _holds_ours(group: Any) -> bool:
    return isinstance(group, dict) and isinstance(group.get("hooks"), list) and any(map(_is_ours, group["hooks"]))


def _is_ours(entry: Any) -> bool:
    command = entry.get("command") if isinstance(entry, dict) else None
    return isinstance(command, str) and any(mark in command for mark in _OURS)


def _group_without_ours(group: Any) -> Any | None:
    if not _holds_ours(group):
        return group
    left = [entry for entry in group["hooks"] if not _is_ours(entry)]
    return {**group, "hooks": left} if left else None


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise NotUnderstood(otherwise)
