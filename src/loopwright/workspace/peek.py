"""Reads one setting before a workspace is opened: the language of `--help` and of usage errors.

Reads at most two small files. Opening the workspace reads all settings and reports their problems.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from loopwright.workspace import names

_VARIABLE = "LOOPWRIGHT_WORKSPACE_LANGUAGE"
_LANGUAGES = ("auto", "en", "zh")
# A TOML parser would take longer than everything else that `--version` does.
_SET = re.compile(r"^\[workspace\][^\n]*\n(?:(?!\[)[^\n]*\n)*?language *= *[\"'](auto|en|zh)[\"']", re.MULTILINE)


def language_setting(environment: Mapping[str, str]) -> str:
    """`auto`, `en` or `zh`, from the variable, the workspace or the user's own file, in this order."""
    value = environment.get(_VARIABLE, "")
    if value in _LANGUAGES:
        return value
    home = os.path.expanduser("~")
    own = environment.get("XDG_CONFIG_HOME") or f"{home}/.config"
    root = _project(home)
    files = [*([f"{root}/{names.CONFIG}"] if root else []), f"{own}/loopwright/config.toml"]
    return next((language for file in files if (language := _set_in(file))), "auto")


def _project(home: str) -> str | None:
    try:
        return names.project_above(os.getcwd(), os.path.realpath(home))
    except OSError:  # the current folder was deleted
        return None


def _set_in(name: str) -> str | None:
    try:
        with open(name, encoding="utf-8", errors="replace") as file:
            match = _SET.search(file.read())
    except OSError:
        return None
    return match[1] if match is not None else None
