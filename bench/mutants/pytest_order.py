"""A pytest plugin for mutmut's runs: the fastest tests first, because the first failure ends the run of a mutant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mutmut 3.8 reads `_nodeid`, which pytest 9 no longer has."""
    item._nodeid = item.nodeid  # type: ignore[attr-defined]  # noqa: SLF001 -- pytest's


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the tests by the duration that mutmut measured."""
    stats = Path("mutmut-stats.json")
    durations = json.loads(stats.read_text(encoding="utf-8"))["duration_by_test"] if stats.exists() else {}
    items.sort(key=lambda item: durations.get(item.nodeid, 0))
