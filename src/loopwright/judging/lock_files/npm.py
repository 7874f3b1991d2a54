"""Lock files of npm, and what the lock files of other installers from npm's registry share with them."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import urlsplit

from loopwright.judging.lock_files.model import LockFile, LockFormat, Package, details_of, entry_key, name_of
from loopwright.judging.lock_files.shapes import (
    Unclear,
    anything,
    each,
    either,
    exactly,
    is_address,
    is_flag,
    record,
    table,
    text,
    understood,
    unique_keys,
)

REGISTRY = "https://registry.npmjs.org"
# Yarn's name for the same registry.
_SAME_REGISTRY = {"https://registry.yarnpkg.com": REGISTRY}
NAME_PATTERN = r"(?:@[\w.~-]+/)?[A-Za-z0-9_~-][\w.~-]*"
VERSION_PATTERN = r"\d[\w.+-]*"
# Versions, ranges and tags. Not the name of an archive: npm would read the file.
RANGE_PATTERN = r"(?!.*\.(?:tgz|tar|tar\.gz)\s*$)(?:[\w*<>=^~|][\w\s.*<>=^~|,+-]*)?"
NAME = text(NAME_PATTERN)
VERSION = text(VERSION_PATTERN)
RANGE = text(RANGE_PATTERN)
# A range, or a range of another package.
RANGE_OR_ALIAS = text(rf"{RANGE_PATTERN}|npm:{NAME_PATTERN}(?:@{RANGE_PATTERN})?")
INTEGRITY = text(
    r"(?:sha1|sha256|sha384|sha512)-[A-Za-z0-9+/]+=*(?:\s+(?:sha1|sha256|sha384|sha512)-[A-Za-z0-9+/]+=*)*"
)

_RANGES = table(NAME, RANGE_OR_ALIAS)
_FILE = text(r"(?!/|~)(?!.*\.\.(?:/|$))[^\\]*")
# What a package says about itself: it leads nowhere.
_DESCRIPTIONS = dict.fromkeys(
    ("license", "engines", "os", "cpu", "libc", "funding", "deprecated", "peerDependenciesMeta"), anything
)
_FLAGS = dict.fromkeys(
    ("dev", "optional", "devOptional", "peer", "inBundle", "bundled", "hasInstallScript", "hasShrinkwrap"), is_flag
)
_PACKAGE = record(
    {"version": VERSION},
    {
        **_DESCRIPTIONS, **_FLAGS, "name": NAME, "resolved": text(), "integrity": INTEGRITY,
        "dependencies": _RANGES, "peerDependencies": table(NAME, text()), "optionalDependencies": _RANGES,
        "workspaces": anything,
        "requires": either(_RANGES, is_flag), "bin": either(_FILE, table(text(r"[\w.@/-]+"), _FILE)),
        "bundleDependencies": either(each(NAME), is_flag),
    },
)  # fmt: skip
_DEPENDENCIES = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
# A package of the project itself. Its dependencies are entries of their own.
_OWN = record(
    {},
    {
        **_DESCRIPTIONS, **_FLAGS, "name": NAME, "version": text(), "bin": anything, "bundleDependencies": anything,
    },
)  # fmt: skip
_ENTRY_PATH = re.compile(rf"(?:.*/)?node_modules/({NAME_PATTERN})")
_OWN_FOLDER = "folder"


def registry_of(address: str, name: str, version: str) -> str:
    """The registry in the address of a package's archive, which must be that of this package and version."""
    understood(address, is_address)
    parts = urlsplit(address)
    path = parts.path.replace("%2f", "/").replace("%2F", "/").replace("%40", "@")
    archive = f"/{name}/-/{name.rpartition('/')[2]}-{version.partition('+')[0]}.tgz"
    download = re.search(rf"/{re.escape(name)}/{re.escape(version)}/[0-9a-f]+\Z", path)
    if path.endswith(archive):
        path = path.removesuffix(archive)
    elif download is not None:
        path = path[: download.start()]
    else:
        raise Unclear(address)
    registry = f"{parts.scheme}://{parts.netloc.lower()}{path}"
    return _SAME_REGISTRY.get(registry, registry)


