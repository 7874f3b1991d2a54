"""Folders that are made once in a test session and copied: most walks begin with the same plan, approval and build.

A template is found by its key, which the caller makes of everything that decides the result (`fingerprint` helps).
It is made in a folder that is renamed afterwards: no path inside leads to another template or to the test that made it.
Owns the folder that all workers of a session share; knows nothing of workflows.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from loopwright.kernel.locks import locked


class Templates:
    """A folder of templates."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def made(self, key: str, make: Callable[[Path], None]) -> Path:
        """The template with this key; the first caller makes it, and callers in other processes wait for that."""
        template = self._folder / key
        if not template.is_dir():
            self._folder.mkdir(parents=True, exist_ok=True)
            with locked(self._folder / f"{key}.lock"):
                if not template.is_dir():
                    making = Path(tempfile.mkdtemp(dir=self._folder))
                    make(making)
                    making.rename(template)
        return template


def put(source: Path, target: Path, parts: Iterable[str]) -> None:
    """Replace these parts of a folder by those of another one."""
    for part in parts:
        old, new = target / part, source / part
        if old.is_dir():
            shutil.rmtree(old)
        else:
            old.unlink(missing_ok=True)
        if new.is_dir():
            shutil.copytree(new, old, symlinks=True)
        elif new.exists():
            shutil.copy2(new, old)


def fingerprint(top: Path, parts: Iterable[str], skipped: Iterable[Path]) -> str | None:
    """What is in these parts of a folder; None if a file names the folder itself, so that no copy can be the same."""
    digest, passed_over = hashlib.sha256(), set(skipped)
    place = os.fsencode(top)
    for path in _below(top / part for part in parts):
        if path in passed_over:
            continue
        status = path.lstat()
        data = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else b""
        if place in data:
            return None
        name = os.fsencode(path.relative_to(top))
        digest.update(b"%d %o %d\0" % (len(name), status.st_mode, len(data)) + name + data)
    return digest.hexdigest()


def _below(tops: Iterable[Path]) -> Iterator[Path]:
    for top in tops:
        yield from [top, *sorted(top.rglob("*"))] if top.exists() else ()
