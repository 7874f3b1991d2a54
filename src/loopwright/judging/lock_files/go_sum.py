"""The hashes of Go's modules. Where a module comes from is in go.mod."""

from __future__ import annotations

import re
from typing import Any

from loopwright.judging.lock_files.model import LockFile, LockFormat, Package, details_of, entry_key, name_of
from loopwright.judging.lock_files.shapes import Unclear

_LINE = re.compile(r"([\w.~/!+-]+) (v\d[\w.+-]*(?:/go\.mod)?) (h1:[A-Za-z0-9+/]{43}=)")


def _read(data: bytes) -> LockFile:
    entries: dict[str, Any] = {}
    for line in data.decode("utf-8").splitlines():
        if not line.strip():
            continue
        found = _LINE.fullmatch(line)
        key = entry_key(found[1], found[2]) if found is not None else ""
        if found is None or entries.get(key, found[3]) != found[3]:
            raise Unclear(line)
        entries[key] = found[3]
    return LockFile({}, entries)


def _packages(key: str, entry: Any) -> tuple[Package, ...]:
    (version,) = details_of(key)
    return (Package(name=name_of(key), version=version, hashes=frozenset({entry})),)


GO = LockFormat(_read, {}, _packages)
