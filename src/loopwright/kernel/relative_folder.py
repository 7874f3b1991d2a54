"""Folders of a project, by their paths: one spelling for the working folder of a command, and the folders above."""

from __future__ import annotations

from pathlib import PurePosixPath
from posixpath import normpath


def relative_folder(cwd: str) -> str:
    """The folder without `.`, repeated slashes and resolvable `..`; empty for the project's own folder.

    A name that begins with a dot is kept. A folder outside the project still begins with `..` or `/`.
    """
    folder = normpath(cwd)
    return "" if folder == "." else folder


def folders_above(path: str) -> tuple[str, ...]:
    """The folders in which a path lies, from the inside out; the last one is the top, an empty text."""
    above = (str(folder) for folder in PurePosixPath(path).parents)
    return tuple("" if folder in (".", "/") else folder for folder in above)
