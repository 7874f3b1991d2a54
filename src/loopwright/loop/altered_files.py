"""Makes changed functions raise before a run: a command that still passes does not look at the work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from loopwright.judging.controls.raising import raise_in_changed
from loopwright.judging.controls.restoring import restore_code
from loopwright.judging.reports.model import LineMarks
from loopwright.loop.split_work import ChangedCode
from loopwright.runner.request import Observer
from loopwright.sandbox.port import Changes, Sandbox

_MOST_READ = 1 << 20


class RaisingFile(msgspec.Struct, frozen=True):
    """A file of the work whose changed functions raise; and with its code as on the base, None if it has none."""

    path: str
    raising: bytes
    restored: bytes | None
    # The lines of the bodies of its changed functions.
    lines: tuple[tuple[str, int, int], ...] = ()


def raising_files(code: Iterable[ChangedCode]) -> tuple[RaisingFile, ...]:
    """Those of the changed files that have changed functions."""
    return tuple(_raising(code))


def unreached(files: tuple[RaisingFile, ...], coverages: Iterable[LineMarks | None]) -> tuple[str, ...]:
    """The changed functions of which no line ran, by coverages that know them."""
    known = [lines for lines in coverages if lines is not None]
    names = []
    for file in files:
        for name, first, last in file.lines:
            ran = [lines.ran_between(file.path, first, last) for lines in known]
            if False in ran and True not in ran:
                names.append(f"{file.path}: {name}")
    return tuple(names)


def _raising(code: Iterable[ChangedCode]) -> Iterator[RaisingFile]:
    for file in code:
        is_short = len(file.after) <= _MOST_READ
        raising = raise_in_changed(file.path, file.before or b"", file.after) if is_short else None
        if raising is not None:
            yield RaisingFile(
                file.path, raising.source, restore_code(file.path, file.before, file.after), raising.lines
            )


class AlteredFiles(Observer):
    """Puts other contents into files of the work, in a new sandbox: raising functions, or the base."""

    def __init__(
        self, files: tuple[RaisingFile, ...], inside: Observer | None = None, *, restores: bool = False
    ) -> None:
        self._files = files
        self._inside = inside
        self._restores = restores

    def before_steps(self, sandbox: Sandbox) -> None:
        """Prepare the sandbox as for every run, then alter the files."""
        if self._inside is not None:
            self._inside.before_steps(sandbox)
        for file in self._files:
            place = own_file(sandbox.place.repo, file.path)
            content = file.restored if self._restores else file.raising
            if place is not None and content is not None:
                place.write_bytes(content)
            elif place is not None:
                place.unlink()

    def after_steps(self, sandbox: Sandbox) -> Changes | None:
        """The inner observer must not see the altered files."""
        del sandbox
        return None


def own_file(repo: Path, path: str) -> Path | None:
    """The file at this path of a sandbox; None if there is none, or if a link leads to it."""
    place = repo / path
    if not place.is_file() or place.is_symlink() or place.resolve() != repo.resolve() / path:
        return None
    return place
