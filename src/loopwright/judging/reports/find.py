"""Finds the reports of a run: by a path or a glob of the settings, or in the usual places."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from loopwright.errors import SettingsInvalid

MOST_STEPS = 200_000
# Folders of third-party files, which have reports of their own.
_NEVER = frozenset({"node_modules", "__pycache__"})
_HINT = "name a path below the project's folder, such as `test-results/**/*.xml`"


class Walk:
    """Searches below one folder, and stops after a number of names over all patterns."""

    def __init__(self, folder: Path) -> None:
        self._top = folder.resolve()
        self._steps = 0

    @property
    def cut_short(self) -> bool:
        """Whether the search stopped before its end."""
        return self._steps > MOST_STEPS

    def matches(self, pattern: str) -> Iterator[Path]:
        """The paths that match a pattern, with links resolved. Folders are included, and a path may occur twice."""
        todo = [(self._top, self._parts(pattern))]
        done: set[tuple[Path, int]] = set()
        while todo:
            folder, parts = todo.pop()
            # Two `**` reach the same folder in many ways; search it once.
            if (folder, len(parts)) in done or self.cut_short:
                continue
            done.add((folder, len(parts)))
            head, rest = parts[0], parts[1:]
            if head == "**":
                todo.append((folder, rest))
                todo.extend((path, parts) for path in self._folders(folder, "*"))
            elif not any(sign in head for sign in "*?["):
                reached = self._inside(folder / head)
                todo.extend((path, rest) for path in reached if rest)
                yield from () if rest else reached
            elif rest:
                todo.extend((path, rest) for path in self._folders(folder, head))
            else:
                yield from (path for entry in self._entries(folder, head) for path in self._inside(Path(entry.path)))

    def _parts(self, pattern: str) -> tuple[str, ...]:
        below = pattern.removeprefix(f"{self._top}/")
        parts = [part for part in below.split("/") if part not in ("", ".")]
        if below.startswith("/") or ".." in parts or "\0" in below or not parts:
            raise SettingsInvalid(f"'{pattern}' is not a place below the project's folder", hint=_HINT)
        return (*parts, "*") if parts[-1] == "**" else tuple(parts)

    def _inside(self, path: Path) -> tuple[Path, ...]:
        """The target of a path; None if it is missing or outside the top folder."""
        self._steps += 1
        try:
            real = path.resolve(strict=True)
        except (OSError, RuntimeError):
            return ()  # missing, forbidden, or a loop of links
        return (real,) if real.is_relative_to(self._top) else ()

    def _folders(self, folder: Path, part: str) -> Iterator[Path]:
        for entry in self._entries(folder, part):
            if entry.name not in _NEVER and _is_folder(entry):
                yield Path(entry.path)

    def _entries(self, folder: Path, part: str) -> Iterator[os.DirEntry[str]]:
        """Names that match; hidden names only if the pattern begins with a dot."""
        try:
            entries = os.scandir(folder)
        except OSError:
            return
        with entries:
            for entry in entries:
                self._steps += 1
                if self.cut_short:
                    return
                hidden = entry.name.startswith(".") and not part.startswith(".")
                if not hidden and fnmatchcase(entry.name, part):
                    yield entry


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


MOST_FILES = 5_000

TEST_PLACES = (
    "junit.xml",
    "junit-*.xml",
    "report.xml",
    "test-results.xml",
    "test-report.xml",
    "reports/junit.xml",
    "reports/junit/**/*.xml",
    "test-results/**/*.xml",
    "test-reports/**/*.xml",
    "TestResults/**/*.xml",
    "target/nextest/*/junit.xml",
    "target/surefire-reports/*.xml",
    "target/failsafe-reports/*.xml",
    "*/target/surefire-reports/*.xml",
    "*/target/failsafe-reports/*.xml",
    "build/test-results/**/*.xml",
    "*/build/test-results/**/*.xml",
)
# The first place with a fresh report wins: several formats of one run must not be added up.
COVERAGE_PLACES = (
    "coverage.json",
    "coverage/lcov.info",
    "lcov.info",
    "coverage.lcov",
    "coverage.xml",
    "cobertura.xml",
    "coverage/cobertura-coverage.xml",
    "coverage/coverage.xml",
    "target/site/cobertura/coverage.xml",
    "TestResults/**/coverage.cobertura.xml",
)


class FoundReports(msgspec.Struct, frozen=True):
    """Reports of this run, those of earlier ones, and whether the walk was cut short."""

    paths: tuple[Path, ...]
    stale: tuple[Path, ...] = ()
    cut_short: bool = False


def find_test_reports(folder: Path, pattern: str, since_ns: int) -> FoundReports:
    """Reports of tests at the configured path or glob, or with "" in the usual places.

    `since_ns` comes from `moment_before_run`.
    """
    return _find(folder, (pattern,) if pattern else TEST_PLACES, since_ns)


def find_coverage_reports(folder: Path, pattern: str, since_ns: int) -> FoundReports:
    """The same for coverage: all files of a configured glob, or the first usual place with a report."""
    if pattern:
        return _find(folder, (pattern,), since_ns)
    stale: list[Path] = []
    for place in COVERAGE_PLACES:
        reports = _find(folder, (place,), since_ns)
        if reports.paths:
            return reports
        stale.extend(reports.stale)
    return FoundReports((), tuple(stale))


def _find(folder: Path, patterns: Iterable[str], since_ns: int) -> FoundReports:
    walk = Walk(folder)
    paths = sorted({path for pattern in patterns for path in walk.matches(pattern)})
    fresh: list[Path] = []
    stale: list[Path] = []
    for path in paths:
        is_fresh = _is_fresh(path, since_ns)
        if is_fresh is not None:
            (fresh if is_fresh else stale).append(path)
    cut_short = walk.cut_short or len(fresh) > MOST_FILES
    return FoundReports(tuple(fresh[:MOST_FILES]), tuple(stale[:MOST_FILES]), cut_short)


def _is_fresh(path: Path, since_ns: int) -> bool | None:
    """None if the path is missing or not a file."""
    try:
        state = path.lstat()
    except OSError:
        return None
    if not stat.S_ISREG(state.st_mode):
        return None
    # No program can set the time of change: it reveals an old report with a date in the future. The time of writing
    # reveals a report that was moved or linked here.
    return min(state.st_mtime_ns, state.st_ctime_ns) >= since_ns
