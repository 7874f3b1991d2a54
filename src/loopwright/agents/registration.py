"""Adds our commands to a harness's hooks and takes them out again. Pure: documents in, documents out.

Ours is what reads, word by word, as a command that we write or document. A command that merely mentions our hook
belongs to somebody else and stays as it is, in its order; what we can't understand is refused, never overwritten.
"""

from __future__ import annotations

import json
import shlex
from typing import Any

import msgspec

from loopwright.agents.harness import GATE, REFLECT, SESSION_START, Harness
from loopwright.agents.settings_text import Document, NotUnderstood

_VERBS = (REFLECT, SESSION_START, GATE)
_OPTIONS = ["-I", "-S"]
_HOOK = ["loopwright", "hooks", "entry.py"]
_SCRIPTS = ("loopwright-hook", "loopwright-hook.exe")
# Two paths and a few words; splitting is not for free.
_LONGEST = 16 << 10


class Registered(msgspec.Struct, frozen=True):
    """The hook's file, run by an interpreter: what `install` writes."""

    interpreter: str
    hook: str
    verb: str


class RegisteredScript(msgspec.Struct, frozen=True):
    """The console script: what a person writes by hand."""

    script: str
    verb: str


Ours = Registered | RegisteredScript


def parse_command(command: object) -> Ours | None:
    """The command as one of ours; None when it is anything else, however alike."""
    if not isinstance(command, str) or len(command) > _LONGEST:
        return None
    match _words(command):
        case [interpreter, *options, hook, verb] if options == _OPTIONS and verb in _VERBS:
            return Registered(interpreter, hook, verb) if _parts(hook)[-3:] == _HOOK else None
        case [script, verb] if verb in _VERBS and _parts(script)[-1] in _SCRIPTS:
            return RegisteredScript(script, verb)
    return None


def command_line(interpreter: str, hook: str, verb: str) -> str:
    """How a harness's shell is told to run the hook: isolated and without site-packages, so it starts at once."""
    return shlex.join((interpreter, *_OPTIONS, hook, verb))


def with_ours(document: Document, harness: Harness, interpreter: str, hook: str) -> Document:
    """The document with our commands in it, each once; of what was there before only the command is exchanged."""
    wanted = {(event, verb): command_line(interpreter, hook, verb) for event, verb in harness.events()}
    found = document.get("hooks", {})
    _require(isinstance(found, dict), "`hooks` is not an object")
    hooks = {event: _with_commands(event, groups, wanted) for event, groups in found.items()}
    for event, command in ((event, command) for (event, _), command in wanted.items()):
        groups = hooks.get(event, [])
        _require(isinstance(groups, list), f"hooks.{event} is not a list")
        hooks[event] = [*groups, _group(command)]
    kept = {event: groups for event, groups in hooks.items() if groups or not found.get(event)}
    return document if kept == found else {**document, "hooks": kept}


def _with_commands(event: str, groups: Any, wanted: dict[tuple[str, str], str]) -> Any:
    """An event's groups with what is wanted of ours there; what has its place is not wanted any more."""
    if not isinstance(groups, list) or not any(map(_commands, groups)):
        return groups
    left: list[Any] = []
    for group in groups:
        if not _commands(group):
            left.append(group)
            continue
        entries: list[Any] = []
        for entry in group["hooks"]:
            ours = parse_command(entry.get("command")) if isinstance(entry, dict) else None
            command = wanted.pop((event, ours.verb), None) if ours is not None else None
            if ours is None or command is not None:
                entries.append(entry if command is None else {**entry, "command": command})
        if entries:
            left.append({**group, "hooks": entries})
    return left


def without_ours(document: Document) -> Document:
    """The document without our commands, and without what would be empty because of that."""
    if "hooks" not in document:
        return document
    hooks = document["hooks"]
    _require(isinstance(hooks, dict), "`hooks` is not an object")
    kept: Document = {}
    for event, groups in hooks.items():
        if not isinstance(groups, list) or not any(map(_commands, groups)):
            kept[event] = groups
            continue
        left = [group for group in map(_group_without_ours, groups) if group is not None]
        if left:
            kept[event] = left
    rest = {key: value for key, value in document.items() if key != "hooks"}
    return {**document, "hooks": kept} if kept or not hooks else rest


def registered(document: Document) -> dict[str, list[str]]:
    """Our commands by the event that calls them; empty when we are not registered."""
    hooks = document.get("hooks")
    found = {
        event: [command for group in groups for command in _commands(group)]
        for event, groups in (hooks.items() if isinstance(hooks, dict) else ())
        if isinstance(groups, list)
    }
    return {event: commands for event, commands in found.items() if commands}


def only_ours(document: Document) -> str:
    """Our part of a document as text: for showing, since the rest may hold what nobody else should see."""
    found = {event: list(map(_group, commands)) for event, commands in registered(document).items()}
    return json.dumps({"hooks": found}, indent=2, ensure_ascii=False) + "\n" if found else ""


def _group(command: str) -> Document:
    return {"hooks": [{"type": "command", "command": command}]}


def _commands(group: Any) -> list[str]:
    entries = group.get("hooks") if isinstance(group, dict) else None
    return [entry["command"] for entry in entries if _is_ours(entry)] if isinstance(entries, list) else []


def _is_ours(entry: Any) -> bool:
    return isinstance(entry, dict) and parse_command(entry.get("command")) is not None


def _group_without_ours(group: Any) -> Any | None:
    if not _commands(group):
        return group
    left = [entry for entry in group["hooks"] if not _is_ours(entry)]
    return {**group, "hooks": left} if left else None


def _words(command: str) -> list[str]:
    """As a shell would take it: what joins commands stands alone, however closely it is written; none if it is torn."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="();<>|&`\n")
    lexer.whitespace_split, lexer.commenters, lexer.whitespace = True, "", " \t"
    try:
        return list(lexer)
    except ValueError:
        return []


def _parts(path: str) -> list[str]:
    return path.replace("\\", "/").split("/")


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise NotUnderstood(otherwise)
