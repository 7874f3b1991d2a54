"""Writes the files that run inside the user's test programs to a folder that a sandbox can read."""

from __future__ import annotations

import os
from contextlib import suppress
from importlib.machinery import SourceFileLoader
from importlib.util import cache_from_source
from pathlib import Path

_SOURCE = Path(__file__).parent / "support"
_COMPILED = "__pycache__"


def install_support(folder: Path) -> None:
    """Write the support files to a new folder."""
    (folder / _COMPILED).mkdir(parents=True)
    for source in sorted(_SOURCE.rglob("*")):
        if source.is_file() and _COMPILED not in source.parts:
            target = folder / source.relative_to(_SOURCE)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
            if source.suffix == ".py":
                _install_compiled(source, target)


def _install_compiled(source: Path, target: Path) -> None:
    """Write the bytecode next to a copy, where possible: each Python process of the tests would compile it again.

    Python uses the bytecode if the time and the size of the source fit, and only if its version is ours.
    """
    with suppress(OSError, NotImplementedError):
        # Compiles the source again only if it changed.
        SourceFileLoader(source.stem, str(source)).get_code(source.stem)
        changed_ns, compiled = source.stat().st_mtime_ns, Path(cache_from_source(str(source)))
        (target.parent / _COMPILED / compiled.name).write_bytes(compiled.read_bytes())
        os.utime(target, ns=(changed_ns, changed_ns))
