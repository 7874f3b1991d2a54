"""Lock files of Cargo."""

from __future__ import annotations

import tomllib
from typing import Any

from loopwright.judging.lock_files.model import LockFile, LockFormat, Package, entry_key, name_of
from loopwright.judging.lock_files.shapes import Unclear, anything, each, exactly, record, table, text, understood

_NAME = text(r"[\w-]+")
_PACKAGE = record(
    {"name": _NAME, "version": text(r"\d[\w.+-]*")},
    {
        "source": text(r"(?:registry|sparse)\+https://[^\s#?]+"), "checksum": text(r"[0-9a-f]{64}"),
        # References to packages of the file.
        "dependencies": each(text(r"[\w-]+(?: \d[\w.+-]*(?: \([^\s()]+\))?)?")),
    },
)  # fmt: skip


def _read(data: bytes) -> LockFile:
    header = tomllib.loads(data.decode("utf-8"))
    entries: dict[str, Any] = {}
    for package in understood(header.pop("package", []), each(table(text(), anything))):
        name = understood(package.get("name"), _NAME)
        key = entry_key(name, repr(package.get("version")), repr(package.get("source")))
        if key in entries:
            raise Unclear(key)
        entries[key] = package
    return LockFile(header, entries)


def _packages(key: str, entry: Any) -> tuple[Package, ...]:
    understood(entry, _PACKAGE)
    name, version = name_of(key), entry["version"]
    if "source" not in entry:
        # A package of the project. The file names no folder: only a manifest can.
        return (Package(name=name, folder="."),)
    if "checksum" not in entry:
        raise Unclear(f"{name} has no hash")
    registries, hashes = frozenset({entry["source"]}), frozenset({entry["checksum"]})
    return (Package(name=name, version=version, registries=registries, hashes=hashes),)


CARGO = LockFormat(
    _read,
    {"version": exactly(3, 4)},
    _packages,
    frozenset({"registry+https://github.com/rust-lang/crates.io-index", "sparse+https://index.crates.io/"}),
)
