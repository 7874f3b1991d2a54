"""The cwd gate: a step's folder must be inside the sandbox, by path components, links followed.

A clean error message, not a boundary: the boundary is the isolation.
"""

from __future__ import annotations

from pathlib import Path

from loopwright.errors import SandboxEscape
from loopwright.kernel.files import shown


def folder_inside(repo: Path, cwd: str) -> Path:
    """The real folder that `cwd` names, or `SandboxEscape`. Call it right before each use."""
    root = repo.resolve()
    if "\0" in cwd:
        raise _escape(cwd, "it has a NUL character")
    try:
        real = (root / cwd).resolve()
    except (OSError, RuntimeError) as problem:
        raise _escape(cwd, "its links go in a circle") from problem
    if real != root and root not in real.parents:
        raise _escape(cwd, "it lies outside the sandbox")
    return real


def _escape(cwd: str, reason: str) -> SandboxEscape:
    return SandboxEscape(
        f"the folder '{shown(cwd)}' can't be used: {reason}",
        hint="give the step a cwd below the project, then `loopwright unlatch` and `loopwright run`",
    )
