"""Finds the files that steer a command without being run by it. Pure."""

from __future__ import annotations

from posixpath import join, normpath

from loopwright.judging.called_commands import recipe_files
from loopwright.judging.controls.shell import compared_files
from loopwright.judging.project_files import CODE_KINDS
from loopwright.kernel.relative_folder import relative_folder


def steering_files(command: str, cwd: str, files: frozenset[str]) -> frozenset[str]:
    """The files from which a command takes its recipe, or with which it compares a result."""
    folder = relative_folder(cwd)
    compared = {normpath(join(folder, name)) for name in compared_files(command)}
    return recipe_files(command, folder, files) | {path for path in compared & files if not path.endswith(CODE_KINDS)}
