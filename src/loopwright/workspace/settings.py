"""Settings from defaults, the user's file, the workspace's file, the environment and flags. Later sources win.

Each value has an origin. All problems are reported together. An unknown key gets the closest known key as a suggestion.
"""

from __future__ import annotations

import difflib
import json
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_type_hints

import msgspec

from loopwright.errors import SettingsInvalid
from loopwright.kernel.address import parse_address
from loopwright.kernel.files import shown
from loopwright.workspace.settings_model import AgentSettings, RoleName, Values

_PREFIX = "LOOPWRIGHT_"
# Variables that Loopwright sets for its child processes. They are not settings.
RESERVED_VARIABLES = frozenset(
    {
        "LOOPWRIGHT_PROCESS_MARK",
        "LOOPWRIGHT_AGENT_TURN",
        "LOOPWRIGHT_PROMPT",
        "LOOPWRIGHT_ANSWER",
        "LOOPWRIGHT_SCHEMA",
        "LOOPWRIGHT_NONCE",
        "LOOPWRIGHT_WEB",
        "LOOPWRIGHT_USAGE",
        "LOOPWRIGHT_DECISIONS",
        "LOOPWRIGHT_SESSION",
        "LOOPWRIGHT_MAILBOX",
        "LOOPWRIGHT_CONTEXT",
        "LOOPWRIGHT_TURN_USD",
        "LOOPWRIGHT_TURN_TOKENS",
        "LOOPWRIGHT_TURN_WALL_S",
        "LOOPWRIGHT_GATE",
        "LOOPWRIGHT_REPORTS",
    }
)
# Old names of settings.
_RENAMED = {("loop", "test_command"): ("project", "test_command"), ("workflow", "seal"): ("project", "protect")}
Flags = Mapping[tuple[str, str], Any]


class ShownSetting(msgspec.Struct, frozen=True):
    """One setting for display."""

    section: str
    key: str
    value: Any
    origin: str
    help: str


class Settings(msgspec.Struct, frozen=True):
    """The values, and the origin of each value that is not a default."""

    values: Values
    origins: Mapping[tuple[str, str], str]

    def listed(self) -> Iterator[ShownSetting]:
        """Every setting with its origin, in the order of the reference page."""
        for section in Values.__struct_fields__:
            part = getattr(self.values, section)
            for key in part.__struct_fields__:
                if (section, key) == ("agents", "named"):
                    continue
                origin = self.origins.get((section, key), "default")
                yield ShownSetting(section, key, getattr(part, key), origin, help_of(section, key))
        for name, agent in self.values.agents.named.items():
            for key in agent.__struct_fields__:
                origin = self.origins.get(("agents", f"{name}.{key}"), "default")
                yield ShownSetting(f"agents.{name}", key, getattr(agent, key), origin, agent_help_of(key))


def load_settings(*, user_file: Path, workspace_file: Path, environment: Mapping[str, str], flags: Flags) -> Settings:
    """Merge all sources; `SettingsInvalid` lists every problem."""
    merge = _Merge()
    merge.add_file(user_file)
    merge.add_file(workspace_file)
    merge.add_environment(environment)
    for (section, key), value in flags.items():
        if value is not None:
            merge.put(section, key, value, f"flag --{key.replace('_', '-')}")
    return merge.settings()


