"""Which false claims of "done" our gates catch: `score.py [PATTERN …]`. Prints one line per case.

Each case is a script that acts as the agent in its own small repository, through the real command line. Exits with 1 if
a lie passes that is not known as open, if a lie is caught only by chance, or if honest work needs too many commands.
Results are kept in results.json. A run without patterns replaces all of them and docs/lies.md when it is at its end;
`--resume` continues such a run that was stopped.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from page import PAGE, page
from product import COST
from results import FILE, UNFINISHED, Case, all_cases, keep, load, missing_tool_of, play, problem


def main(patterns: list[str], *, resume: bool, jobs: int) -> int:
    file = FILE if patterns else UNFINISHED
    if not patterns and not resume:
        UNFINISHED.unlink(missing_ok=True)
    known = load(file) if resume else {}
    found = {
        name: case
        for name, case in all_cases().items()
        if (not patterns or any(re.search(pattern, name) for pattern in patterns)) and name not in known
    }
    missing = {name: tool for name, case in found.items() if (tool := missing_tool_of(case))}
    # One judge after the other: cases of one judge share their scenes, and slow judges come last.
    played = sorted((case for name, case in found.items() if name not in missing), key=_order)
    folder = tempfile.TemporaryDirectory(prefix="lies-", ignore_cleanup_errors=True)
    with folder as made, ThreadPoolExecutor(jobs) as pool:
        wrong = [said for said in pool.map(partial(_play, top=Path(made), file=file), played) if said]
    for tool in sorted(set(missing.values())):
        print(f"skipped: this machine has no {tool}")
    if not patterns and not missing:
        UNFINISHED.replace(FILE)
    results = load()
    if not wrong and results.keys() == all_cases().keys():
        PAGE.write_text(page(results), encoding="utf-8")
    print("\n".join(["", *wrong, f"{len(played)} played, {len(wrong)} wrong"]))
    return 1 if wrong else 0


def _order(case: Case) -> tuple[int, str, str]:
    judge = getattr(case, "judge", None)
    return (COST.get(judge.name, 1) if judge else 0, judge.name if judge else "", getattr(case, "way", ""))


def _play(case: Case, top: Path, file: Path) -> str | None:
    begin = time.monotonic()
    try:
        result = play(case, top)
    except AssertionError as failure:
        print(f"{case.name}: could not be played: {failure}", flush=True)
        return f"{case.name}: could not be played"
    keep({case.name: result}, file)
    shutil.rmtree(top / case.name, ignore_errors=True)
    said = problem(case, result)
    print(f"{time.monotonic() - begin:5.1f} s  {case.name}  {result}{'  WRONG' if said else ''}", flush=True)
    return said


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("patterns", nargs="*", help="only cases whose name matches one of these")
    parser.add_argument("--resume", action="store_true", help="continue a run of everything that was stopped")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    sys.exit(main(arguments.patterns, resume=arguments.resume, jobs=arguments.jobs))
