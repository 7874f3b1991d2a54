"""The section of bench/RESULTS.md about mutants: one row for each package, written after its run."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from survivors import Tally

# `bench/run.py` keeps the page from this heading on.
HEADING = "## Mutants"
_ABOUT = """
Written by `make mutants`. A mutant is the code with one small change. Mypy refuses many of them; a
test must notice the others. The score is the part that the tests noticed. Each explained survivor
has its reason in [explained.toml](mutants/explained.toml);
[ADR 17](../docs/adr/0017-mutation-testing.md) says which tests run.

| package | mutants | refused by mypy | killed by tests | explained | not explained | score | date | minutes |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""
_ROW = re.compile(r"\| ([a-z-]+) \| \d.*")


def write_section(page: Path, name: str, tally: Tally, seconds: float) -> None:
    """Write the row of this package; keep the rows of the others."""
    before, _, section = page.read_text(encoding="utf-8").partition(f"\n{HEADING}\n")
    rows = {row[1]: row[0] for row in _ROW.finditer(section)}
    rows[name] = _row(name, tally, seconds)
    page.write_text(f"{before}\n{HEADING}\n{_ABOUT}" + "".join(f"{row}\n" for row in rows.values()), encoding="utf-8")


def _row(name: str, tally: Tally, seconds: float) -> str:
    cells = (
        name,
        str(tally.mutants) + (f" ({tally.untried} not tried)" if tally.untried else ""),
        str(tally.types),
        str(tally.killed) + (f" ({tally.hanging} by timeout)" if tally.hanging else ""),
        str(tally.explained.total()),
        str(len(tally.unexplained)),
        f"{tally.score:.0%}",
        f"{datetime.now(UTC):%Y-%m-%d}",
        f"{seconds / 60:.0f}",
    )
    return f"| {' | '.join(cells)} |"
