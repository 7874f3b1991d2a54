"""Folders that are made once in a test session and then copied: most walks begin with the same plan and build.

A template's key covers everything that affects the result (see `fingerprint`). A template is made in a folder that is
renamed afterwards, so that no path in it leads to another template or to the test that made it. All workers of a
session share the folder of templates.
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
        """The template with this key. The first caller makes it; callers in other processes wait for that."""
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
    """Replace these parts of a folder with those of another folder."""
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
    """A digest of these parts of a folder; None if a file contains the folder's path, which a copy can't share."""
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
