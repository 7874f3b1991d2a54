"""Runs one `loopwright` command in this process, and counts its use of the machine.

`counted.py REPORT ARGUMENTS…` writes the counts to REPORT, as JSON, when the command ends. Counts calls of the
operating system (locks with an audit hook), so that names inside the package do not matter. Only the gatherings of a
workflow's facts are counted by the name of their function.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Never

from loopwright.cli.main import main as loopwright
from loopwright.workflow import store

# Opening a workflow or a loop waits for its lock; workers and sandboxes only try their locks.
_OPENS = {"workflow-": "workflow opens", "loop-": "loop opens"}
_STARTS = frozenset({"subprocess.Popen", "os.fork", "os.posix_spawn"})


def main(report: Path, arguments: list[str]) -> None:
    counts: Counter[str] = Counter()
    sys.addaudithook(lambda event, values: _heard(counts, event, values))
    os.fsync = _counting(counts, "fsyncs", os.fsync)
    store.gather = _counting(counts, "gatherings", store.gather)
    end = os._exit

    def write_and_end(code: int) -> Never:
        report.write_text(json.dumps(counts), encoding="utf-8")
        end(code)

    os._exit = write_and_end  # the command line ends with it
    sys.argv = ["loopwright", *arguments]
    loopwright()


def _heard(counts: Counter[str], event: str, values: tuple[Any, ...]) -> None:
    if event in _STARTS:
        counts["processes"] += 1
    elif event == "fcntl.flock" and values[1] == fcntl.LOCK_EX:
        name = Path(f"/proc/self/fd/{values[0]}").readlink().name
        counts.update(what for prefix, what in _OPENS.items() if name.startswith(prefix))


def _counting(counts: Counter[str], what: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def counted(*arguments: Any, **named: Any) -> Any:
        counts[what] += 1
        return function(*arguments, **named)

    return counted


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
