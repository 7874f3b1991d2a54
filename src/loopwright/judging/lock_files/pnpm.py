"""Lock files of pnpm, in the formats 6 and 9."""

from __future__ import annotations

import re
from typing import Any

from loopwright.judging.lock_files.model import LockFile, LockFormat, Package, details_of, entry_key, name_of
from loopwright.judging.lock_files.npm import (
    INTEGRITY,
    NAME,
    NAME_PATTERN,
    RANGE,
    REGISTRY,
    VERSION_PATTERN,
    registry_of,
)
from loopwright.judging.lock_files.shapes import (
    Unclear,
    anything,
    each,
    exactly,
    record,
    table,
    text,
    understood,
)
from loopwright.judging.lock_files.yaml_values import read_yaml

_FORMAT = text(r"6\.\d|9\.\d")
_FLAG = exactly("true", "false")
# Versions of the packages that a package was installed next to.
_PEERS = r"(?:\([\w.@/+()~-]*\))?"
_KEY = re.compile(rf"/?({NAME_PATTERN})@({VERSION_PATTERN}){_PEERS}")
_REFERENCE = re.compile(rf"(?:/?({NAME_PATTERN})@)?{VERSION_PATTERN}{_PEERS}")
_REFERENCES = table(NAME, lambda value: isinstance(value, str) and _REFERENCE.fullmatch(value) is not None)
_DIRECT = record({"specifier": RANGE, "version": text(rf"{VERSION_PATTERN}{_PEERS}")})
_NEEDS = {"dependencies": _REFERENCES, "optionalDependencies": _REFERENCES}
_SNAPSHOT = record({}, {**_NEEDS, "optional": _FLAG, "transitivePeerDependencies": each(NAME)})
_PACKAGE = record(
    {"resolution": record({"integrity": INTEGRITY}, {"tarball": text()})},
    {
        **_NEEDS, "optional": _FLAG, "dev": _FLAG, "hasBin": _FLAG, "requiresBuild": _FLAG,
        "transitivePeerDependencies": each(NAME), "bundledDependencies": each(NAME), "bundleDependencies": each(NAME),
        "peerDependencies": table(NAME, text()),
        **dict.fromkeys(("engines", "os", "cpu", "libc", "deprecated", "peerDependenciesMeta"), anything),
    },
)  # fmt: skip
_DIRECT_KINDS = ("dependencies", "devDependencies", "optionalDependencies")


def _read(data: bytes) -> LockFile:
    document = understood(read_yaml(data), table(text(), anything))
    understood(document.get("lockfileVersion"), _FORMAT)
    # Format 6 has the only project at the top.
    projects = document.pop("importers", None)
    if projects is None:
        projects = {".": {kind: document.pop(kind) for kind in _DIRECT_KINDS if kind in document}}
    entries: dict[str, Any] = {}
    for folder, project in understood(projects, table(text(), table(text(), anything))).items():
        rest = {key: value for key, value in project.items() if key not in _DIRECT_KINDS}
        entries[entry_key("", "project", folder)] = rest
        for kind in _DIRECT_KINDS:
            for name, direct in understood(project.get(kind, {}), table(text(), anything)).items():
                entries[entry_key("", "direct", folder, kind, name)] = direct
    for kind in ("packages", "snapshots"):
        for key, package in understood(document.pop(kind, {}), table(text(), anything)).items():
            found = _KEY.fullmatch(key)
            entries[entry_key(found[1] if found is not None else key, kind, key)] = package
    return LockFile(document, entries)


def _packages(key: str, entry: Any) -> tuple[Package, ...]:
    kind, written, *_ = details_of(key)
    match kind:
        case "project":
            understood(entry, record({}))
            return (Package(name=f"folder {written}", folder=written),)
        case "direct":
            understood(entry, _DIRECT)
            return ()
        case "snapshots":
            understood(entry, _SNAPSHOT)
            return _aliases(entry)
        case _:
            return (_package(name_of(key), written, entry), *_aliases(entry))


def _package(name: str, written: str, entry: Any) -> Package:
    found = _KEY.fullmatch(written)
    if found is None:
        raise Unclear(written)
    understood(entry, _PACKAGE)
    resolution = entry["resolution"]
    return Package(
        name=name,
        version=found[2],
        registries=frozenset([registry_of(resolution["tarball"], name, found[2])] if "tarball" in resolution else ()),
        hashes=frozenset(resolution["integrity"].split()),
    )


def _aliases(entry: Any) -> tuple[Package, ...]:
    """Dependencies that are installed under another name than their own."""
    references = [(name, _REFERENCE.fullmatch(value)) for kind in _NEEDS for name, value in entry.get(kind, {}).items()]
    return tuple(
        Package(name=name, origin=found[1]) for name, found in references if found is not None and found[1] is not None
    )


PNPM = LockFormat(
    _read,
    {"lockfileVersion": _FORMAT, "settings": table(text(), _FLAG)},
    _packages,
    frozenset({REGISTRY}),
)
