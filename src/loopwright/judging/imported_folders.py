"""Finds the folders that source imports. Pure; by patterns, for most languages.

A folder that only tests import belongs to the tests, so the search begins at files of the product.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from posixpath import dirname, join, normpath

from loopwright.judging.manifest_names import ReadAll

_QUOTED = re.compile(r"""\b(?:from|import|require(?:_relative)?|include|load)\b\s*\(?\s*["'<]([^"'>\n]+)""")
_DOTTED = re.compile(r"^\s*(?:from|import|use|using|alias)\s+(?:static\s+)?([\w.:\\]+)", re.MULTILINE)
_ALIAS = re.compile(r"^(?:[@~#]/|/)")
_BETWEEN = re.compile(r"::|[.\\]")
_MOST_READ = 400
_MOST_BYTES = 1 << 18


def imported_folders(
    begin: Iterable[str], wanted: Mapping[str, list[str]], projects: frozenset[str], read_all: ReadAll
) -> frozenset[str]:
    """Which of the wanted folders the code imports, also through another one. Each folder comes with its files."""
    found: set[str] = set()
    ahead = sorted(begin, key=lambda path: path.count("/"))
    left = _MOST_READ
    while ahead and left > 0 and len(found) < len(wanted):
        reading, ahead = ahead[:left], []
        left -= len(reading)
        for path, content in read_all(reading).items():
            for place in _places(path, content[:_MOST_BYTES].decode("utf-8", "replace"), projects):
                new = {folder for folder in wanted.keys() - found if f"{place}/".startswith(f"{folder}/")}
                found |= new
                ahead += [file for folder in sorted(new) for file in wanted[folder]]
    return frozenset(found)


def _places(path: str, text: str, projects: frozenset[str]) -> Iterator[str]:
    """The paths that a file may mean by its imports."""
    roots = ("", dirname(path), *(project for project in projects if path.startswith(f"{project}/")))
    for name in _QUOTED.findall(text):
        if name.startswith("."):
            yield normpath(join(dirname(path), name))
        else:
            yield from (normpath(join(root, _ALIAS.sub("", name))) for root in roots)
    for name in _DOTTED.findall(text):
        inner = _BETWEEN.sub("/", name).strip("/")
        if inner and not name.startswith("."):
            yield from (join(root, inner) for root in roots)