class _Merge:
    """Collects raw values with their origins, and all problems."""

    def __init__(self) -> None:
        self._raw: dict[tuple[str, str], Any] = {}
        self._origins: dict[tuple[str, str], str] = {}
        self._problems: list[str] = []

    def add_file(self, path: Path) -> None:
        try:
            document = tomllib.loads(path.read_bytes().decode())
        except FileNotFoundError:
            return
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
            self._problems.append(f"{shown(path)}: {problem}")
            return
        for section, content in document.items():
            if section not in _SECTIONS:
                self._unknown(f"{shown(path)}: section [{section}]", section, _SECTIONS)
            elif not isinstance(content, dict):
                self._problems.append(f"{shown(path)}: [{section}] must be a table")
            else:
                for key, value in content.items():
                    self.put(section, key, value, shown(path))

    def add_environment(self, environment: Mapping[str, str]) -> None:
        for name in sorted(environment):
            if not name.startswith(_PREFIX) or name in RESERVED_VARIABLES:
                continue
            section, _, key = name.removeprefix(_PREFIX).lower().partition("_")
            section, key = _RENAMED.get((section, key), (section, key))
            if section not in _SECTIONS or key not in _SECTIONS[section]:
                known = [f"{_PREFIX}{s}_{k}".upper() for s, keys in _SECTIONS.items() for k in keys]
                self._unknown(f"environment variable {name}", name, known)
                continue
            self.put(section, key, _from_text(environment[name], _type_of(section, key)), name)

    def put(self, section: str, key: str, value: Any, origin: str) -> None:
        section, key = _RENAMED.get((section, key), (section, key))
        if (section, key) == ("agents", "roles") and isinstance(value, dict):
            # Merge role by role, for the same reason.
            self._put_roles(value, origin)
        elif section == "agents" and isinstance(value, dict):
            # Merge key by key: if a workspace sets an agent's model, the user's command for the agent stays.
            others = self._raw.get((section, "named"), {})
            named = {**others, key: {**others.get(key, {}), **value}}
            if self._check(("agents", "named"), named, f"{origin}: [agents.{key}]", origin):
                self._origins |= {("agents", f"{key}.{inner}"): origin for inner in value}
        elif key not in _SECTIONS[section] or (section, key) == ("agents", "named"):
            self._unknown(f"{origin}: {section}.{key}", key, _SECTIONS[section])
        else:
            self._check((section, key), value, f"{origin}: {section}.{key}", origin)

    def _put_roles(self, value: Mapping[str, Any], origin: str) -> None:
        unknown = [role for role in value if role not in get_args(RoleName)]
        for role in unknown:
            self._unknown(f"{origin}: [agents.roles] {role}", role, get_args(RoleName))
        if not unknown:
            merged = {**self._raw.get(("agents", "roles"), {}), **value}
            self._check(("agents", "roles"), merged, f"{origin}: [agents.roles]", origin)

    def _check(self, name: tuple[str, str], value: Any, where: str, origin: str) -> bool:
        if name == ("agents", "named") and not self._check_agents(value, where):
            return False
        try:
            msgspec.convert(value, _type_of(*name))
        except msgspec.ValidationError as problem:
            self._problems.append(f"{where}: {problem}")
            return False
        self._raw[name] = value
        self._origins[name] = origin
        return True

    def _check_agents(self, named: Mapping[str, Mapping[str, Any]], where: str) -> bool:
        known = AgentSettings.__struct_fields__
        unknown = [key for content in named.values() for key in content if key not in known]
        for key in unknown:
            self._unknown(f"{where} {key}", key, known)
        # An agent without a valid host would get the whole network, so a mistake here must not be skipped.
        hosts = [host for content in named.values() for host in _texts(content.get("hosts"))]
        invalid = [host for host in hosts if parse_address(host) is None]
        self._problems += [f"{where} hosts: {host!r} is not a host or host:port" for host in invalid]
        return not unknown and not invalid

    def _unknown(self, where: str, name: str, known: Any) -> None:
        near = difflib.get_close_matches(name, list(known), 1, 0.5)
        self._problems.append(f"{where} is unknown" + (f"; did you mean '{near[0]}'?" if near else ""))

    def settings(self) -> Settings:
        if self._problems:
            raise SettingsInvalid(
                "settings can't be used:\n  " + "\n  ".join(self._problems),
                hint="correct these settings; `loopwright explain settings` lists every key",
            )
        sections = {
            name: msgspec.convert({key: value for (section, key), value in self._raw.items() if section == name}, kind)
            for name, kind in _SECTION_TYPES.items()
        }
        return Settings(Values(**sections), self._origins)


def _texts(value: Any) -> list[str]:
    """The texts of a list; msgspec reports everything else."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _from_text(text: str, kind: Any) -> Any:
    """A variable's text as a value; a list may be written as JSON or with commas."""
    kind = kind.__origin__
    may_be_text = isinstance(kind, UnionType) and str in get_args(kind)
    if kind is str or (may_be_text and not text.lstrip().startswith("[")):
        return text
    if kind is bool and text.lower() in ("1", "0", "true", "false", "yes", "no", "on", "off"):
        return text.lower() in ("1", "true", "yes", "on")
    try:
        return json.loads(text)
    except ValueError:
        if str(kind).startswith("list"):
            return [part.strip() for part in text.split(",") if part.strip()]
        return text


def help_of(section: str, key: str) -> str:
    """The help line of a setting."""
    return _description(_type_of(section, key))


def agent_help_of(key: str) -> str:
    """The help line of a key in an [agents.NAME] table."""
    return _description(get_type_hints(AgentSettings, include_extras=True)[key])


def _description(kind: Any) -> str:
    described = next(meta for meta in kind.__metadata__ if isinstance(meta, msgspec.Meta))
    return described.description or ""


_SECTION_TYPES: dict[str, Any] = {name: type(getattr(Values(), name)) for name in Values.__struct_fields__}
_SECTIONS: dict[str, tuple[str, ...]] = {name: kind.__struct_fields__ for name, kind in _SECTION_TYPES.items()}


@cache
def _types(section: str) -> dict[str, Any]:
    """Evaluated when needed, because reading annotations is slow."""
    return get_type_hints(_SECTION_TYPES[section], include_extras=True)


def _type_of(section: str, key: str) -> Any:
    return _types(section)[key]
