"""Lock files of Poetry, uv, PDM and Pipenv."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from loopwright.judging.lock_files.model import LockFile, LockFormat, Package, details_of, entry_key, name_of
from loopwright.judging.lock_files.shapes import (
    Unclear,
    anything,
    each,
    either,
    exactly,
    host_of,
    is_address,
    is_flag,
    record,
    table,
    text,
    understood,
    unique_keys,
)

_INDEX = "https://pypi.org/simple"
_DEFAULTS = frozenset({_INDEX, "https://files.pythonhosted.org"})
_NAME = text(r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?")
_VERSION = text(r"[\w.!+-]+")
_RANGE = text(r"[\w\s.,*!+=<>~^|()-]*")
_HASH = text(r"(?:sha256|sha384|sha512|blake2b):[0-9a-f]{32,}")
_TEXTS = each(text())
# A requirement by name, without an address.
_REQUIREMENT = text(r"[A-Za-z0-9][^@]*")
_SDIST = re.compile(r"(.+?)(?:\.tar\.gz|\.tar\.bz2|\.zip|\.tgz|\.tar\.xz)")
_WHEEL = re.compile(r"([^-]+)-([^-]+)(?:-[^-]+){3,4}\.whl")
_EGG = re.compile(r"([^-]+)-([^-]+)-.+\.(?:egg|exe)")
_LISTED_FILES = each(record({"file": text(r"[\w.!+-]+"), "hash": _HASH}))


def _toml(data: bytes, *also: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The document without its packages, and the packages by name, version and the values of some keys."""
    document = tomllib.loads(data.decode("utf-8"))
    packages = understood(document.pop("package", []), each(table(text(), anything)))
    entries: dict[str, Any] = {}
    for package in packages:
        name = understood(package.get("name"), _NAME)
        key = entry_key(_canonical(name), *(repr(package.get(field)) for field in ("version", *also)))
        if key in entries:
            raise Unclear(key)
        entries[key] = package
    return document, entries


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _hashes(name: str, version: str, files: Iterable[Mapping[str, str]]) -> frozenset[str]:
    """The hashes of files; each file must have the name of its package."""
    found = set()
    for file in files:
        file_name = file["file"] if "file" in file else file["url"].rpartition("/")[2]
        if not _is_file_of(name, version, file_name.replace("%2B", "+").replace("%21", "!")):
            raise Unclear(file_name)
        found.add(file["hash"])
    if not found:
        raise Unclear(f"{name} has no hash")
    return frozenset(found)


def _is_file_of(name: str, version: str, file: str) -> bool:
    binary = _WHEEL.fullmatch(file) or _EGG.fullmatch(file)
    if binary is not None:
        return _canonical(binary[1]) == name
    source = _SDIST.fullmatch(file)
    if source is None:
        return False
    stem = _canonical(source[1])
    return _canonical(source[1].rpartition("-")[0]) == name or stem.startswith(f"{name}-{_canonical(version)}")


# Poetry

_POETRY_DEPENDENCY = either(
    _RANGE,
    record(
        {"version": _RANGE},
        {"markers": text(), "extras": _TEXTS, "optional": is_flag, "python": _RANGE, "allow-prereleases": is_flag},
    ),
)
_POETRY_PACKAGE = record(
    {"name": _NAME, "version": _VERSION},
    {
        "description": text(), "optional": is_flag, "python-versions": text(), "groups": _TEXTS, "category": text(),
        "markers": anything, "files": _LISTED_FILES, "develop": exactly(False), "extras": table(text(), _TEXTS),
        "dependencies": table(_NAME, either(_POETRY_DEPENDENCY, each(_POETRY_DEPENDENCY))),
        "source": record({"type": exactly("legacy"), "url": is_address, "reference": text()}),
    },
)  # fmt: skip


def _read_poetry(data: bytes) -> LockFile:
    header, entries = _toml(data)
    metadata = understood(header.pop("metadata", {}), table(text(), anything))
    # Older versions list the files of all packages in one table.
    files = understood(metadata.pop("files", {}), table(_NAME, _LISTED_FILES))
    by_name = {_canonical(name): found for name, found in files.items()}
    for key, package in entries.items():
        if "files" not in package and name_of(key) in by_name:
            package["files"] = by_name[name_of(key)]
    return LockFile({**header, **{f"metadata.{key}": value for key, value in metadata.items()}}, entries)


def _poetry_packages(key: str, entry: Any) -> tuple[Package, ...]:
    understood(entry, _POETRY_PACKAGE)
    source = entry.get("source")
    name, version = name_of(key), entry["version"]
    registry = _index(source["url"]) if source else _INDEX
    hashes = _hashes(name, version, entry.get("files", ()))
    return (Package(name=name, version=version, registries=frozenset({registry}), hashes=hashes),)


def _index(address: str) -> str:
    return address.rstrip("/")


POETRY = LockFormat(
    _read_poetry,
    {
        "extras": table(text(), _TEXTS), "metadata.lock-version": text(), "metadata.python-versions": text(),
        "metadata.content-hash": text(),
    },
    _poetry_packages,
    _DEFAULTS,
)  # fmt: skip

# uv

