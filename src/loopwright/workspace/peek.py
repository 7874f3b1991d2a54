"""A look at one setting before any workspace is opened: the language of `--help` and of wrong usage.

Costs two small files at most. Whoever opens the workspace reads its settings in full, and complains of them.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path

from loopwright.workspace import names

_VARIABLE = "LOOPWRIGHT_WORKSPACE_LANGUAGE"
_LANGUAGES = ("auto", "en", "zh")


def language_setting(environment: Mapping[str, str]) -> str:
    """`auto`, `en` or `zh`, as variable, workspace and user's own file say, in this order."""
    given = environment.get(_VARIABLE, "")
    if given in _LANGUAGES:
        return given
    home = os.path.expanduser("~")  # noqa: PTH111 -- does not raise where there is no home
    own = environment.get("XDG_CONFIG_HOME") or f"{home}/.config"
    root = _workspace(home)
    files = [*([f"{root}/{names.CONFIG}"] if root else []), f"{own}/loopwright/config.toml"]
    return next((found for file in files if (found := _set_in(Path(file)))), "auto")


def _workspace(home: str) -> str | None:
    try:
        return names.workspace_above(str(Path.cwd()), home)
    except OSError:  # the folder that we are in has gone
        return None


def _set_in(file: Path) -> str | None:
    try:
        data = file.read_bytes()
        section = tomllib.loads(data.decode()).get("workspace") if b"language" in data else None
    except (OSError, ValueError):
        return None
    found = section.get("language") if isinstance(section, dict) else None
    return found if found in _LANGUAGES else None
