"""The moment before a run, by the clock that will date the files of that run."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from loopwright.kernel.files import storage

_LONGEST_WAIT_S = 3.0


def moment_before_run(folder: Path) -> int:
    """Nanoseconds that are later than every file written in this file system so far, and never later than a new one.

    File systems date files by a coarse clock, or by a server's: `time.time_ns` can be milliseconds ahead of a file that
    is written after it. So a file of our own is dated again and again until its time moves on.
    """
    with storage(folder), tempfile.NamedTemporaryFile(dir=folder, prefix=".loopwright-moment-") as probe:
        handle = probe.fileno()
        first = os.fstat(handle).st_mtime_ns
        give_up = time.monotonic() + _LONGEST_WAIT_S
        while True:
            os.utime(handle)
            now = os.fstat(handle).st_mtime_ns
            if now > first:
                return now
            if time.monotonic() > give_up:
                return first + 1  # rather miss a new report than take an old one
            time.sleep(0.001)
