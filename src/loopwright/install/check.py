"""Checks what is installed for the agents on this machine: its state, and whether our hook works. Writes nothing.

Settings come with any cloned repository, so nothing in them is run. The hook is tried with the command that this
installation would write, and only if the settings contain exactly that command.
"""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

import msgspec

from loopwright.agents.harness import HookSettings
from loopwright.errors import LoopwrightError
from loopwright.install.files import editable, may_hold_our_content, read_agent_file
from loopwright.install.hooks import (
    REFLECT,
    InterpreterCommand,
    command_line,
    hook_calls,
    parse_command,
    registered,
)
from loopwright.install.json_text import Document, parse
from loopwright.install.model import InstallState, InstallTarget, Part, Scope
from loopwright.install.part_files import part_files
from loopwright.kernel import process
from loopwright.kernel.files import shown
from loopwright.reflection.store import read_reflections

_MARKED_PARTS = (Part.SKILLS, Part.INSTRUCTIONS, Part.MCP)
_PAYLOAD = b'{"session_id": "doctor", "hook_event_name": "Stop"}'
_LONGEST_S = 30
Health = Literal["ok", "note", "problem"]


class InstallFinding(msgspec.Struct, frozen=True):
    """One part of one agent: its state, and what to do about it."""

    what: str
    health: Health
    message: str
    remedy: str = ""
    code: str = ""


def check_targets(targets: Iterable[InstallTarget]) -> Iterator[InstallFinding]:
    """Every part that is installed for these targets, in any state: hooks first."""
    targets = tuple(targets)
    hooks = [finding for target in targets for finding in _check_hooks(target)]
    yield from hooks
    for target in targets:
        for part in _MARKED_PARTS:
            yield from _check_part(target, part)
    if not hooks:
        message = (
            "no agent has it (`loopwright install --agent claude` registers it; codex and gemini can have it, too)"
        )
        yield InstallFinding("reflection hook", "ok", message)


def _label(target: InstallTarget, part: Part) -> str:
    match part:
        case Part.HOOKS:
            return f"hook of {target.agent} ({target.scope})"
        case Part.SKILLS:
            return f"skills of {target.agent} ({target.scope})"
        case Part.INSTRUCTIONS:
            return f"instructions of {target.agent} ({target.scope})"
        case Part.MCP:
            return f"MCP server of {target.agent} ({target.scope})"


def _check_part(target: InstallTarget, part: Part) -> Iterator[InstallFinding]:
    what = _label(target, part)
    files = part_files(target, (part,))
    states: dict[Path, InstallState] = {}
    try:
        for file in files:
            with editable(file.path, target.agent):
                states[file.path] = file.editor.state(read_agent_file(file.path).text)
    except LoopwrightError as problem:
        is_ours = any(file.editor.owns_file or may_hold_our_content(file.path) for file in files)
        health: Health = "problem" if is_ours else "note"
        yield InstallFinding(what, health, problem.message, problem.hint, "installed_unreadable")
        return
    present = {state for state in states.values() if state is not InstallState.ABSENT}
    again = f"`loopwright install --agent {target.agent} --scope {target.scope} --what {part}`"
    for state in (InstallState.OUTDATED, InstallState.CHANGED, InstallState.FOREIGN):
        if state in present:
            paths = [path for path, of_path in states.items() if of_path is state]
            yield _not_current(what, state, paths, again)
    if present == {InstallState.CURRENT}:
        yield InstallFinding(what, "ok", "current", code="installed_current")


def _not_current(what: str, state: InstallState, paths: list[Path], again: str) -> InstallFinding:
    listed = ", ".join([*map(shown, paths[:3]), *(["…"] if paths[3:] else [])])
    code = f"installed_{state.value}"
    if state is InstallState.OUTDATED:
        return InstallFinding(what, "note", f"from another version: {listed}", again, code)
    message = (
        f"changed by you, and left alone: {listed}"
        if state is InstallState.CHANGED
        else f"not ours, and left alone: {listed}"
    )
    return InstallFinding(what, "note", message, f"to install ours, move it away, then run {again}", code)


