"""Which files of a folder are reports of the run that just ended: a report of an earlier one never counts.

Nothing outside of the folder is looked at, whatever links there are; the walk is bounded in files and in steps.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable
from pathlib import Path

import msgspec

from loopwright.loop.reports.glob_walk import Walk

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
# In the order of trust: the first place with a fresh report wins, since several formats of one run are no sum.
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


class Found(msgspec.Struct, frozen=True):
    """Reports of this run, those of earlier ones, and whether the walk was cut short."""

    paths: tuple[Path, ...]
    stale: tuple[Path, ...] = ()
    cut_short: bool = False


def find_test_reports(folder: Path, pattern: str, since_ns: int) -> Found:
    """Reports of tests at the configured path or glob, or with "" in the usual places.

    `since_ns` comes from `moment_before_run`.
    """
    return _find(folder, (pattern,) if pattern else TEST_PLACES, since_ns)


def find_coverage_reports(folder: Path, pattern: str, since_ns: int) -> Found:
    """The same for coverage: all that a configured glob means, or the first usual place that has one."""
    if pattern:
        return _find(folder, (pattern,), since_ns)
    stale: list[Path] = []
    for place in COVERAGE_PLACES:
        found = _find(folder, (place,), since_ns)
        if found.paths:
            return found
        stale.extend(found.stale)
    return Found((), tuple(stale))


def _find(folder: Path, patterns: Iterable[str], since_ns: int) -> Found:
    walk = Walk(folder)
    paths = sorted({path for pattern in patterns for path in walk.matches(pattern)})
    fresh: list[Path] = []
    stale: list[Path] = []
    for path in paths:
        is_fresh = _is_fresh(path, since_ns)
        if is_fresh is not None:
            (fresh if is_fresh else stale).append(path)
    cut_short = walk.cut_short or len(fresh) > MOST_FILES
    return Found(tuple(fresh[:MOST_FILES]), tuple(stale[:MOST_FILES]), cut_short)


def _is_fresh(path: Path, since_ns: int) -> bool | None:
    """None for what is not a file, or is gone."""
    try:
        state = path.lstat()
    except OSError:
        return None
    if not stat.S_ISREG(state.st_mode):
        return None
    # The time of change can't be set by anybody: it unmasks an old report that is dated in the future. The time of
    # writing unmasks one that was moved or linked here.
    return min(state.st_mtime_ns, state.st_ctime_ns) >= since_ns
