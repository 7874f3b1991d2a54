"""Makes changed functions raise before a run: a command that still passes does not look at the work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum, auto
from pathlib import Path

import msgspec

from loopwright.judging.controls.emptied import emptied, failing_at_once
from loopwright.judging.controls.model import ControlOutcome
from loopwright.judging.controls.raising import raise_in_changed, stop_at_entry
from loopwright.judging.controls.restoring import restore_code
from loopwright.judging.reports.model import LineMarks
from loopwright.loop.split_work import ChangedCode
from loopwright.runner.request import Observer
from loopwright.sandbox.port import Changes, Sandbox

MOST_READ = 1 << 20


class Alteration(Enum):
    """What a file of the work is replaced with."""

    # Its changed functions raise in place of returning, or before they do anything.
    RAISING = auto()
    RAISING_AT_ENTRY = auto()
    # All its changed functions, also those that never return, end their test at once.
    STOPPED_AT_ENTRY = auto()
    # Its code is that of the base; constants are new.
    RESTORED = auto()
    # The program does nothing, and ends with 0; it fails at once; or it is that of the base.
    EMPTIED = auto()
    FAILING_AT_ONCE = auto()
    OF_BASE = auto()
    # The comments that the work added say nothing.
    WITHOUT_COMMENTS = auto()
    # The same, and it can be read but can't run; or it can't even be read.
    UNRUNNABLE = auto()
    UNREADABLE = auto()


class RaisingFile(msgspec.Struct, frozen=True):
    """A changed file of the work, and its alterations; None if the file is missing in one."""

    path: str
    contents: Mapping[Alteration, bytes | None]
    # The lines of the bodies of its changed functions.
    lines: tuple[tuple[str, int, int], ...] = ()


def raising_files(code: Iterable[ChangedCode]) -> tuple[RaisingFile, ...]:
    """Those of the changed files that have changed functions."""
    return tuple(_raising(code))


def stopped_files(code: Iterable[ChangedCode]) -> tuple[RaisingFile, ...]:
    """The changed files, with changed functions that end their test: what passes with them never ran them."""
    contents = (
        (file.path, stop_at_entry(file.path, file.before or b"", file.after))
        for file in code
        if len(file.after) <= MOST_READ
    )
    return tuple(
        RaisingFile(path, {Alteration.STOPPED_AT_ENTRY: content}) for path, content in contents if content is not None
    )


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
        is_short = len(file.after) <= MOST_READ
        raising = raise_in_changed(file.path, file.before or b"", file.after) if is_short else None
        if raising is not None:
            contents = {
                Alteration.RAISING: raising.source,
                Alteration.RAISING_AT_ENTRY: raising.at_entry,
                Alteration.RESTORED: restore_code(file.path, file.before, file.after),
            }
            yield RaisingFile(file.path, contents, raising.lines)


def emptied_files(code: Iterable[ChangedCode]) -> tuple[RaisingFile, ...]:
    """The changed programs: as ones that do nothing, as ones that fail at once, and as those of the base."""
    found = (
        (file, emptied(file.path, file.after), failing_at_once(file.path, file.after))
        for file in code
        if len(file.after) <= MOST_READ
    )
    return tuple(
        RaisingFile(
            file.path,
            {Alteration.EMPTIED: empty, Alteration.FAILING_AT_ONCE: failing, Alteration.OF_BASE: file.before},
        )
        for file, empty, failing in found
        if empty is not None
    )


def judges_itself(passes: Callable[[Alteration], bool], files: tuple[RaisingFile, ...]) -> bool:
    """Whether a command without a report rests on the exit code of the changed programs alone."""
    if not files or not passes(Alteration.EMPTIED):
        return False
    # A command that only reads them passes whatever they do; one about data or documents with those of the base.
    return not passes(Alteration.FAILING_AT_ONCE) and not passes(Alteration.OF_BASE)


def outcome_of_raising(
    passes: Callable[[Alteration], bool], *, can_fail: bool, expects_failure: bool = False
) -> ControlOutcome:
    """What altered functions say about a command without a report; `can_fail` if it failed with other expectations."""
    if not passes(Alteration.RAISING):
        return ControlOutcome.FAILED
    if expects_failure:
        # A raising function is what such a command wants: the base is its only control.
        return ControlOutcome.UNALTERED
    # A check of data or documents does not need the functions: it passes with those of the base, too.
    if passes(Alteration.RESTORED):
        return ControlOutcome.UNALTERED
    # A function that prints its answer has done its work before it would return.
    if can_fail and not passes(Alteration.RAISING_AT_ENTRY):
        return ControlOutcome.FAILED
    return ControlOutcome.PASSED


class AlteredFiles(Observer):
    """Puts other contents into files of the work, in a new sandbox."""

    def __init__(self, files: tuple[RaisingFile, ...], alteration: Alteration, inside: Observer | None = None) -> None:
        self._files = files
        self._alteration = alteration
        self._inside = inside

    def before_steps(self, sandbox: Sandbox) -> None:
        """Prepare the sandbox as for every run, then alter the files."""
        if self._inside is not None:
            self._inside.before_steps(sandbox)
        for file in self._files:
            place = own_file(sandbox.place.repo, file.path)
            content = file.contents[self._alteration]
            if place is not None and content is not None:
                place.write_bytes(content)
            elif place is not None:
                place.unlink()

    def before_step(self, sandbox: Sandbox, step: str) -> None:
        """Prepare the step as for every run."""
        if self._inside is not None:
            self._inside.before_step(sandbox, step)

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
