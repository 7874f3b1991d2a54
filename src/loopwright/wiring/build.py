"""Builds the context of a call."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from loopwright.agents.claude import ClaudeAgent
from loopwright.agents.codex import CodexAgent
from loopwright.agents.command import CommandAgent
from loopwright.agents.port import Agent
from loopwright.agents.scripted import ScriptedAgent, WrittenTurn, read_turns
from loopwright.agents.shell import ShellAgent
from loopwright.errors import AgentFailed
from loopwright.kernel.clock import Clock, utc_now
from loopwright.kernel.files import shown
from loopwright.kernel.search_path import without_relative
from loopwright.sandbox.bubblewrap import Bubblewrap
from loopwright.sandbox.landlock import Landlock
from loopwright.sandbox.port import Isolation
from loopwright.sandbox.unconfined import Unconfined
from loopwright.verbs.context import Context
from loopwright.wiring.place import find_place
from loopwright.workspace.settings import Flags, Settings
from loopwright.workspace.settings_model import AgentSettings

ISOLATIONS: tuple[Isolation, ...] = (Bubblewrap(), Landlock(), Unconfined())


def build_context(
    start: Path, flags: Flags, *, environment: Mapping[str, str] | None = None, clock: Clock = utc_now
) -> Context:
    """Find the workspace, read its settings, plug the adapters in."""
    environment = dict(os.environ if environment is None else environment)
    if "PATH" in environment:
        environment["PATH"] = without_relative(environment["PATH"])
    place = find_place(start, flags, environment)
    return Context(
        layout=place.layout,
        settings=place.settings,
        environment=environment,
        clock=clock,
        isolations=ISOLATIONS,
        open_agent=lambda name: open_agent(name, place.settings, place.layout.root, environment),
    )


def open_agent(name: str, settings: Settings, root: Path, environment: Mapping[str, str]) -> Agent:
    """The agent of this name: ours, from `[agents.NAME]`, or spelled out as `command:…` or `scripted:FILE`."""
    kind, colon, rest = name.partition(":")
    if colon:
        wanted = AgentSettings(kind=kind, command=rest, turns=rest)
    else:
        wanted = settings.values.agents.named.get(name, AgentSettings())
    match wanted.kind or name:
        case "bash" if name == "bash":
            return ShellAgent()
        case "claude":
            return ClaudeAgent(name if not colon else kind, wanted)
        case "codex":
            return CodexAgent(name if not colon else kind, wanted, environment)
        case "command" if wanted.command:
            return CommandAgent(name if not colon else kind, wanted.command)
        case "scripted" if wanted.turns:
            return ScriptedAgent(name if not colon else kind, _turns(root / wanted.turns))
    known = ", ".join(sorted(settings.values.agents.named)) or "none"
    raise AgentFailed(
        "agent_missing",
        f"there is no agent '{shown(name)}' (configured: {known})",
        hint='write [agents.NAME] kind = "command", command = "…" into config.toml, or use command:… or scripted:FILE',
    )


def _turns(path: Path) -> tuple[WrittenTurn, ...]:
    """A scripted agent's turns, read again only when the file is another one: it is opened for every turn."""
    try:
        found = path.stat()
    except OSError:
        return read_turns(path)
    return _read_once(path, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=8)
def _read_once(path: Path, changed_ns: int, size: int) -> tuple[WrittenTurn, ...]:
    del changed_ns, size
    return read_turns(path)
