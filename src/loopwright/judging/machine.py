"""What the machine of a project has: installed Python modules, and commands that a user can run."""

from __future__ import annotations

import shutil
from functools import cached_property
from pathlib import Path

_ENVIRONMENTS = (".venv", "venv", "env")


class ProjectMachine:
    """Looks when a rule asks."""

    def __init__(self, project: Path) -> None:
        self._project = project

    def is_installed(self, module: str) -> bool:
        """Whether a Python that may run the tests has a top-level module of this name."""
        return any(_has_module(folder, module) for folder in self._libraries)

    def is_command(self, name: str) -> bool:
        """Whether PATH or an environment of the project has a program of this name."""
        folders = (self._project / folder / "bin" for folder in _ENVIRONMENTS)
        return shutil.which(name) is not None or any((folder / name).is_file() for folder in folders)

    @cached_property
    def _libraries(self) -> tuple[Path, ...]:
        """The folders of installed modules: of the project's environments, and of Python on PATH."""
        found = [self._project / name / "bin" / "python" for name in _ENVIRONMENTS]
        found += [Path(path) for name in ("python3", "python") if (path := shutil.which(name)) is not None]
        prefixes = {place.parent.parent for path in found for place in (path, path.resolve())}
        return tuple(folder for prefix in prefixes for folder in prefix.glob("lib/python3*/*-packages"))


def _has_module(folder: Path, module: str) -> bool:
    return (folder / module).is_dir() or (folder / f"{module}.py").is_file()
