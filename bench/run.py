"""`make bench`: measures all groups, or the named ones, and reports whether the limits hold.

Writes RESULTS.md after a run of all groups. Exits with 1 if a limit is missed.
"""

from __future__ import annotations

import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import counts
import history
import hook
import judging
import loops
import machine
import redaction_speed
import sandbox
import schedule
import startup
import steps
import tokens
import workflows
from measure import remove, say
from report import HEADINGS, Row, Verdict, line, markdown

# Groups with few writes come first: data of `sandbox` is written to the disk for a while afterwards.
GROUPS: Mapping[str, Callable[[Path], Iterator[Row]]] = {
    "counts": counts.measure,
    "startup": startup.measure,
    "hook": hook.measure,
    "loops": loops.measure,
    "judging": judging.measure,
    "workflows": workflows.measure,
    "tokens": tokens.measure,
    "steps": steps.measure,
    "schedule": schedule.measure,
    "redaction": redaction_speed.measure,
    "history": history.measure,
    "sandbox": sandbox.measure,
}
_RESULTS = Path(__file__).with_name("RESULTS.md")


def main(names: list[str]) -> int:
    """Run the groups with these names, or all groups; returns the exit code."""
    unknown = [name for name in names if name not in GROUPS]
    if unknown:
        say(f"unknown group: {', '.join(unknown)} (known: {', '.join(GROUPS)})")
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    wanted = list(dict.fromkeys(names)) or list(GROUPS)
    top = Path(tempfile.mkdtemp(prefix="loopwright-bench-"))
    try:
        about = machine.described(top)
        for name, value in about:
            say(f"{name}: {value}")
        rows = [row for name in wanted for row in _group(name, top / name)]
    finally:
        remove(top)
    say("\n" + line(HEADINGS))
    for row in rows:
        say(line(row.cells()))
    if set(wanted) == set(GROUPS):
        page = markdown(rows, about, f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC")
        # The section after it belongs to `make mutants`.
        _, heading, mutants = _RESULTS.read_text(encoding="utf-8").partition("\n## Mutants\n")
        _RESULTS.write_text(page + heading + mutants, encoding="utf-8")
        say(f"\nwritten: {_RESULTS.name}")
    missed = [row for row in rows if row.verdict is Verdict.MISSED]
    say(f"\n{len(missed)} limits missed" if missed else "\nall limits hold")
    return 1 if missed else 0


def _group(name: str, folder: Path) -> Iterator[Row]:
    say(f"\n{name}")
    folder.mkdir()
    try:
        for row in GROUPS[name](folder):
            say(line(row.cells()))
            yield row
    finally:
        remove(folder)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
