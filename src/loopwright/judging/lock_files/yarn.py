"""Lock files of Yarn: version 1 has a format of its own, later versions write YAML."""

from __future__ import annotations

import json
import re
from typing import Any

from loopwright.judging.lock_files.model import LockFile, LockFormat, Package, details_of, entry_key, name_of
from loopwright.judging.lock_files.npm import (
    INTEGRITY,
    NAME,
    NAME_PATTERN,
    RANGE_OR_ALIAS,
    RANGE_PATTERN,
    REGISTRY,
    VERSION,
    VERSION_PATTERN,
    registry_of,
)
from loopwright.judging.lock_files.shapes import Unclear, anything, exactly, record, table, text, understood
from loopwright.judging.lock_files.yaml_values import read_yaml

_CLASSIC = "classic"
_YAML_MARK = re.compile(rb"^__metadata:", re.MULTILINE)
_WORD = r'"(?:[^"\\]|\\.)*"|[^\s",:]+(?::[^\s",:]+)*'
_HEAD = re.compile(rf"(?:{_WORD})(?:, (?:{_WORD}))*:")
_WORDS = re.compile(_WORD)
_FIELD = re.compile(rf"( {{2}}| {{4}})({_WORD}) ({_WORD}|\S+)")
_GROUP = re.compile(r" {2}(dependencies|optionalDependencies):")
_DESCRIPTOR = re.compile(rf"({NAME_PATTERN})@(?:npm:({NAME_PATTERN})@)?(?:npm:)?(?:{RANGE_PATTERN})")
_CLASSIC_PACKAGE = record(
    {"version": VERSION, "resolved": text()},
    {
        "integrity": INTEGRITY,
        "dependencies": table(NAME, RANGE_OR_ALIAS), "optionalDependencies": table(NAME, RANGE_OR_ALIAS),
    },
)  # fmt: skip

_LATER_RANGE = text(rf"(?:npm:)?(?:{RANGE_PATTERN})|npm:{NAME_PATTERN}@(?:{RANGE_PATTERN})")
# Yarn brings these changes of packages along.
_PATCH = r"#(?:~|optional!)?builtin<compat/(?:fsevents|resolve|typescript)>"
_PATCHED = re.compile(rf"({NAME_PATTERN})@patch:\1@(?:npm%3A)?(?:[\w.*<>=^~|+%-]|\s)*{_PATCH}(?:::[\w=&.+-]*)?")
_LATER_RESOLUTION = re.compile(rf"({NAME_PATTERN})@npm:({VERSION_PATTERN})")
_LATER_PACKAGE = record(
    {"version": VERSION, "resolution": text(), "languageName": exactly("node"), "linkType": exactly("hard")},
    {
        "checksum": text(r"(?:[\w.]+/)?[0-9a-f]{32,}"), "conditions": text(),
        "dependencies": table(NAME, _LATER_RANGE), "optionalDependencies": table(NAME, _LATER_RANGE),
        "peerDependencies": table(NAME, text()), "peerDependenciesMeta": anything, "dependenciesMeta": anything,
        "bin": table(text(r"[\w.@/-]+"), text(r"(?!/|~)(?!.*\.\.(?:/|$))[^\\]*")),
    },
)  # fmt: skip
_LATER_OWN = record(
    {"version": text(), "resolution": text(), "languageName": exactly("unknown"), "linkType": exactly("soft")},
    {"peerDependencies": anything, "peerDependenciesMeta": anything, "dependenciesMeta": anything, "bin": anything},
)
_OWN = re.compile(rf"({NAME_PATTERN})@workspace:(.+)")


def _read(data: bytes) -> LockFile:
    if _YAML_MARK.search(data) is None:
        return LockFile({}, _classic_entries(data.decode("utf-8")))
    document = understood(read_yaml(data), table(text(), table(text(), anything)))
    metadata = {f"metadata.{key}": value for key, value in document.pop("__metadata", {}).items()}
    entries: dict[str, Any] = {}
    for head, entry in document.items():
        entries.update(_later_entries(head, entry))
    return LockFile(metadata, entries)


