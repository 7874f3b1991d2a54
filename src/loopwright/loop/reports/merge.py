"""Several reports of one run as one: a test that two files tell of counts once, and the worse word of the two holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from loopwright.loop.reports.model import Status, TestReport, TestResult

# A shard skips what another one runs: having run says more than having been skipped.
_WEIGHT: dict[Status, int] = {"skipped": 0, "passed": 1, "failed": 2}


def merge(reports: Iterable[TestReport]) -> TestReport:
    """All results. The same name twice in *one* file is two tests (parameters, reruns); in two files it is one."""
    results: dict[tuple[str, str, int], TestResult] = {}
    gaps: dict[str, None] = {}
    for report in reports:
        gaps.update(dict.fromkeys(report.gaps))
        seen: Counter[tuple[str, str]] = Counter()
        for result in report.results:
            name = (result.suite, result.test_name)
            key = (*name, seen[name])
            seen[name] += 1
            if key not in results or _WEIGHT[result.status] > _WEIGHT[results[key].status]:
                results[key] = result
    return TestReport(tuple(results.values()), tuple(gaps))
