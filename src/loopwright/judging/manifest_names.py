"""Finds the folders and files of a product that manifests name: entry points, packages, targets. Pure."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from posixpath import dirname, join, normpath

# The contents of these files, read at once.
ReadAll = Callable[[Iterable[str]], Mapping[str, bytes]]
_MANIFESTS = ("package.json", "Cargo.toml", "composer.json", "pyproject.toml")
_MAGIC = re.compile(r"[*?\[{!]")
# The scripts of a package that start the product.
_STARTS = ("start", "dev", "serve")
_MOST_READ = 200
_MOST_BYTES = 1 << 18


def named_in_manifests(paths: Iterable[str], read_all: ReadAll) -> frozenset[str]:
    """The folders and files that a manifest among these files names as parts of the product."""
    manifests = sorted(path for path in paths if path.rpartition("/")[2] in _MANIFESTS)
    found = set()
    for path, content in read_all(sorted(manifests, key=lambda path: path.count("/"))[:_MOST_READ]).items():
        document = _parsed(path, content)
        for name in _names(path.rpartition("/")[2], document):
            start = _MAGIC.split(name)[0]
            place = normpath(join(dirname(path), start if start == name else dirname(start)))
            if not place.startswith((".", "/")):
                found.add(place)
    return frozenset(found)


def _parsed(path: str, content: bytes) -> object:
    try:
        if len(content) > _MOST_BYTES:
            return None
        text = content.decode()
        return json.loads(text) if path.endswith(".json") else tomllib.loads(text)
    except (ValueError, RecursionError):
        return None


def _names(manifest: str, document: object) -> Iterator[str]:
    match manifest:
        case "package.json":
            for key in ("main", "module", "browser", "types", "bin", "exports", "files"):
                yield from _texts(_at(document, key))
            for script in _STARTS:
                yield from (dirname(word) for text in _texts(_at(document, "scripts", script)) for word in text.split())
        case "Cargo.toml":
            targets = [_at(document, "lib"), *_items(_at(document, "bin"))]
            yield from (dirname(path) for target in targets for path in _texts(_at(target, "path")))
        case "composer.json":
            yield from _texts(_at(document, "autoload"))
            yield from _texts(_at(document, "bin"))
        case _:
            yield from _packages(document)


def _packages(document: object) -> Iterator[str]:
    """The packages of a Python project: those that a build tool is told, else the one with the name of the project."""
    for name in _texts(_at(document, "project", "name")):
        yield name.replace("-", "_").replace(".", "/")
    setuptools = _at(document, "tool", "setuptools")
    for package in _items(_at(setuptools, "packages")):
        yield from (text.replace(".", "/") for text in _texts(package))
    for package in _items(_at(document, "tool", "poetry", "packages")):
        for name in _texts(_at(package, "include")):
            yield join(next(_texts(_at(package, "from")), ""), name)
    yield from _texts(_at(document, "tool", "hatch", "build", "targets", "wheel", "packages"))


def _at(document: object, *keys: str) -> object:
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def _items(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _texts(value: object) -> Iterator[str]:
    """All texts in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)
