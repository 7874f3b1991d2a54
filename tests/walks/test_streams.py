"""Standard streams that are closed or full: a sentence and an exit code, never a traceback or a lost failure."""

from __future__ import annotations

import shlex
import subprocess

import pytest


def typed(project, arguments, streams):
    """What a shell says about a command with these streams."""
    line = f"{shlex.join(project.command(*arguments.split()))} {streams}"
    return subprocess.run(
        ("bash", "-c", line), cwd=project.root, env=project.environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("arguments", ["--help", "status", "init --help", "settings --json"])
def test_a_closed_stream_is_no_error(project, arguments):
    for closed in (">&-", "<&-", "2>&-", "<&- >&- 2>&-"):
        done = typed(project, arguments, closed)
        assert (done.returncode, done.stderr) == (0, ""), closed


@pytest.mark.parametrize("arguments", ["--help", "status", "--version", "settings --json"])
def test_output_that_is_lost_is_a_failure(project, arguments):
    done = typed(project, arguments, "> /dev/full")
    assert done.returncode == 1
    assert "STORAGE_FAILED" in done.stderr
    assert "can't write the output: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_does_not_receive_what_was_to_be_printed(project):
    # Without care the first opened file gets the number of the closed output.
    done = typed(project, "init", ">&-")
    assert (done.returncode, done.stderr) == (0, "")
    config = (project.root / ".loopwright" / "config.toml").read_text()
    assert config.startswith("# Settings of this workspace.")
    assert "wrote" not in config
