"""One spelling for the working folder of a command: the folders of a project are compared by their paths."""

from __future__ import annotations

from posixpath import normpath


def relative_folder(cwd: str) -> str:
    """The folder without `.`, repeated slashes and resolvable `..`; empty for the project's own folder.

    A name that begins with a dot is kept. A folder outside the project still begins with `..` or `/`.
    """
    folder = normpath(cwd)
    return "" if folder == "." else folder
