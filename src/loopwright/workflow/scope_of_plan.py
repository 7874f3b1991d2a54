"""Compares the scope of a plan with the settings, on the project as it is now: the base of the build."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from loopwright.judging.machine import ProjectMachine
from loopwright.judging.project_scope import BaseFiles, PlanScope, facts_about_base, scope_of_project
from loopwright.kernel import git
from loopwright.kernel.files import read_regular_file
from loopwright.workflow.documents.page import MOST_BYTES
from loopwright.workflow.facts import Gates
from loopwright.workflow.slices import Slices

_NOT_IN_BASE = (".git", "node_modules")


def scope_of_slices(slices: Slices, granted: tuple[str, ...] = (), protect: tuple[str, ...] = ()) -> PlanScope:
    """What the plan says about the files of the work; `granted` are paths that a person allowed during the build."""
    return PlanScope(
        files=slices.scope,
        judges=(*protect, *(judge for check in slices.checks for judge in check.judges)),
        commands=tuple((check.command, check.cwd) for check in slices.checks),
        granted=(*slices.scope_wanted, *granted),
    )


def wider_scope(root: Path, slices: Slices, gates: Gates) -> tuple[str, ...]:
    """The entries of the plan that allow more than the settings: a person must approve them."""
    if not slices.scope and not slices.scope_wanted:
        return ()
    files = frozenset(_files(root))
    base = BaseFiles(files, lambda path: _read(root, path), lambda paths: {path: _read(root, path) for path in paths})
    scope = scope_of_project(gates.project, scope_of_slices(slices, protect=gates.seal), base)
    # The plan names files whose content is not written yet.
    facts = facts_about_base(scope.by_settings, files, lambda _: b"", ProjectMachine(root), lambda *_: files)
    return scope.wider(facts)


def _files(root: Path) -> Iterator[str]:
    """The paths of all files that the base will have."""
    listed = git.query("ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=root)
    if listed.exit_code == 0:
        yield from (os.fsdecode(path) for path in listed.stdout.split(b"\0") if path)
        return
    for folder, below, names in os.walk(root):
        below[:] = [name for name in below if name not in _NOT_IN_BASE]
        yield from (os.path.relpath(Path(folder) / name, root) for name in names)


def _read(root: Path, path: str) -> bytes:
    try:
        return read_regular_file(root / path, most=MOST_BYTES)
    except OSError:
        return b""
