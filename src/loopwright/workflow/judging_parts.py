"""The part of a settings file that controls tests: a new dependency does not change a judge. Pure."""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from collections.abc import Iterable
from typing import Any

NODE_RUNNERS = ("npm", "yarn", "pnpm", "bun")
_TABLES = ("pytest", "coverage", "tox", "nox", "hatch", "poe", "taskipy", "unittest", "nose2")
_SECTIONS = re.compile(r"tool:pytest|pytest|coverage:.*|aliases|tox.*|testenv.*|nosetests")
_PACKAGE_KEYS = ("jest", "mocha", "ava", "vitest", "c8", "nyc", "tap", "type", "imports", "exports", "main", "config")
_WORDS = re.compile(r"[\w:.-]+")


def part_of(path: str, data: bytes, commands: Iterable[str]) -> bytes | None:
    """The bytes that control tests, or None if there are none. An unreadable file counts in full."""
    name = path.rpartition("/")[2]
    try:
        match name:
            case "pyproject.toml":
                tools = tomllib.loads(data.decode()).get("tool", {})
                return _kept({key: value for key, value in tools.items() if key in _TABLES})
            case "setup.cfg":
                return _setup(data.decode())
            case "package.json":
                return _package(json.loads(data), commands)
            case _:
                return data
    except (ValueError, configparser.Error, AttributeError, RecursionError):
        return data


def _kept(settings: dict[str, Any]) -> bytes | None:
    return json.dumps(settings, sort_keys=True, default=str).encode() if settings else None


def _setup(text: str) -> bytes | None:
    reader = configparser.RawConfigParser(strict=False)
    reader.read_string(text)
    return _kept({name: dict(reader[name]) for name in reader.sections() if _SECTIONS.fullmatch(name)})


def _package(document: dict[str, Any], commands: Iterable[str]) -> bytes | None:
    """The scripts that the checks run, with their pre and post scripts, and the settings of test runners."""
    scripts = {name: str(text) for name, text in document.get("scripts", {}).items()}
    ahead = [word for command in commands for word in _WORDS.findall(command)]
    reached: dict[str, str] = {}
    while ahead:
        word = ahead.pop()
        for name in (word, f"pre{word}", f"post{word}"):
            if name in scripts and name not in reached:
                reached[name] = scripts[name]
                ahead += _WORDS.findall(scripts[name])
    settings = {key: document[key] for key in _PACKAGE_KEYS if key in document}
    return _kept({"scripts": reached, **settings}) if reached or settings else None
