"""A repository as large as a big product's: 20,000 files of about 10 kB in 200 folders, one commit, packed."""

from __future__ import annotations

import random
import string
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from measure import run, say

FILES = 20_000
FOLDERS = 200
_LINES_PER_FILE = 165
# Several processes check the files out, only to save time.
_QUICK = ("-c", "checkout.workers=8", "-c", "checkout.thresholdForParallelism=100")


def make_repository(folder: Path, env: Mapping[str, str]) -> None:
    """Write the objects directly into a pack, check them out, and let git record the files' times."""
    say(f"  making a repository of {FILES} files …")
    folder.mkdir()
    run(("git", "-c", "init.defaultBranch=main", "init", "-q"), cwd=folder, env=env)
    with subprocess.Popen(
        ("git", "fast-import", "--quiet", "--depth=0"), cwd=folder, env=env, stdin=subprocess.PIPE
    ) as child:
        if child.stdin is None:
            raise SystemExit("git fast-import has no standard input")
        child.stdin.writelines(_commands())
    if child.returncode:
        raise SystemExit(f"git fast-import exited with {child.returncode}")
    run(("git", *_QUICK, "reset", "-q", "--hard", "main"), cwd=folder, env=env)
    # Every `git status` reads files again that are as new as the index; a project at rest has no such files.
    time.sleep(1.1)
    run(("git", "status", "--porcelain"), cwd=folder, env=env)


def name_of(number: int) -> str:
    """The path of a file."""
    return f"part_{number % FOLDERS:03d}/module_{number // FOLDERS:03d}.py"


def change_files(top: Path, count: int) -> None:
    """Append a line to some files, spread over the folders."""
    for number in range(0, FILES, FILES // count + 1):
        with (top / name_of(number)).open("a", encoding="utf-8") as file:
            file.write(f"CHANGED = {number}\n")


def _commands() -> Iterator[bytes]:
    source = random.Random(20_000)
    words = ["".join(source.choices(string.ascii_lowercase, k=source.randint(3, 9))) for _ in range(400)]
    lines = [f"    {' '.join(source.choices(words, k=8))}\n" for _ in range(3000)]
    for number in range(FILES):
        text = f"# file {number}\n{''.join(source.choices(lines, k=_LINES_PER_FILE))}".encode()
        yield b"blob\nmark :%d\ndata %d\n%b\n" % (number + 1, len(text), text)
    message = b"a large project"
    yield b"commit refs/heads/main\ncommitter bench <bench@localhost> 1700000000 +0000\n"
    yield b"data %d\n%b\n" % (len(message), message)
    for number in range(FILES):
        yield f"M 100644 :{number + 1} {name_of(number)}\n".encode()
