"""Private folders for agents' settings and sessions, below the sandbox root, one per work and agent.

They outlive a sandbox, so that a session can be resumed. Their content is not redacted and never leaves them.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from loopwright.kernel.files import make_private_folder, remove_tree
from loopwright.kernel.ids import sanitised

_HOMES = ".homes"


def work_folder(root: Path, project: Path, work: str) -> Path:
    """The folder with the homes of all agents for one work of a project; it may not exist."""
    return _of_project(root, project) / sanitised(work)


def open_home(root: Path, project: Path, work: str, agent: str) -> Path:
    """An agent's home for this work, created if missing."""
    home = work_folder(root, project, work) / sanitised(agent)
    for folder in (root / _HOMES, _of_project(root, project), home.parent, home):
        make_private_folder(folder)
    return home


def works_with_homes(root: Path, project: Path) -> tuple[str, ...]:
    """The names of all works that have homes."""
    folder = _of_project(root, project)
    return tuple(sorted(path.name for path in folder.iterdir())) if folder.is_dir() else ()


def drop_homes(root: Path, project: Path, work: str) -> None:
    """Remove the homes of a finished work, whose sessions are not resumed."""
    remove_tree(work_folder(root, project, work))
    with suppress(OSError):  # other works may have homes in the same folder
        _of_project(root, project).rmdir()
        (root / _HOMES).rmdir()


def _of_project(root: Path, project: Path) -> Path:
    # Two projects may use the same name for their work.
    return root / _HOMES / hashlib.sha256(os.fsencode(project.resolve())).hexdigest()[:16]
