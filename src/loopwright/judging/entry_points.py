"""New entry points of a manifest. An entry point of the base that leads elsewhere now steers what tests import. Pure.

New names are free if no name of the base could have meant them: nothing that a test of the base imports or starts
changes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

_Tree = Mapping[str, Any]
IsFree = Callable[[str], bool]
# Tables of entry points, as paths of keys. "*" stands for each group of entry points.
_TABLES: dict[str, tuple[tuple[str, ...], ...]] = {
    "pyproject.toml": (
        ("project", "scripts"), ("project", "gui-scripts"), ("project", "entry-points", "*"),
        ("tool", "poetry", "scripts"),
    ),
    "setup.cfg": (("options.entry_points", "*"),),
    "package.json": (("bin",), ("exports",)),
    "Cargo.toml": (("bin",), ("features",)),
}  # fmt: skip
# Tables whose names are commands.
_COMMANDS = ("scripts", "gui-scripts", "console_scripts", "gui_scripts", "bin")
# This feature is on if no other is named.
_DEFAULT_FEATURES = "default"


def without_new_entry_points(manifest: str, before: _Tree, after: _Tree, is_free: IsFree) -> tuple[_Tree, _Tree]:
    """Both versions of a manifest, the second without its new entry points. `is_free` decides by their name."""
    for path in _TABLES.get(manifest, ()):
        before, after = _without_new(path, before, after, is_free)
    return before, after


def _without_new(path: tuple[str, ...], before: _Tree, after: _Tree, is_free: IsFree) -> tuple[_Tree, _Tree]:
    key, rest = path[0], path[1:]
    keys = [name for name in after if is_free(name)] if key == "*" else [key]
    for name in keys:
        old, new = _table(name, before), _table(name, after)
        # Without exports, every file of a package can be imported: the first exports change that.
        if new is None or (old is None and (name in before or name == "exports")):
            continue
        if rest:
            old, new = _without_new(rest, old or {}, new, is_free)
        else:
            old, new = old or {}, _known_keys(name, old or {}, new, is_free)
        before, after = _with(before, name, old), _with(after, name, new)
    return before, after


def _known_keys(table: str, old: _Tree, new: _Tree, is_free: IsFree) -> _Tree:
    """The table without new names that change nothing for names of the base."""
    # The longest pattern that matches an import decides. So a new name may take imports from a pattern of the base.
    taken = tuple(name.partition("*")[0] for name in old if "*" in name or name.endswith("/"))

    def is_new(name: str) -> bool:
        match table:
            case "exports":
                return not name.startswith(taken)
            case "features":
                return name != _DEFAULT_FEATURES
            case _:
                return table not in _COMMANDS or is_free(name)

    return {name: value for name, value in new.items() if name in old or not is_new(name)}


def _table(key: str, document: _Tree) -> _Tree | None:
    """A table of entry points by their names; None if there is none, or if it has another form."""
    value = document.get(key)
    if key == "exports" and value is not None:
        value = value if isinstance(value, Mapping) and all(name.startswith(".") for name in value) else {".": value}
        # The first condition that holds decides, so their order counts.
        return {name: json.dumps(target) for name, target in value.items()}
    if key == "bin" and isinstance(value, str):
        return {str(document.get("name")): value}
    if key == "bin" and isinstance(value, list):
        return {str(target.get("name")): target for target in value}
    return value if isinstance(value, Mapping) else None


def _with(document: _Tree, key: str, table: _Tree) -> _Tree:
    """The document with this table. An empty table counts as absent."""
    others = {name: value for name, value in document.items() if name != key}
    return {**others, key: table} if table else others
