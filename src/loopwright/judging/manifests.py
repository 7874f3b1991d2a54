"""The parts of manifests that steer no test or check: dependencies, new entry points and descriptions. Pure.

The rest of a manifest counts: an unknown key may steer a test runner, and an entry point that leads elsewhere steers
what tests import. So does a dependency that is not by name and version, which could put any code in the place of a
test runner, and a script with the name of a command.
"""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from loopwright.judging.entry_points import without_new_entry_points

_Tree = Mapping[str, Any]
# Paths of keys that are free, as tuples. "*" stands for any one key that names no plug-in and no command. "@" stands
# for dependencies: those by name and version are free.
_DESCRIPTIONS = (
    "version", "description", "readme", "keywords", "classifiers", "urls", "authors", "maintainers", "license",
    "license-files", "documentation", "homepage", "repository",
)  # fmt: skip
_PYPROJECT = (
    *(("project", key) for key in _DESCRIPTIONS),
    ("project", "dependencies", "@"), ("project", "optional-dependencies", "@"), ("project", "requires-python"),
    ("dependency-groups", "@"),
    *(("tool", "poetry", key) for key in _DESCRIPTIONS),
    ("tool", "poetry", "dependencies", "@"), ("tool", "poetry", "dev-dependencies", "@"), ("tool", "poetry", "extras"),
    ("tool", "poetry", "group", "*", "dependencies", "@"),
    ("tool", "pdm", "dev-dependencies", "@"), ("tool", "uv", "dev-dependencies", "@"),
)  # fmt: skip
_PACKAGE = (
    *((key,) for key in _DESCRIPTIONS),
    *((key,) for key in ("author", "contributors", "bugs", "funding", "files", "private")),
    *((key, "@") for key in ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")),
)
_CARGO = (
    *(("package", key) for key in _DESCRIPTIONS),
    *((key, "@") for key in ("dependencies", "dev-dependencies", "build-dependencies")),
)
_SETUP_CFG = (
    *(("metadata", key) for key in (*_DESCRIPTIONS, "url", "author", "author_email", "long_description")),
    ("options", "install_requires", "@"), ("options", "python_requires"), ("options.extras_require", "@"),
)  # fmt: skip
# Entry points that a test runner loads as plug-ins.
_PLUGINS = re.compile(r"pytest\d*|nose.*|tox.*|coverage.*|hypothesis.*")
# Installers read a file of this name in place of a package.
_ARCHIVE = r"(?!\S*\.(?:tgz|tar|tbz|txz|tlz|zip|whl|tar\.\w+)\s*$)"
# A dependency by name and version. These are none: `name @ file:x`, `npm:other@1`, `user/repo`, `..`, `a.tgz`, `-e x`.
_PLAIN = re.compile(rf"{_ARCHIVE}(?:[\w*<>=^~|!][^:/@\\]*)?")
_PLAIN_KEYS = frozenset([
    "version", "extras", "markers", "python", "platform", "optional", "allow-prereleases", "features",
    "default-features", "workspace", "include-group",
])  # fmt: skip
_REQUIREMENTS = re.compile(r"requirements[\w.-]*\.txt")
# A requirement by name and version, also with hashes, in a line with single spaces. An option (-r, -e, --index-url) or
# an address could load anything.
_VERSIONS = r"\(?(?:[=<>!~]{1,3} ?[\w.*+-]+ ?,? ?)*\)?"
_BY_NAME = re.compile(
    rf"(?:{_ARCHIVE}[A-Za-z0-9][\w.-]* ?(?:\[[\w,. -]*\])? ?{_VERSIONS}(?:;(?:(?! -)[^#\\])*)?)?"
    r"(?: ?--hash=\w+:[0-9a-f]+)*(?: \\)? ?(?:#.*)?"
)
_ENTRY_POINTS = "options.entry_points"

Versions = Callable[[], tuple[bytes, bytes]]
IsCommand = Callable[[str], bool]


def same_without_free_parts(path: str, read: Versions, is_command: IsCommand) -> bool:
    """Whether two versions of a manifest differ in free parts only; False for a file that is no manifest."""
    name = path.rpartition("/")[2]
    known = _MANIFESTS.get("requirements.txt" if _REQUIREMENTS.fullmatch(name) else name)
    if known is None:
        return False
    free, parse = known

    def is_plain(key: str) -> bool:
        return not _PLUGINS.fullmatch(key) and not is_command(key)

    try:
        documents = [parse(data.decode()) for data in read()]
        parts = without_new_entry_points(name, documents[0], documents[1], is_plain)
        before, after = (_without(document, free, is_plain) for document in parts)
    except (ValueError, configparser.Error, AttributeError, TypeError, RecursionError):
        return False
    return before == after


def _setup_cfg(text: str) -> _Tree:
    reader = configparser.RawConfigParser(strict=False)
    reader.read_string(text)
    return {name: {key: _value(name, key, value) for key, value in reader[name].items()} for name in reader.sections()}


def _value(section: str, key: str, value: str) -> object:
    """A value of several lines: a list, or a table of entry points."""
    lines = [line.strip() for line in value.splitlines() if line.strip()]
    if section == _ENTRY_POINTS:
        return dict(_pair(line) for line in lines)
    return lines if key == "install_requires" else value


def _pair(line: str) -> tuple[str, str]:
    name, _, target = line.partition("=")
    return name.strip(), target.strip()


def _go_mod(text: str) -> _Tree:
    """Everything but required versions: `replace` could lead to any code."""
    lines = [line.split("//")[0].split() for line in text.splitlines()]
    return {"": [line for line in lines if line and not _is_required(line)]}


def _is_required(words: list[str]) -> bool:
    return words[0] == "require" or (len(words) == 2 and words[1].startswith("v") and "/" in words[0]) or words == [")"]


def _requirements(text: str) -> _Tree:
    return {"": [line for line in text.splitlines() if not _BY_NAME.fullmatch(" ".join(line.split()))]}


_MANIFESTS: dict[str, tuple[tuple[tuple[str, ...], ...], Callable[[str], _Tree]]] = {
    "pyproject.toml": (_PYPROJECT, tomllib.loads),
    "package.json": (_PACKAGE, json.loads),
    "Cargo.toml": (_CARGO, tomllib.loads),
    "setup.cfg": (_SETUP_CFG, _setup_cfg),
    "go.mod": ((), _go_mod),
    "requirements.txt": ((), _requirements),
}


def _without(document: _Tree, free: tuple[tuple[str, ...], ...], is_plain: IsCommand) -> dict[str, Any]:
    """The document without the free keys. A table that has only free keys, or nothing, counts as absent."""
    kept: dict[str, Any] = {}
    for key, value in document.items():
        below = tuple(rest[1:] for rest in free if rest[0] == key or (rest[0] == "*" and is_plain(key)))
        # A longer path says more about the table than the "*" above it.
        deeper = tuple(filter(None, below)) if isinstance(value, Mapping) else ()
        if below and not deeper and ("@",) not in below:
            continue
        rest = _addresses(value) if ("@",) in below else _without(value, deeper, is_plain) if deeper else value
        # An empty list of dependencies counts as absent, before the work and after it.
        if rest or (rest == value and not below):
            kept[key] = rest
    return kept


def _addresses(dependencies: object) -> object:
    """The dependencies that are not by name and version: an address could put any code in place of a test runner."""
    if isinstance(dependencies, Mapping):
        return {name: value for name, value in dependencies.items() if not _is_plain(value)}
    return dependencies if not isinstance(dependencies, list) else [one for one in dependencies if not _is_plain(one)]


def _is_plain(value: object) -> bool:
    """Whether a dependency, or a list of dependencies, is by name and version."""
    match value:
        case Mapping():
            parts = (part for key, part in value.items() if key != "features")
            return value.keys() <= _PLAIN_KEYS and all(map(_is_plain, parts))
        case list():
            return all(map(_is_plain, value))
        case str():
            return all(_PLAIN.fullmatch(line.strip()) for line in value.splitlines())
        case _:
            return isinstance(value, bool)
