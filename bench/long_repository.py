"""A repository with a long history: tens of thousands of small commits to 2,000 files, written directly into a pack."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from measure import run, say

FILES = 2000
_LINES_PER_FILE = 60
_KINDS = ("feat: ", "fix: ", "docs: ", "chore: ", "Add ", "refactor: ")
_START = 1_500_000_000


def make_long_repository(folder: Path, commits: int, env: Mapping[str, str]) -> None:
    """Make a repository with one branch and no checkout; the same bytes each time."""
    say(f"  making a repository of {commits} commits …")
    folder.mkdir()
    run(("git", "-c", "init.defaultBranch=main", "init", "-q"), cwd=folder, env=env)
    with subprocess.Popen(
        ("git", "fast-import", "--quiet", "--depth=10"), cwd=folder, env=env, stdin=subprocess.PIPE
    ) as child:
        if child.stdin is None:
            raise SystemExit("git fast-import has no standard input")
        child.stdin.writelines(_commands(commits))
    if child.returncode:
        raise SystemExit(f"git fast-import exited with {child.returncode}")


def _commands(commits: int) -> Iterator[bytes]:
    source = random.Random(80_000)
    names = [f"src/part_{number % 40:02d}/module_{number:04d}.py" for number in range(FILES)]
    contents: dict[str, list[str]] = {}
    moment = _START
    for number in range(commits):
        moment += source.randint(60, 2400)
        title = f"{source.choice(_KINDS)}change number {number}"
        message = f"{title}\n\nWhat was done here and why it was done,\nin two lines.\n".encode()
        yield b"commit refs/heads/main\ncommitter bench <bench@localhost> %d +0000\n" % moment
        yield b"data %d\n%b" % (len(message), message)
        for name in source.sample(names, source.randint(1, 5)):
            lines = contents.setdefault(name, [f"line {line} of {name}\n" for line in range(_LINES_PER_FILE)])
            for _ in range(source.randint(1, 6)):
                lines[source.randrange(_LINES_PER_FILE)] = f"value = {source.random()}\n"
            text = "".join(lines).encode()
            yield b"M 100644 inline %b\ndata %d\n%b\n" % (name.encode(), len(text), text)
