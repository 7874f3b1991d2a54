"""Whether our hook is registered with the agents on this machine, and whether it works.

Settings come with any repository that somebody cloned, so nothing in them is run: what is tried is the command that
this installation would write, and only where the settings say the same to the letter.
"""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from loopwright.agents.harness import HARNESSES, REFLECT, Harness, Scope
from loopwright.agents.registration import Registered, parse_command, registered
from loopwright.errors import LoopwrightError
from loopwright.kernel import process
from loopwright.kernel.files import shown
from loopwright.reflection.store import read_shelf
from loopwright.stages.context import Context
from loopwright.verbs.agent_settings import expected_command, holds_ours, read_settings, settings_path, switched_off

_PAYLOAD = b'{"session_id": "doctor", "hook_event_name": "Stop"}'
_LONGEST_S = 30


class HookFound(msgspec.Struct, frozen=True):
    """One registration: where, whether it holds, and what to do when it does not."""

    where: str
    health: Literal["ok", "note", "problem"]
    said: str
    remedy: str = ""


def check_hooks(context: Context) -> Iterator[HookFound]:
    """Every agent and scope in which we are registered."""
    for agent, harness in HARNESSES.items():
        for scope in Scope:
            where = f"hook of {agent} ({scope})"
            try:
                found = registered(read_settings(context, harness, scope).document(agent))
            except LoopwrightError as problem:
                is_ours = holds_ours(settings_path(context, harness, scope))
                yield HookFound(where, "problem" if is_ours else "note", problem.message, problem.hint)
                continue
            if found:
                again = f"`loopwright install --agent {agent} --{scope}`"
                yield _judged(context, harness, where, found, again)


def _judged(context: Context, harness: Harness, where: str, found: dict[str, list[str]], again: str) -> HookFound:
    calls = {
        (event, verb): [one for one in found.get(event, ()) if _does(one, verb)] for event, verb in harness.events()
    }
    if missing := [f"{event} ({verb})" for (event, verb), commands in calls.items() if not commands]:
        return HookFound(where, "problem", f"not called at {', '.join(missing)}", again)
    if repeated := [f"{event} ({verb})" for (event, verb), commands in calls.items() if len(commands) > 1]:
        return HookFound(where, "problem", f"called more than once at {', '.join(repeated)}", again)
    if (switch := switched_off(context, harness)) is not None:
        said = f'registered, but hooks are switched off: "{harness.off_switch}" is true in {shown(switch)}'
        return HookFound(where, "problem", said, "remove that setting, or set it to false")
    strange = [commands[0] for (_, verb), commands in calls.items() if commands[0] != expected_command(verb)]
    if strange:
        return _of_another(where, strange[0], again)
    if problem := _problem_when_tried():
        return HookFound(where, "problem", problem, again)
    if harness.caveat:
        said = "registered, and works once it is trusted, which can't be seen from here"
        return HookFound(where, "note", said, harness.caveat)
    return HookFound(where, "ok", "registered, and works")


def _does(command: str, verb: str) -> bool:
    ours = parse_command(command)
    return ours is not None and ours.verb == verb


def _of_another(where: str, command: str, again: str) -> HookFound:
    said = f"registered by another installation; not tried: {shown(command)}"
    ours = parse_command(command)
    if isinstance(ours, Registered):
        gone = [path for path in (ours.interpreter, ours.hook) if path.startswith("/") and not _is_there(path)]
        if gone:
            return HookFound(where, "problem", f"{said} ({shown(gone[0])} is not there)", again)
    return HookFound(where, "note", said, again)


def _is_there(path: str) -> bool:
    return os.path.exists(path)  # noqa: PTH110 -- says no, and does not raise, for names that can't be


def _problem_when_tried() -> str:
    """What goes wrong when our own command is started as a harness would; nothing when all is well."""
    command = expected_command(REFLECT)
    with tempfile.TemporaryDirectory(prefix="loopwright-hook-") as folder:
        env = {"REFLECTION_MODE": "solo", "REFLECTION_DIR": folder, "HOME": folder}
        try:
            done = process.capture(
                tuple(shlex.split(command)), cwd=Path(folder), env=env, stdin=_PAYLOAD, timeout_s=_LONGEST_S
            )
        except (LoopwrightError, TimeoutError, ValueError) as problem:
            return str(problem)
        left = read_shelf(Path(folder)).stored
        if done.exit_code != 0 or done.stdout or len(left) != 1:
            return f"registered, and leaves no reflection: {command}"
    return ""
