"""Finds the source and tests of the project in its folder, and folders with code that no setting names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from loopwright.judging.called_commands import CommandIn, with_called
from loopwright.judging.deciding_scripts import deciding_scripts, named_paths
from loopwright.judging.globs import matches
from loopwright.judging.project_files import ProjectFiles, find_project_files
from loopwright.kernel import git
from loopwright.stages.context import Context


def unlisted_folders(context: Context, scope: tuple[str, ...]) -> tuple[str, ...]:
    """Folders with code about which nothing is known, and that neither the settings nor this scope names."""
    settings = context.settings.values.project
    found = project_files(context, *((command.command, command.cwd) for command in settings.test_commands))
    named = (*settings.source, *scope, *settings.tests, *settings.protect)
    return tuple(folder for folder in found.unknown if not matches(f"{folder}/x", named))


def project_files(context: Context, *test_commands: CommandIn) -> ProjectFiles:
    """The source and tests of the project, by its tracked files and by what its tests run."""
    repository = context.repository()
    root = context.project
    tracked = git.query("ls-files", "-z", cwd=root).stdout if repository is not None else b""
    names = [os.fsdecode(name) for name in tracked.split(b"\0") if name]
    files = frozenset(names or _files_in(root))

    def read(path: str) -> bytes:
        return _content(root / path) or b""

    def read_all(paths: Iterable[str]) -> dict[str, bytes]:
        return {path: content for path in paths if (content := _content(root / path)) is not None}

    called = tuple(with_called(test_commands, files, read))
    scripts = frozenset[str]().union(*(deciding_scripts(*command) for command in called))
    named = frozenset[str]().union(*(named_paths(*command) for command in called))
    return find_project_files(files, scripts, named=named, read_all=read_all)


def _content(path: Path) -> bytes | None:
    """The content of a file of the project; None if it is a link, or missing in the checkout."""
    try:
        return path.read_bytes() if path.is_file() and not path.is_symlink() else None
    except OSError:
        return None


def _files_in(root: Path) -> Iterator[str]:
    """The files of a project without a repository, or without a commit."""
    for folder, below, files in os.walk(root):
        below[:] = [name for name in below if not name.startswith(".") and name not in ("node_modules", "venv")]
        yield from (os.path.relpath(Path(folder) / name, root) for name in files)
