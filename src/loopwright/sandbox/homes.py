"""Private folders of agents, for settings and sessions: below the sandbox root, one per piece of work and agent.

They outlive a sandbox, so that a session can be gone on with; what is in them is not redacted and leaves them never.
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
    """The homes of all agents for one piece of work of a project, whether it is there or not."""
    return _of_project(root, project) / sanitised(work)


def open_home(root: Path, project: Path, work: str, agent: str) -> Path:
    """An agent's home for this work, made if need be."""
    home = work_folder(root, project, work) / sanitised(agent)
    for folder in (root / _HOMES, _of_project(root, project), home.parent, home):
        make_private_folder(folder)
    return home


def works_with_homes(root: Path, project: Path) -> tuple[str, ...]:
    """The pieces of work that have homes."""
    folder = _of_project(root, project)
    return tuple(sorted(path.name for path in folder.iterdir())) if folder.is_dir() else ()


def drop_homes(root: Path, project: Path, work: str) -> None:
    """The work is over: nobody goes on with its sessions."""
    remove_tree(work_folder(root, project, work))
    with suppress(OSError):  # others may have theirs beside it
        _of_project(root, project).rmdir()
        (root / _HOMES).rmdir()


def _of_project(root: Path, project: Path) -> Path:
    # Two projects may give their work the same name.
    return root / _HOMES / hashlib.sha256(os.fsencode(project.resolve())).hexdigest()[:16]
