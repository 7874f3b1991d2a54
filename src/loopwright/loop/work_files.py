"""Where the work of a loop is kept."""

from __future__ import annotations

from pathlib import Path


def patch_path(progress: Path, digest: str) -> Path:
    """The file of the loop's whole work, by its content."""
    return progress / "work" / f"{digest[:16]}.patch"