def _classic_entries(lines: str) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    fields: dict[str, Any] = {}
    group: dict[str, Any] = fields
    for line in lines.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        field = _FIELD.fullmatch(line)
        if _HEAD.fullmatch(line):
            fields = group = {}
            descriptors = [_unquoted(word) for word in _WORDS.findall(line.removesuffix(":"))]
            _add(entries, entry_key(_name_in(descriptors[0]), _CLASSIC, *descriptors), fields)
        elif (start := _GROUP.fullmatch(line)) is not None:
            group = {}
            _add(fields, start[1], group)
        elif field is not None:
            _add(fields if len(field[1]) == 2 else group, _unquoted(field[2]), _unquoted(field[3]))
        else:
            raise Unclear(line)
    return entries


def _add(values: dict[str, Any], key: str, value: object) -> None:
    if key in values:
        raise Unclear(key)
    values[key] = value


def _unquoted(word: str) -> str:
    return str(json.loads(word)) if word.startswith('"') else word


def _name_in(descriptor: str) -> str:
    return descriptor[: descriptor.find("@", 1)]


def _later_entries(head: str, entry: dict[str, Any]) -> dict[str, Any]:
    """An entry by its name. The dependencies of the project's own packages are entries, too."""
    descriptors = head.split(", ")
    name = _name_in(descriptors[0])
    if not _OWN.fullmatch(str(entry.get("resolution"))):
        return {entry_key(name, "later", *descriptors): entry}
    dependencies = understood(entry.get("dependencies", {}), table(text(), text()))
    rest = {key: value for key, value in entry.items() if key != "dependencies"}
    return {
        entry_key(name, "own"): rest,
        **{entry_key("", "dependency", name, key): value for key, value in dependencies.items()},
    }


def _packages(key: str, entry: Any) -> tuple[Package, ...]:
    kind, *descriptors = details_of(key)
    match kind:
        case "classic":
            return _classic_packages(descriptors, entry)
        case "later":
            return _later_packages(descriptors, entry)
        case "own":
            folder = _OWN.fullmatch(understood(entry, _LATER_OWN)["resolution"])
            return (Package(name=name_of(key), folder=folder[2] if folder is not None else ""),)
        case _:
            understood(entry, text(rf"(?:npm:)?(?:{RANGE_PATTERN})"))
            return ()


def _names(descriptors: list[str]) -> tuple[frozenset[str], str]:
    """The names that an entry stands for, and the package that all of them mean."""
    names, origins = set[str](), set[str]()
    for descriptor in descriptors:
        found = _DESCRIPTOR.fullmatch(descriptor)
        if found is None:
            raise Unclear(descriptor)
        names.add(found[1])
        origins.add(found[2] or found[1])
    if len(origins) != 1:
        raise Unclear(", ".join(descriptors))
    return frozenset(names), origins.pop()


def _classic_packages(descriptors: list[str], entry: Any) -> tuple[Package, ...]:
    understood(entry, _CLASSIC_PACKAGE)
    names, origin = _names(descriptors)
    version = entry["version"]
    address, _, digest = entry["resolved"].partition("#")
    hashes = {*entry.get("integrity", "").split(), *([understood(digest, text(r"[0-9a-f]{40}"))] if digest else [])}
    if not hashes:
        raise Unclear(f"{origin} has no hash")
    registries = frozenset({registry_of(address, origin, version)})
    return tuple(
        Package(name=name, version=version, origin=origin, registries=registries, hashes=frozenset(hashes))
        for name in names
    )


def _later_packages(descriptors: list[str], entry: Any) -> tuple[Package, ...]:
    understood(entry, _LATER_PACKAGE)
    version, resolution = entry["version"], entry["resolution"]
    hashes = frozenset([entry["checksum"].rpartition("/")[2]] if "checksum" in entry else ())
    # Packages for another system have no checksum.
    if not hashes and "conditions" not in entry:
        raise Unclear(f"{resolution} has no hash")
    changed = [_PATCHED.fullmatch(part) for part in (resolution, *descriptors)]
    if changed[0] is not None:
        names = frozenset(found[1] if found is not None else "" for found in changed)
        if len(names) != 1:
            raise Unclear(resolution)
        return (Package(name=changed[0][1], version=f"{version} with changes", hashes=hashes),)
    found = _LATER_RESOLUTION.fullmatch(resolution)
    names, origin = _names(descriptors)
    if found is None or (found[1], found[2]) != (origin, version):
        raise Unclear(resolution)
    commands = entry.get("bin", {})
    return tuple(Package(name=name, version=version, origin=origin, hashes=hashes, commands=commands) for name in names)


YARN = LockFormat(
    _read,
    {"metadata.version": text(r"\d+"), "metadata.cacheKey": text(r"[\w.]+")},
    _packages,
    frozenset({REGISTRY}),
)
