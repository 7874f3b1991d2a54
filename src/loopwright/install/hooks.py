"""Our commands among the hooks in an agent's settings. Pure: documents in, documents out.

A command is ours when it reads, word by word, like one that we write or document. A command that only mentions our
hook belongs to the user and stays in its place. A document with an unknown shape is refused, never overwritten.
"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import msgspec

from loopwright.agents.harness import HookSettings
from loopwright.install.json_text import Document, is_blank, parse, render
from loopwright.install.model import InstallState, NotEditable

REFLECT, SESSION_START, GATE = "reflect", "session-start", "gate"
HOOK = Path(__file__).parent.parent / "hooks" / "entry.py"
_VERBS = (REFLECT, SESSION_START, GATE)
_OPTIONS = ["-I", "-S"]
_HOOK_PATH = ["loopwright", "hooks", "entry.py"]
_SCRIPTS = ("loopwright-hook", "loopwright-hook.exe")
# Two paths and a few words; splitting takes time.
_LONGEST = 16 << 10


class InterpreterCommand(msgspec.Struct, frozen=True):
    """The hook's file, run by an interpreter: what `install` writes."""

    interpreter: str
    hook: str
    verb: str


class ScriptCommand(msgspec.Struct, frozen=True):
    """The console script: what a person writes by hand."""

    script: str
    verb: str


def parse_command(command: object) -> InterpreterCommand | ScriptCommand | None:
    """The command as one of ours; None for any other command, however similar."""
    if not isinstance(command, str) or len(command) > _LONGEST:
        return None
    match _shell_words(command):
        case [interpreter, *options, hook, verb] if options == _OPTIONS and verb in _VERBS:
            return InterpreterCommand(interpreter, hook, verb) if _path_parts(hook)[-3:] == _HOOK_PATH else None
        case [script, verb] if verb in _VERBS and _path_parts(script)[-1] in _SCRIPTS:
            return ScriptCommand(script, verb)
    return None


def command_line(verb: str, interpreter: str = sys.executable, hook: str = str(HOOK)) -> str:
    """The line for a harness's shell: isolated and without site-packages, so that the hook starts quickly."""
    return shlex.join((interpreter, *_OPTIONS, hook, verb))


def hook_calls(hooks: HookSettings) -> tuple[tuple[str, str], ...]:
    """Each event that we register for, with the verb of the hook."""
    return ((hooks.stop_event, REFLECT), (hooks.stop_event, GATE), (hooks.start_event, SESSION_START))


class HookEditor:
    """Our commands in the text of a settings file."""

    owns_file = False

    def __init__(self, hooks: HookSettings) -> None:
        self._commands = {(event, verb): command_line(verb) for event, verb in hook_calls(hooks)}

    def state(self, text: str | None) -> InstallState:
        """Outdated as soon as one command differs or is missing."""
        document = parse(text)
        if with_commands(document, self._commands) == document:
            return InstallState.CURRENT
        return InstallState.OUTDATED if registered(document) else InstallState.ABSENT

    def add(self, text: str | None) -> str | None:
        """Register our commands."""
        return render(with_commands(parse(text), self._commands), text)

    def remove(self, text: str | None) -> str | None:
        """Remove our commands."""
        return render(without_commands(parse(text)), text)

    def strip(self, text: str) -> str:
        """Remove our commands."""
        return self.remove(text) or ""

    def is_blank(self, text: str) -> bool:
        """Whether the document is empty."""
        return is_blank(text)

    def shown(self, text: str | None) -> str:
        """Our commands by event."""
        groups = {event: list(map(_group, commands)) for event, commands in registered(parse(text)).items()}
        return json.dumps({"hooks": groups}, indent=2, ensure_ascii=False) + "\n" if groups else ""


def with_commands(document: Document, commands: dict[tuple[str, str], str]) -> Document:
    """The document with these commands by event and verb, each once; in an entry of ours only the command changes."""
    missing = dict(commands)
    hooks = document.get("hooks", {})
    _require(isinstance(hooks, dict), "`hooks` is not an object")
    changed = {event: _with_updates(event, groups, missing) for event, groups in hooks.items()}
    for (event, _), command in missing.items():
        groups = changed.get(event, [])
        _require(isinstance(groups, list), f"hooks.{event} is not a list")
        changed[event] = [*groups, _group(command)]
    kept = {event: groups for event, groups in changed.items() if groups or not hooks.get(event)}
    return document if kept == hooks else {**document, "hooks": kept}


def _with_updates(event: str, groups: Any, missing: dict[tuple[str, str], str]) -> Any:
    """An event's groups with our commands updated; each command that finds its place is taken out of `missing`."""
    if not isinstance(groups, list) or not any(map(_our_commands, groups)):
        return groups
    left: list[Any] = []
    for group in groups:
        if not _our_commands(group):
            left.append(group)
            continue
        entries: list[Any] = []
        for entry in group["hooks"]:
            hook_command = parse_command(entry.get("command")) if isinstance(entry, dict) else None
            command = missing.pop((event, hook_command.verb), None) if hook_command is not None else None
            if hook_command is None or command is not None:
                entries.append(entry if command is None else {**entry, "command": command})
        if entries:
            left.append({**group, "hooks": entries})
    return left


def without_commands(document: Document) -> Document:
    """The document without our commands, and without what their removal leaves empty."""
    if "hooks" not in document:
        return document
    hooks = document["hooks"]
    _require(isinstance(hooks, dict), "`hooks` is not an object")
    kept: Document = {}
    for event, groups in hooks.items():
        if not isinstance(groups, list) or not any(map(_our_commands, groups)):
            kept[event] = groups
            continue
        left = [group for group in map(_without_our_entries, groups) if group is not None]
        if left:
            kept[event] = left
    rest = {key: value for key, value in document.items() if key != "hooks"}
    return {**document, "hooks": kept} if kept or not hooks else rest


def registered(document: Document) -> dict[str, list[str]]:
    """Our commands by the event that calls them; empty when we are not registered."""
    hooks = document.get("hooks")
    by_event = {
        event: [command for group in groups for command in _our_commands(group)]
        for event, groups in (hooks.items() if isinstance(hooks, dict) else ())
        if isinstance(groups, list)
    }
    return {event: commands for event, commands in by_event.items() if commands}


def _group(command: str) -> Document:
    return {"hooks": [{"type": "command", "command": command}]}


def _our_commands(group: Any) -> list[str]:
    entries = group.get("hooks") if isinstance(group, dict) else None
    return [entry["command"] for entry in entries if _is_our_entry(entry)] if isinstance(entries, list) else []


def _is_our_entry(entry: Any) -> bool:
    return isinstance(entry, dict) and parse_command(entry.get("command")) is not None


def _without_our_entries(group: Any) -> Any | None:
    if not _our_commands(group):
        return group
    left = [entry for entry in group["hooks"] if not _is_our_entry(entry)]
    return {**group, "hooks": left} if left else None


def _shell_words(command: str) -> list[str]:
    """The command's words as a shell splits them, operators apart; no words when a quote is open."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="();<>|&`\n")
    lexer.whitespace_split, lexer.commenters, lexer.whitespace = True, "", " \t"
    try:
        return list(lexer)
    except ValueError:
        return []


def _path_parts(path: str) -> list[str]:
    return path.replace("\\", "/").split("/")


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise NotEditable(otherwise)