_UV_REGISTRY = record({"registry": is_address})
# A package of the project itself.
_UV_FOLDER = either(*(record({kind: text()}) for kind in ("virtual", "editable", "directory")))
# A dependency is a reference to a package of the file, so its source leads nowhere else.
_UV_DEPENDENCIES = each(
    record(
        {"name": _NAME},
        {"version": _VERSION, "source": either(_UV_REGISTRY, _UV_FOLDER), "marker": text(), "extra": _TEXTS},
    )
)
_UV_FILE = record({"url": is_address, "hash": _HASH}, {"size": anything, "upload-time": text()})
_UV_PACKAGE = record(
    {"name": _NAME, "source": either(_UV_REGISTRY, _UV_FOLDER)},
    {
        "version": _VERSION, "dependencies": _UV_DEPENDENCIES, "resolution-markers": _TEXTS,
        "optional-dependencies": table(text(), _UV_DEPENDENCIES), "dev-dependencies": table(text(), _UV_DEPENDENCIES),
        "sdist": _UV_FILE, "wheels": each(_UV_FILE),
        # A copy of the manifest, by which uv sees that the file is stale.
        "metadata": anything,
    },
)  # fmt: skip


def _read_uv(data: bytes) -> LockFile:
    return LockFile(*_toml(data, "source"))


def _uv_packages(key: str, entry: Any) -> tuple[Package, ...]:
    understood(entry, _UV_PACKAGE)
    name, version, source = name_of(key), entry.get("version", ""), entry["source"]
    if "registry" not in source:
        return (Package(name=name, folder=next(iter(source.values()))),)
    files = [*entry.get("wheels", ()), *([entry["sdist"]] if "sdist" in entry else [])]
    registries = frozenset([_index(source["registry"]), *(host_of(file["url"]) for file in files)])
    return (Package(name=name, version=version, registries=registries, hashes=_hashes(name, version, files)),)


UV = LockFormat(
    _read_uv,
    {
        "version": exactly(1), "revision": anything, "requires-python": _RANGE, "resolution-markers": _TEXTS,
        "supported-markers": _TEXTS, "required-markers": _TEXTS,
        "options": record({}, dict.fromkeys(
            ("resolution-mode", "prerelease-mode", "fork-strategy", "exclude-newer", "exclude-newer-span"), text()
        )),
    },
    _uv_packages,
    _DEFAULTS,
)  # fmt: skip

# PDM

_PDM_FILE = record({"hash": _HASH}, {"file": text(r"[\w.!+-]+"), "url": is_address})
_PDM_PACKAGE = record(
    {"name": _NAME, "version": _VERSION},
    {
        "requires_python": _RANGE, "summary": text(), "groups": _TEXTS, "marker": text(), "extras": _TEXTS,
        "dependencies": each(_REQUIREMENT), "files": each(_PDM_FILE),
    },
)  # fmt: skip


def _read_pdm(data: bytes) -> LockFile:
    header, entries = _toml(data, "extras", "marker")
    metadata = understood(header.pop("metadata", {}), table(text(), anything))
    return LockFile({**header, **{f"metadata.{key}": value for key, value in metadata.items()}}, entries)


def _pdm_packages(key: str, entry: Any) -> tuple[Package, ...]:
    understood(entry, _PDM_PACKAGE)
    name, version = name_of(key), entry["version"]
    files = [file for file in entry.get("files", ()) if understood("file" in file or "url" in file, exactly(True))]
    registries = frozenset(host_of(file["url"]) for file in files if "url" in file)
    return (Package(name=name, version=version, registries=registries, hashes=_hashes(name, version, files)),)


PDM = LockFormat(
    _read_pdm,
    {
        "metadata.groups": _TEXTS, "metadata.strategy": _TEXTS, "metadata.lock_version": text(),
        "metadata.content_hash": text(), "metadata.targets": each(table(text(), text())),
    },
    _pdm_packages,
    _DEFAULTS,
)  # fmt: skip

# Pipenv

_PIPENV_SOURCE = record({"name": text(), "url": is_address, "verify_ssl": exactly(True)})
_PIPENV_META = record(
    {"sources": each(_PIPENV_SOURCE)},
    {
        "hash": anything,
        "pipfile-spec": anything,
        "requires": table(text(), text()),
        "host-environment-markers": anything,
    },
)
_PIPENV_PACKAGE = record(
    {"hashes": each(_HASH), "version": text(r"==[\w.!+-]+")},
    {"index": text(), "markers": text(), "extras": _TEXTS},
)


def _read_pipenv(data: bytes) -> LockFile:
    document = understood(
        json.loads(data.decode("utf-8"), object_pairs_hook=unique_keys), table(text(), table(text(), anything))
    )
    meta = understood(document.pop("_meta", {}), _PIPENV_META)
    addresses = {source["name"]: _index(source["url"]) for source in meta["sources"]}
    entries = {
        entry_key(_canonical(name), group, addresses.get(package.get("index", ""), "")): package
        for group, packages in document.items()
        for name, package in understood(packages, table(_NAME, table(text(), anything))).items()
    }
    return LockFile({}, entries, frozenset(addresses.values()))


def _pipenv_packages(key: str, entry: Any) -> tuple[Package, ...]:
    understood(entry, _PIPENV_PACKAGE)
    _, registry = details_of(key)
    if "index" in entry and not registry:
        raise Unclear(f"unknown index {entry['index']}")
    hashes = frozenset(understood(entry["hashes"], bool))
    return (
        Package(
            name=name_of(key),
            version=entry["version"],
            registries=frozenset({registry} if registry else ()),
            hashes=hashes,
        ),
    )


PIPENV = LockFormat(_read_pipenv, {}, _pipenv_packages, _DEFAULTS)
