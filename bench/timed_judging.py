"""Runs one `loopwright` command in this process, and measures how long its loop judges the work.

`timed_judging.py REPORT ARGUMENTS…` writes the seconds to REPORT, as JSON, when the command ends: of all judging, and
of the commands in each run of it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Never

from loopwright.cli.main import main as loopwright
from loopwright.loop.actions import run_tests, validate


def main(report: Path, arguments: list[str]) -> None:
    seconds: dict[str, Any] = {"judging": 0.0, "runs": []}
    perform, run_plan, end = validate.perform, run_tests.run_plan, os._exit

    def timed_perform(*values: Any) -> Any:
        began = time.perf_counter()
        try:
            return perform(*values)
        finally:
            seconds["judging"] += time.perf_counter() - began

    def noted_run(*values: Any) -> Any:
        finished = run_plan(*values)
        steps = finished.evidence.steps
        seconds["runs"].append([finished.evidence.run_id, sum(step.duration_s for step in steps)])
        return finished

    def write_and_end(code: int) -> Never:
        report.write_text(json.dumps(seconds), encoding="utf-8")
        end(code)

    validate.perform, run_tests.run_plan, os._exit = timed_perform, noted_run, write_and_end
    sys.argv = ["loopwright", *arguments]
    loopwright()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
