"""Opens agents by name: built-in agents, agents of the settings, and agents of other packages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from loopwright.agents.claude.adapter import ClaudeAgent
from loopwright.agents.codex.adapter import CodexAgent
from loopwright.agents.command.adapter import CommandAgent, ShellAgent
from loopwright.agents.gemini.adapter import GeminiAgent
from loopwright.agents.interactive.adapter import KIND as INTERACTIVE
from loopwright.agents.interactive.adapter import InteractiveAgent
from loopwright.agents.opencode.adapter import OpencodeAgent
from loopwright.agents.port import Agent
from loopwright.agents.scripted.adapter import ScriptedAgent, WrittenTurn, read_turns
from loopwright.errors import AgentFailed
from loopwright.kernel.files import shown
from loopwright.workspace.settings import Settings
from loopwright.workspace.settings_model import AgentSettings

# A package registers a callable (name, settings, environment) -> Agent under this group, by the adapter's name.
GROUP = "loopwright.agents"
Factory = Callable[[str, AgentSettings, Mapping[str, str]], Agent]
# Agents with a program of their own.
PROGRAM_AGENTS: Mapping[str, Factory] = {
    "claude": ClaudeAgent,
    "codex": CodexAgent,
    "gemini": GeminiAgent,
    "opencode": OpencodeAgent,
}


def open_agent(name: str, settings: Settings, root: Path, environment: Mapping[str, str]) -> Agent:
    """The agent of this name: built in, from `[agents.NAME]`, or given as `command:…` or `scripted:FILE`."""
    kind, colon, rest = name.partition(":")
    if colon:
        agent_settings = AgentSettings(kind=kind, command=rest, turns=rest)
    else:
        agent_settings = settings.values.agents.named.get(name, AgentSettings())
    called, adapter = (kind if colon else name), agent_settings.kind or name
    match adapter:
        case "bash" if name == "bash":
            return ShellAgent()
        case "command" if agent_settings.command:
            return CommandAgent(called, agent_settings.command)
        case "scripted" if agent_settings.turns:
            return ScriptedAgent(called, _turns(root / agent_settings.turns))
        case _ if adapter == INTERACTIVE:
            return InteractiveAgent(called)
        case _ if adapter in PROGRAM_AGENTS:
            return PROGRAM_AGENTS[adapter](called, agent_settings, environment)
        case _ if (point := _points().get(adapter)) is not None:
            return _factory(point)(called, agent_settings, environment)
        case _:
            raise _missing(name, settings)


def known_agents(settings: Settings, root: Path, environment: Mapping[str, str]) -> Iterator[Agent]:
    """Every agent with a name: built-in agents, agents of other packages, and agents of the settings."""
    names = (*PROGRAM_AGENTS, INTERACTIVE, *sorted(_points()), *settings.values.agents.named)
    for name in dict.fromkeys(names):
        try:
            yield open_agent(name, settings, root, environment)
        except AgentFailed:
            continue


@cache
def _points() -> Mapping[str, EntryPoint]:
    """Agents of other packages. The search is slow, so it runs once."""
    return {point.name: point for point in entry_points(group=GROUP)}


def _factory(point: EntryPoint) -> Factory:
    try:
        factory: Factory = point.load()
    except Exception as problem:  # code of another package may fail in any way
        raise AgentFailed(
            "agent_missing",
            f"the agent '{shown(point.name)}' of another package can't be loaded: {problem}",
            hint=f"install {point.value.partition('.')[0]} again, or use another agent",
        ) from problem
    return factory


def _missing(name: str, settings: Settings) -> AgentFailed:
    if (agent_settings := settings.values.agents.named.get(name)) is not None:
        return _unfinished(shown(name), agent_settings)
    known = ", ".join(sorted({*PROGRAM_AGENTS, INTERACTIVE, *settings.values.agents.named}))
    return AgentFailed(
        "agent_missing",
        f"there is no agent '{shown(name)}' (known: {known})",
        hint='write [agents.NAME] kind = "command", command = "…" into config.toml, or use command:… or scripted:FILE',
    )


def _unfinished(name: str, agent_settings: AgentSettings) -> AgentFailed:
    """The error for an agent whose settings are incomplete."""
    keys = {"command": 'command = "…"', "scripted": 'turns = "FILE"', "": 'kind = "…"'}
    if (key := keys.get(agent_settings.kind)) is None:
        message = f"agents.{name}.kind is '{shown(agent_settings.kind)}', and there is no such kind of agent"
        kinds = ", ".join(("command", "scripted", INTERACTIVE, *PROGRAM_AGENTS, *sorted(_points())))
        return AgentFailed("agent_missing", message, hint=f"one of: {kinds}")
    message = f"the agent '{name}' of the settings can't be used: agents.{name}.{key.partition(' ')[0]} is missing"
    return AgentFailed("agent_missing", message, hint=f"write {key} into [agents.{name}]")


def _turns(path: Path) -> tuple[WrittenTurn, ...]:
    """A scripted agent's turns. The agent is opened for every turn, so the file is read again only if it changed."""
    try:
        status = path.stat()
    except OSError:
        return read_turns(path)
    return _read_once(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=8)
def _read_once(path: Path, changed_ns: int, size: int) -> tuple[WrittenTurn, ...]:
    del changed_ns, size
    return read_turns(path)
