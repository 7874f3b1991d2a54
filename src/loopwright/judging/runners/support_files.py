"""Writes the files that run inside the user's test programs to a folder that a sandbox can read."""

from __future__ import annotations

from pathlib import Path

_SOURCE = Path(__file__).parent / "support"


def install_support(folder: Path) -> None:
    """Write the support files to a new folder."""
    for source in sorted(_SOURCE.rglob("*")):
        if source.is_file() and "__pycache__" not in source.parts:
            target = folder / source.relative_to(_SOURCE)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