def _read(data: bytes) -> LockFile:
    document = understood(json.loads(data.decode("utf-8"), object_pairs_hook=unique_keys), table(text(), anything))
    entries: dict[str, Any] = {}
    for path, package in understood(document.pop("packages", {}), table(text(), table(text(), anything))).items():
        found = _ENTRY_PATH.fullmatch(path)
        if found is not None:
            entries[entry_key(found[1], path)] = package
        else:
            entries.update(_own_entries(path, package))
    _add_nested(entries, "", understood(document.pop("dependencies", {}), table(NAME, table(text(), anything))))
    return LockFile(document, entries)


def _own_entries(path: str, package: dict[str, Any]) -> dict[str, Any]:
    """A package of the project itself, with each dependency as an entry."""
    rest = {key: value for key, value in package.items() if key not in (*_DEPENDENCIES, "workspaces")}
    found: dict[str, Any] = {entry_key("", _OWN_FOLDER, path): rest}
    if "workspaces" in package:
        found[entry_key("", "workspaces", path)] = package["workspaces"]
    for kind in _DEPENDENCIES:
        for name, version in understood(package.get(kind, {}), table(NAME, text())).items():
            found[entry_key("", kind, path, name)] = version
    return found


def _add_nested(entries: dict[str, Any], above: str, packages: dict[str, Any]) -> None:
    """The older format: packages inside packages."""
    for name, package in packages.items():
        path = f"{above}/{name}"
        entries[entry_key(name, "nested", path)] = {
            key: value for key, value in package.items() if key != "dependencies"
        }
        inside = understood(package.get("dependencies", {}), table(NAME, table(text(), anything)))
        _add_nested(entries, path, inside)


def _packages(key: str, entry: Any) -> tuple[Package, ...]:
    name = name_of(key)
    if not name:
        return _own_packages(details_of(key), entry)
    if isinstance(entry, dict) and "version" in entry and details_of(key)[0] == "nested":
        entry = _without_alias(entry)
    understood(entry, _PACKAGE)
    origin, version = entry.get("name", name), entry["version"]
    is_bundled = entry.get("inBundle", entry.get("bundled", False))
    if not is_bundled and "integrity" not in entry:
        raise Unclear(f"{name} has no hash")
    address = entry.get("resolved")
    return (
        Package(
            name=name,
            version=version,
            origin=origin,
            registries=frozenset([registry_of(address, origin, version)] if address is not None else ()),
            hashes=frozenset(entry.get("integrity", "").split()),
            commands=_commands(origin, entry.get("bin", {})),
            is_bundled=is_bundled,
        ),
    )


def _without_alias(entry: dict[str, Any]) -> dict[str, Any]:
    """The older format writes `npm:name@version` as the version of an alias."""
    found = re.fullmatch(rf"npm:({NAME_PATTERN})@({VERSION_PATTERN})", str(entry["version"]))
    return {**entry, "name": found[1], "version": found[2]} if found is not None else entry


def _commands(name: str, commands: Any) -> dict[str, str]:
    return {name.rpartition("/")[2]: commands} if isinstance(commands, str) else commands


def _own_packages(details: list[str], entry: Any) -> tuple[Package, ...]:
    kind, path, *_ = details
    if kind == _OWN_FOLDER:
        understood(entry, _OWN)
        return (Package(name=f"{_OWN_FOLDER} {path}", folder=path or "."),)
    if kind not in _DEPENDENCIES:
        raise Unclear(kind)
    understood(entry, RANGE)
    return ()


NPM = LockFormat(
    _read,
    {
        "name": text(), "version": text(), "lockfileVersion": exactly(1, 2, 3), "requires": is_flag,
        "packageIntegrity": text(),
    },
    _packages,
    frozenset({REGISTRY}),
)  # fmt: skip
