"""`loopwright analyze git-history` against `git log --numstat` over the same history, whole processes."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from long_repository import make_long_repository
from measure import Way, medians, timed
from report import Row, at_most
from workspace import LOOPWRIGHT, bare_environment

_COMMITS = 20_000
_ROUNDS = 5
_LIMIT = 1.3


def measure(folder: Path) -> Iterator[Row]:
    env = bare_environment(folder / "home")
    repository = folder / "long"
    make_long_repository(repository, _COMMITS, env)

    def timed_quietly(*argv: str | Path) -> float:
        return timed(lambda: _run_quietly(argv, repository, env))

    ways = [
        Way("git log --numstat", lambda: timed_quietly("git", "log", "--numstat")),
        Way("loopwright", lambda: timed_quietly(LOOPWRIGHT, "analyze", "git-history")),
    ]
    what = f"`analyze git-history` of {_COMMITS} commits"
    theirs, ours = medians(what, ways, _ROUNDS)
    yield at_most(what, ours, theirs, _LIMIT, against="git log --numstat")


def _run_quietly(argv: Sequence[str | Path], cwd: Path, env: dict[str, str]) -> None:
    """Discard the output: reading it must not be part of the time."""
    done = subprocess.run(
        argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False
    )
    if done.returncode:
        raise SystemExit(f"{argv[0]} exited with {done.returncode}: {done.stderr.decode('utf-8', 'replace')[-2000:]}")