def _check_hooks(target: InstallTarget) -> Iterator[InstallFinding]:
    """The findings about our hooks; nothing if none is registered."""
    hooks = target.harness.hooks
    if hooks is None:
        return
    what, path = _label(target, Part.HOOKS), target.folder / hooks.file
    try:
        commands = registered(_document(path, target.agent))
    except LoopwrightError as problem:
        health: Health = "problem" if may_hold_our_content(path) else "note"
        yield InstallFinding(what, health, problem.message, problem.hint)
        return
    if commands:
        again = f"`loopwright install --agent {target.agent} --{target.scope}`"
        yield _check_registration(target, hooks, what, commands, again)


def _check_registration(
    target: InstallTarget, hooks: HookSettings, what: str, registered_commands: dict[str, list[str]], again: str
) -> InstallFinding:
    calls = {
        (event, verb): [command for command in registered_commands.get(event, ()) if _runs(command, verb)]
        for event, verb in hook_calls(hooks)
    }
    if missing := [f"{event} ({verb})" for (event, verb), commands in calls.items() if not commands]:
        return InstallFinding(what, "problem", f"not called at {', '.join(missing)}", again)
    if repeated := [f"{event} ({verb})" for (event, verb), commands in calls.items() if len(commands) > 1]:
        return InstallFinding(what, "problem", f"called more than once at {', '.join(repeated)}", again)
    if (switch := _switched_off(target, hooks)) is not None:
        message = f'registered, but hooks are switched off: "{hooks.off_switch}" is true in {shown(switch)}'
        return InstallFinding(what, "problem", message, "remove that setting, or set it to false")
    others = [commands[0] for (_, verb), commands in calls.items() if commands[0] != command_line(verb)]
    if others:
        return _of_another_installation(what, others[0], again)
    if problem := _try_hook():
        return InstallFinding(what, "problem", problem, again)
    if hooks.caveat:
        message = "registered; works once you trust it, which can't be checked from here"
        return InstallFinding(what, "note", message, hooks.caveat)
    return InstallFinding(what, "ok", "registered, and works")


def _runs(command: str, verb: str) -> bool:
    hook_command = parse_command(command)
    return hook_command is not None and hook_command.verb == verb


def _document(path: Path, agent: str) -> Document:
    with editable(path, agent):
        return parse(read_agent_file(path).text)


def _switched_off(target: InstallTarget, hooks: HookSettings) -> Path | None:
    """The file that turns all hooks off; None when they are on. The first file with the setting decides."""
    if not hooks.off_switch:
        return None
    project, user = (msgspec.structs.replace(target, scope=scope).folder for scope in (Scope.PROJECT, Scope.USER))
    local = (project / hooks.local_file,) if hooks.local_file else ()
    for path in (*local, project / hooks.file, user / hooks.file):
        try:
            setting = _document(path, target.agent).get(hooks.off_switch)
        except LoopwrightError:  # reported where this file's hooks are checked
            continue
        if isinstance(setting, bool):
            return path if setting else None
    return None


def _of_another_installation(what: str, command: str, again: str) -> InstallFinding:
    message = f"registered by another installation; not tried: {shown(command)}"
    hook_command = parse_command(command)
    if isinstance(hook_command, InterpreterCommand):
        paths = (path for path in (hook_command.interpreter, hook_command.hook) if path.startswith("/"))
        # os.path: a name that can't exist is missing, not an error.
        missing = [path for path in paths if not os.path.exists(path)]  # noqa: PTH110
        if missing:
            return InstallFinding(what, "problem", f"{message} ({shown(missing[0])} does not exist)", again)
    return InstallFinding(what, "note", message, again)


def _try_hook() -> str:
    """Start our own command as a harness would. Returns the problem, or an empty text."""
    command = command_line(REFLECT)
    with tempfile.TemporaryDirectory(prefix="loopwright-hook-") as folder:
        env = {"REFLECTION_MODE": "solo", "REFLECTION_DIR": folder, "HOME": folder}
        try:
            done = process.capture(
                tuple(shlex.split(command)), cwd=Path(folder), env=env, stdin=_PAYLOAD, timeout_s=_LONGEST_S
            )
        except (LoopwrightError, TimeoutError, ValueError) as problem:
            return str(problem)
        left = read_reflections(Path(folder)).stored
        if done.exit_code != 0 or done.stdout or len(left) != 1:
            return f"registered, but leaves no reflection: {command}"
    return ""
