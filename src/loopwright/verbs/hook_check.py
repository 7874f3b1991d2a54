"""Whether our hook is registered with the agents on this machine, and whether it works: it is started and looked at."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from loopwright.agents.harness import HARNESSES, Scope
from loopwright.errors import LoopwrightError
from loopwright.kernel import process
from loopwright.reflection.store import read_shelf
from loopwright.verbs.context import Context
from loopwright.verbs.install import expected_command, registration

_PAYLOAD = b'{"session_id": "doctor", "hook_event_name": "Stop"}'
_LONGEST_S = 30


class HookFound(msgspec.Struct, frozen=True):
    """One registration: where, whether it holds, and what to do when it does not."""

    where: str
    works: bool
    said: str
    remedy: str = ""


def check_hooks(context: Context) -> Iterator[HookFound]:
    """Every agent and scope in which we are registered."""
    for agent, harness in HARNESSES.items():
        for scope in Scope:
            where = f"hook of {agent} ({scope})"
            again = f"`loopwright install --agent {agent} --{scope}`"
            try:
                found = registration(context, agent, scope)
            except LoopwrightError as problem:
                yield HookFound(where, False, problem.message, problem.hint)
                continue
            if not found:
                continue
            missing = [event for event, _ in harness.events() if event not in found]
            if missing:
                yield HookFound(where, False, f"not called at {', '.join(missing)}", again)
                continue
            yield _tried(where, found[harness.stop_event], again)


def _tried(where: str, command: str, again: str) -> HookFound:
    with tempfile.TemporaryDirectory(prefix="loopwright-hook-") as folder:
        env = {"REFLECTION_MODE": "solo", "REFLECTION_DIR": folder, "HOME": folder}
        try:
            done = process.capture(
                tuple(shlex.split(command)), cwd=Path(folder), env=env, stdin=_PAYLOAD, timeout_s=_LONGEST_S
            )
        except (LoopwrightError, TimeoutError, ValueError) as problem:
            return HookFound(where, False, str(problem), again)
        left = read_shelf(Path(folder)).stored
        if done.exit_code != 0 or done.stdout or len(left) != 1:
            return HookFound(where, False, f"registered, and leaves no reflection: {command}", again)
    if command != expected_command("reflect"):
        return HookFound(where, True, "registered by another installation, and works", again)
    return HookFound(where, True, "registered, and works")
