"""The settings of the user's Codex that its private home needs: the model and its provider."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeGuard

import msgspec

from loopwright.agents.written_keys import WrittenKey, written_keys
from loopwright.kernel.address import Address, parse_address
from loopwright.kernel.files import read_regular_file

_FILE = "config.toml"
_PROVIDERS = "model_providers"
_TAKEN = ("model", "model_provider", "model_reasoning_effort", "openai_base_url", "chatgpt_base_url")
_MOST_BYTES = 1 << 20
# Fields that hold names of variables.
_NAMING = ("env_key", "env_http_headers")


class CodexUserSettings(msgspec.Struct, frozen=True):
    """The settings from the user's file; a provider described there has an address and a variable for its key.

    `written` are the keys that the file itself contains, for all providers; `provider` is that of the model.
    """

    top: Mapping[str, Any] = {}
    provider: Mapping[str, Any] = {}
    written: tuple[WrittenKey, ...] = ()

    @property
    def key_variable(self) -> str | None:
        """The variable that holds their provider's key."""
        name = self.provider.get("env_key")
        return name if isinstance(name, str) else None

    @property
    def header_variables(self) -> Mapping[str, str]:
        """The variables for the provider's headers, by header."""
        named = self.provider.get("env_http_headers")
        return {header: name for header, name in named.items() if isinstance(name, str)} if _is_table(named) else {}

    @property
    def address(self) -> Address | None:
        """The address of the model, if it is not the usual one."""
        text = self.provider.get("base_url") or self.top.get("openai_base_url")
        return parse_address(text) if isinstance(text, str) else None

    @property
    def model(self) -> str:
        """The model that they chose."""
        return str(self.top.get("model") or "")

    def text_for(self, folder: Path) -> str:
        """The file for a private home: no questions, and the working folder is trusted."""
        own = {"approval_policy": "never", **self.top}
        tables: dict[str, Any] = {"projects": {str(folder): {"trust_level": "trusted"}}}
        name = self.top.get("model_provider")
        if isinstance(name, str) and self.provider:
            tables[_PROVIDERS] = {name: self.provider}
        return "\n".join(_lines((), {**own, **tables})) + "\n"


def read_user_settings(environment: Mapping[str, str]) -> CodexUserSettings:
    """From the user's own `config.toml`; an unreadable file counts as missing."""
    chosen, home = environment.get("CODEX_HOME"), environment.get("HOME")
    if not chosen and not home:
        return CodexUserSettings()
    path = Path(chosen) / _FILE if chosen else Path(home or "/") / ".codex" / _FILE
    try:
        document = tomllib.loads(read_regular_file(path, most=_MOST_BYTES).decode())
    except (OSError, ValueError):
        return CodexUserSettings()
    top = {name: document[name] for name in _TAKEN if isinstance(document.get(name), str)}
    named = document.get(_PROVIDERS)
    providers = {name: one for name, one in named.items() if _is_table(one)} if _is_table(named) else {}
    used = top.get("model_provider", "")
    return CodexUserSettings(top, providers.get(used, {}), tuple(_written_in(providers, used)))


def _written_in(providers: Mapping[str, Mapping[str, Any]], used: str) -> Iterator[WrittenKey]:
    for name, provider in providers.items():
        table = {field: value for field, value in provider.items() if field not in _NAMING}
        yield from written_keys(table, f"{_FILE}: {_PROVIDERS}.{name}", is_let_in=name == used)


def _is_table(value: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, dict)


def _lines(place: tuple[str, ...], table: Mapping[str, Any]) -> Iterator[str]:
    """A table as TOML: its own values, then the tables in it."""
    values = {key: value for key, value in table.items() if not isinstance(value, dict)}
    if place and values:
        yield f"[{'.'.join(_text(name) for name in place)}]"
    for key, value in values.items():
        yield f"{_text(key)} = {_text(value)}"
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _lines((*place, key), value)


def _text(value: Any) -> str:
    """Strings, numbers, truth values and lists of them are written in TOML as in JSON."""
    return json.dumps(value, ensure_ascii=False, default=str).replace("\x7f", "\\u007f")
