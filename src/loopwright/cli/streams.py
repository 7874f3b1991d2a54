"""The standard streams of the process: opened if the caller closed them, and flushed at the end."""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress

from loopwright.errors import StorageFailed

# What a full disk, quota or file answers.
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def open_closed_streams() -> None:
    """Lead each closed stream to nowhere. Else the next opened file would get its number, and receive the output."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    # Python has no object for a stream that was closed at its start.
    sys.stdin = sys.stdin or open(0, closefd=False, encoding="utf-8")  # noqa: SIM115 -- open until the process ends
    sys.stdout = sys.stdout or open(1, "w", closefd=False, encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", closefd=False, encoding="utf-8")  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Characters that the terminal cannot show are escaped: output must not fail because of them.
        sys.stdout.reconfigure(errors="backslashreplace")


def discard_output() -> None:
    """Send what is still to be printed nowhere: the pipe, the terminal or the disk takes no more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def output_failed(problem: OSError) -> StorageFailed | None:
    """The error if the output is lost because there is no space for it; None for another problem."""
    if problem.errno not in _FULL or problem.filename is not None:
        return None
    return StorageFailed(
        f"can't write the output: {os.strerror(problem.errno or 0)}", hint="send the output to another place"
    )


def flush_output() -> StorageFailed | None:
    """Print what is left. A closed pipe or terminal needs no more; the error if there is no space for the output."""
    failed = None
    try:
        sys.stdout.flush()
    except OSError as problem:
        failed = output_failed(problem)
        discard_output()
    with suppress(OSError):
        sys.stderr.flush()
    return failed
