"""The parts of manifests that steer no test or check: dependencies, entry points and descriptions. Pure.

The rest of a manifest counts: an unknown key may steer a test runner. So does a dependency with an address, which could
put any code in the place of a test runner, and a script with the name of a command.
"""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

_Tree = Mapping[str, Any]
# Paths of keys that are free, as tuples. "*" stands for any one key that names no plug-in and no command. "@" frees all
# below it but addresses.
_DESCRIPTIONS = (
    "version", "description", "readme", "keywords", "classifiers", "urls", "authors", "maintainers", "license",
    "license-files", "documentation", "homepage", "repository",
)  # fmt: skip
_PYPROJECT = (
    *(("project", key) for key in _DESCRIPTIONS),
    ("project", "dependencies", "@"), ("project", "optional-dependencies", "@"), ("project", "requires-python"),
    ("project", "scripts", "*"), ("project", "gui-scripts", "*"), ("project", "entry-points", "*"),
    ("dependency-groups", "@"),
    *(("tool", "poetry", key) for key in _DESCRIPTIONS),
    ("tool", "poetry", "dependencies", "@"), ("tool", "poetry", "dev-dependencies", "@"), ("tool", "poetry", "extras"),
    ("tool", "poetry", "group", "*", "dependencies", "@"), ("tool", "poetry", "scripts", "*"),
    ("tool", "pdm", "dev-dependencies", "@"), ("tool", "uv", "dev-dependencies", "@"),
)  # fmt: skip
_PACKAGE = (
    *((key,) for key in _DESCRIPTIONS),
    *((key,) for key in ("author", "contributors", "bugs", "funding", "files", "private", "name")),
    *((key, "@") for key in ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")),
    *((key,) for key in ("bin", "main", "module", "types", "typings", "exports", "browser")),
)
_CARGO = (
    *(("package", key) for key in _DESCRIPTIONS),
    *((key, "@") for key in ("dependencies", "dev-dependencies", "build-dependencies")),
    *((key,) for key in ("bin", "features")),
)
_SETUP_CFG = (
    *(("metadata", key) for key in (*_DESCRIPTIONS, "url", "author", "author_email", "long_description")),
    ("options", "install_requires", "@"), ("options", "python_requires"), ("options.extras_require", "@"),
    ("options.entry_points", "console_scripts", "*"), ("options.entry_points", "gui_scripts", "*"),
    ("options.entry_points", "*"),
)  # fmt: skip
# Entry points that a test runner loads as plug-ins.
_PLUGINS = re.compile(r"pytest\d*|nose.*|tox.*|coverage.*|hypothesis.*")
# A dependency by name and version has none of these: `name @ file:x`, `npm:other@1`, `user/repo`.
_ADDRESS = re.compile(r"[:/@]")
_ADDRESS_KEYS = frozenset(["path", "git", "url", "file", "registry", "registry-index", "source", "package"])
# Lines of lock files that lead to other places than a registry.
_NO_REGISTRY = {
    "poetry.lock": re.compile(r'type = "(?:directory|file|url|git)"'),
    "uv.lock": re.compile(r"source = \{ (?:path|editable|directory|virtual|url|git) ="),
    "pdm.lock": re.compile(r"(?:path|git|url|editable) ="),
    "package-lock.json": re.compile(r'"resolved": "(?!https?://)|"link": true'),
    "npm-shrinkwrap.json": re.compile(r'"resolved": "(?!https?://)|"link": true'),
    "pnpm-lock.yaml": re.compile(r"(?:file|link|git\+\w+):|tarball: (?!https?://)|directory:"),
    "yarn.lock": re.compile(r"(?:file|link|portal|git\+\w+|git):"),
    "Cargo.lock": re.compile(r'source = "(?!registry\+)'),
    "Pipfile.lock": re.compile(r'"(?:path|git|file|editable)":'),
}
_LOCKS = {
    "poetry.lock": "pyproject.toml",
    "uv.lock": "pyproject.toml",
    "pdm.lock": "pyproject.toml",
    "package-lock.json": "package.json",
    "npm-shrinkwrap.json": "package.json",
    "pnpm-lock.yaml": "package.json",
    "yarn.lock": "package.json",
    "Cargo.lock": "Cargo.toml",
    "go.sum": "go.mod",
    "Pipfile.lock": "Pipfile",
    "Gemfile.lock": "Gemfile",
    "composer.lock": "composer.json",
}
_REQUIREMENTS = re.compile(r"requirements[\w.-]*\.txt")
# A requirement by name and version. An option (-r, -e, --index-url) or an address could load anything.
_BY_NAME = re.compile(r"\s*(?:#.*|[\w.-]+(?:\[[\w,. -]*\])?\s*(?:[=<>!~]=?[^;@#]*)?(?:;[^#]*)?(?:#.*)?)?")
_LINES = ("install_requires", "console_scripts", "gui_scripts")
_SCRIPTS = ("console_scripts", "gui_scripts")

Versions = Callable[[], tuple[bytes, bytes]]
IsCommand = Callable[[str], bool]


def is_free_lock_file(path: str, changed: frozenset[str], read: Versions) -> bool:
    """Whether the path is a lock file whose manifest changed, too, and no new line leads to another place."""
    folder, slash, name = path.rpartition("/")
    manifest = _LOCKS.get(name)
    if manifest is None or f"{folder}{slash}{manifest}" not in changed:
        return False
    before, after = (set(data.decode("utf-8", "replace").splitlines()) for data in read())
    elsewhere = _NO_REGISTRY.get(name)
    return elsewhere is None or not any(elsewhere.search(line) for line in after - before)


def same_without_free_parts(path: str, read: Versions, is_command: IsCommand) -> bool:
    """Whether two versions of a manifest differ in free parts only; False for a file that is no manifest."""
    name = path.rpartition("/")[2]
    known = _MANIFESTS.get("requirements.txt" if _REQUIREMENTS.fullmatch(name) else name)
    if known is None:
        return False
    free, parse = known
    try:
        before, after = (_without(parse(data.decode()), free, is_command) for data in read())
    except (ValueError, configparser.Error, AttributeError, TypeError, RecursionError):
        return False
    return before == after


def _setup_cfg(text: str) -> _Tree:
    reader = configparser.RawConfigParser(strict=False)
    reader.read_string(text)
    return {
        name: {key: _lines(key, value) if key in _LINES else value for key, value in reader[name].items()}
        for name in reader.sections()
    }


def _lines(key: str, value: str) -> object:
    """A value of several lines: a list, or a table of scripts."""
    lines = [line.strip() for line in value.splitlines() if line.strip()]
    return dict(_pair(line) for line in lines) if key in _SCRIPTS else lines


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
    return {"": [line for line in text.splitlines() if not _BY_NAME.fullmatch(line)]}


_MANIFESTS: dict[str, tuple[tuple[tuple[str, ...], ...], Callable[[str], _Tree]]] = {
    "pyproject.toml": (_PYPROJECT, tomllib.loads),
    "package.json": (_PACKAGE, json.loads),
    "Cargo.toml": (_CARGO, tomllib.loads),
    "setup.cfg": (_SETUP_CFG, _setup_cfg),
    "go.mod": ((), _go_mod),
    "requirements.txt": ((), _requirements),
}


def _without(document: _Tree, free: tuple[tuple[str, ...], ...], is_command: IsCommand) -> dict[str, Any]:
    """The document without the free keys. A table that has only free keys counts as absent."""
    kept: dict[str, Any] = {}
    for key, value in document.items():
        is_plain = not _PLUGINS.fullmatch(key) and not is_command(key)
        below = tuple(rest[1:] for rest in free if rest[0] == key or (rest[0] == "*" and is_plain))
        # A longer path says more about the table than the "*" above it.
        deeper = tuple(filter(None, below)) if isinstance(value, Mapping) else ()
        if below and not deeper and ("@",) not in below:
            continue
        rest = _addresses(value) if ("@",) in below else _without(value, deeper, is_command) if deeper else value
        if rest or rest == value:
            kept[key] = rest
    return kept


def _addresses(value: object) -> object:
    """The parts of a value that lead to a place: an address could put any code in place of a test runner."""
    if isinstance(value, Mapping):
        if _ADDRESS_KEYS & value.keys():
            return value
        return {key: found for key, inside in value.items() if (found := _addresses(inside))}
    if isinstance(value, list):
        return [found for inside in value if (found := _addresses(inside))]
    return value if isinstance(value, str) and _ADDRESS.search(value) else None
