"""Finds files of a monorepo that import what the work changed: the test commands for them run, too. Pure.

By patterns, as for folders of source. A false match costs a run of a test command, and nothing else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from loopwright.judging.globs import matches
from loopwright.judging.imported_folders import imported_folders
from loopwright.judging.manifest_names import ReadAll
from loopwright.judging.project_files import CODE_KINDS

_MAGIC = re.compile(r"[*?\[{!]")
# Folders in a package whose names are not imported.
_INNER = ("src", "lib", "source")


def dependent_files(
    changed: Iterable[str], commands: Iterable[tuple[str, ...]], files: frozenset[str], read_all: ReadAll
) -> tuple[str, ...]:
    """A file for each test command whose files import what changed, also through another one.

    `commands` are the patterns of their `when`.
    """
    left = [patterns for patterns in commands if patterns]
    reached = {
        folder for path in changed for patterns in left if matches(path, patterns) for folder in _folders(patterns)
    }
    found: list[str] = []
    left = [patterns for patterns in left if not any(matches(path, patterns) for path in changed)]
    is_new = True
    while left and reached and is_new:
        is_new = False
        names = {name: list[str]() for folder in reached for name in _names(folder, files, read_all)}
        for patterns in list(left):
            own = [path for path in files if path.endswith(CODE_KINDS) and matches(path, patterns)]
            folders = _folders(patterns)
            wanted = {name: paths for name, paths in names.items() if name not in folders}
            if own and imported_folders(own, wanted, frozenset(folders), read_all):
                found.append(min(own))
                reached |= folders
                left.remove(patterns)
                is_new = True
    return tuple(found)


def _folders(patterns: tuple[str, ...]) -> frozenset[str]:
    """The folders that patterns such as `lib/**` name."""
    starts = (_MAGIC.split(pattern)[0].rpartition("/")[0] for pattern in patterns)
    return frozenset(start for start in starts if start)


def _names(folder: str, files: frozenset[str], read_all: ReadAll) -> Iterator[str]:
    """The names by which other folders may import this one: its path, the packages in it, and its npm name."""
    yield folder
    for root in (folder, *(f"{folder}/{inner}" for inner in _INNER)):
        inside = (path.removeprefix(f"{root}/") for path in files if path.startswith(f"{root}/"))
        for path in inside:
            name, _, rest = path.partition("/")
            if rest == "__init__.py":
                yield name
    for content in read_all([f"{folder}/package.json"]).values():
        try:
            manifest = json.loads(content)
        except (ValueError, RecursionError):
            continue
        if isinstance(manifest, dict) and isinstance(manifest.get("name"), str):
            yield manifest["name"]
