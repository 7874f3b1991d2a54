"""The cwd gate: a step's folder must be inside the sandbox, compared by path components after resolving links.

Gives a clear error message. It is not a security boundary; the isolation is.
"""

from __future__ import annotations

from pathlib import Path

from loopwright.errors import SandboxEscape
from loopwright.kernel.files import shown


def resolve_inside(repo: Path, cwd: str) -> Path:
    """The real folder of `cwd`, or `SandboxEscape`. Call this right before each use."""
    root = repo.resolve()
    if "\0" in cwd:
        raise _escape(cwd, "it contains a NUL character")
    try:
        real = (root / cwd).resolve()
    except (OSError, RuntimeError) as problem:
        raise _escape(cwd, "its links form a loop") from problem
    if real != root and root not in real.parents:
        raise _escape(cwd, "it is outside the sandbox")
    return real


def _escape(cwd: str, reason: str) -> SandboxEscape:
    return SandboxEscape(
        f"the folder '{shown(cwd)}' can't be used: {reason}",
        hint="give the step a cwd inside the project, then `loopwright unlatch` and `loopwright run`",
    )
