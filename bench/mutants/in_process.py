"""A pytest plugin: `Project.run` runs the command in the process of the test, where the mutants are."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from loopwright.cli import main as command_line
from loopwright.kernel.process import Captured
from loopwright.testing import project, warm


@contextmanager
def _standard_files(stdin: bytes) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Standard input from these bytes, and the files that hold the output; for the commands that are started, too."""
    python_files = sys.stdin, sys.stdout, sys.stderr
    kept = [os.dup(number) for number in range(3)]
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin)
        given.seek(0)
        for number, file in enumerate((given, out, err)):
            os.dup2(file.fileno(), number)
        sys.stdin, sys.stdout, sys.stderr = (
            open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115 -- a file that is open already
            for number, mode in enumerate("rww")
        )
        try:
            yield out, err
        finally:
            sys.stdin, sys.stdout, sys.stderr = python_files
            for number, file_number in enumerate(kept):
                os.dup2(file_number, number)
                os.close(file_number)


def _run_here(
    arguments: tuple[str, ...],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdin: bytes,
    timeout_s: float,  # noqa: ARG001 -- as `run_warm`
) -> Captured:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    with project._as_started_in(cwd, env), _standard_files(stdin) as (out, err):  # noqa: SLF001 -- as `Project.ask`
        try:
            code = command_line._run(list(arguments))  # noqa: SLF001 -- `main` ends the process
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
        sys.stdout.flush()
        sys.stderr.flush()
        printed = [os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0) for file in (out, err)]
    return Captured(code, *printed)


@pytest.fixture(autouse=True)
def _in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project, "run_warm", _run_here)
    # Some walks start every command in a new process, which proves nothing here.
    monkeypatch.setattr(warm, "_ALWAYS_COLD", "NO_SUCH_VARIABLE")
