"""A look at one setting before any workspace is opened: the language of `--help` and of wrong usage.

Costs two small files at most. Whoever opens the workspace reads its settings in full, and complains of them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from loopwright.workspace import names

_VARIABLE = "LOOPWRIGHT_WORKSPACE_LANGUAGE"
_LANGUAGES = ("auto", "en", "zh")
# A reader of TOML would cost `--version` more than all else that it does.
_SET = re.compile(r"^\[workspace\][^\n]*\n(?:(?!\[)[^\n]*\n)*?language *= *[\"'](auto|en|zh)[\"']", re.MULTILINE)


def language_setting(environment: Mapping[str, str]) -> str:
    """`auto`, `en` or `zh`, as variable, workspace and user's own file say, in this order."""
    given = environment.get(_VARIABLE, "")
    if given in _LANGUAGES:
        return given
    home = os.path.expanduser("~")
    own = environment.get("XDG_CONFIG_HOME") or f"{home}/.config"
    root = _workspace(home)
    files = [*([f"{root}/{names.CONFIG}"] if root else []), f"{own}/loopwright/config.toml"]
    return next((found for file in files if (found := _set_in(file))), "auto")


def _workspace(home: str) -> str | None:
    try:
        return names.workspace_above(os.getcwd(), home)
    except OSError:  # the folder that we are in has gone
        return None


def _set_in(name: str) -> str | None:
    try:
        with open(name, encoding="utf-8", errors="replace") as file:
            found = _SET.search(file.read())
    except OSError:
        return None
    return found[1] if found is not None else None
