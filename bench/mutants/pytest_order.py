"""A pytest plugin for mutmut's runs: the first failure ends the run of a mutant, so the likely ones come first."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest

# The tests that noticed a mutant, one per line; absolute, because `guard.py` changes the current folder.
_NOTICED = Path("noticed").absolute()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mutmut 3.8 reads `_nodeid`, which pytest 9 no longer has."""
    item._nodeid = item.nodeid  # type: ignore[attr-defined]  # noqa: SLF001 -- pytest's


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep the name of a test that noticed a mutant."""
    if report.failed and "__mutmut_" in os.environ.get("MUTANT_UNDER_TEST", ""):
        with _NOTICED.open("a", encoding="utf-8") as file:
            file.write(f"{report.nodeid}\n")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the tests by their duration, as mutmut measured it, for each mutant that they noticed."""
    stats = Path("mutmut-stats.json")
    durations = json.loads(stats.read_text(encoding="utf-8"))["duration_by_test"] if stats.exists() else {}
    noticed = Counter(_NOTICED.read_text(encoding="utf-8").splitlines() if _NOTICED.exists() else ())
    items.sort(key=lambda item: durations.get(item.nodeid, 0) / (1 + noticed[item.nodeid]))
