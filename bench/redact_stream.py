"""A child process of the benchmark: redacts a made-up stream of a given size, and prints its peak memory in kB."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

from loopwright.redaction.build import build_redactor
from loopwright.workspace.settings_model import SecretsSettings
from sample_log import blocks

_CHUNK = 64 << 10


def main(megabytes: int) -> None:
    """Generate a piece of log, redact it, discard it."""
    stream = build_redactor(SecretsSettings(), {}).stream("bench")
    given = taken = 0
    for block in blocks(seed=2):
        for at in range(0, len(block), _CHUNK):
            taken += len(stream.feed(block[at : at + _CHUNK]).data)
        given += len(block)
        if given >= megabytes * 1_000_000:
            break
    taken += len(stream.finish().data)
    print(given, taken, len(stream.findings), _peak_kb())


def _peak_kb() -> int:
    # getrusage is the last resort: its maximum includes the memory of the parent process.
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rows = (line.split() for line in status.read_text(encoding="utf-8").splitlines())
    return next(int(row[1]) for row in rows if row[0] == "VmHWM:")


if __name__ == "__main__":
    main(int(sys.argv[1]))
