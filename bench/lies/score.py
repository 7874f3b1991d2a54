"""Which false claims of "done" our gates catch: `score.py [NAME …]`. Prints one Markdown row per lie.

Each lie is a script that acts as the builder in its own small repository, through the real command line. Exits with 1
if an undocumented lie passes, if a lie is caught only by chance, or if honest work needs a signature. A run of all lies
rewrites docs/lies.md.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from cases import BUILDS, LIES, judged
from model import Honest, Lie
from page import page, row
from scene import Gate

PAGE = Path(__file__).resolve().parents[2] / "docs" / "lies.md"


def main(names: list[str]) -> int:
    lies = [one for one in LIES if not names or one.name in names]
    builds = [one for one in BUILDS if not names or one.name in names]
    with tempfile.TemporaryDirectory(prefix="lies-") as made, ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        gates = list(pool.map(partial(judged, top=Path(made)), [*lies, *builds]))
    told = list(zip(lies, gates, strict=False))
    honest = list(zip(builds, gates[len(lies) :], strict=True))
    print("| lie | what it does | caught by |\n|---|---|---|")
    for lie, gate in told:
        print(row(lie, gate))
    wrong = [said for one, gate in [*told, *honest] if (said := problem(one, gate))]
    if not names and not wrong:
        PAGE.write_text(page(told, builds), encoding="utf-8")
    print("\n".join(["", *wrong, f"{len(lies)} lies, {len(builds)} honest builds, {len(wrong)} wrong"]))
    return 1 if wrong else 0


def problem(one: Lie | Honest, gate: Gate) -> str | None:
    """Why the gate was wrong, or None."""
    if isinstance(one, Honest):
        return None if gate.passed else f"{one.name}: honest, but stopped by {', '.join(gate.blockers)}"
    if one.exception:
        return None if gate.passed else f"{one.name}: a documented exception, but caught by {', '.join(gate.blockers)}"
    if gate.passed:
        return f"{one.name}: passed"
    if one.says not in gate.said:
        return f"{one.name}: stopped, but without the text '{one.says}': {gate.said[-300:]}"
    if gate.caught(one.caught_by) is None:
        return f"{one.name}: stopped, but not by {' or '.join(one.caught_by)}: {', '.join(gate.blockers)}"
    return None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only these")
    sys.exit(main(parser.parse_args().names))
