"""What the results of commands depend on apart from their tree, as one digest.

Lock files of the project are part of the tree. Programs and installed packages are known by the state of their files:
to ask each for its version would start a process.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from loopwright.kernel.digest import digest_of
from loopwright.kernel.relative_folder import relative_folder
from loopwright.runner.request import Environment, SandboxOptions
from loopwright.sandbox.model import FreshRequest
from loopwright.version import VERSION

# Changes when the same run would be reported differently, so that base and work are read alike.
_REPORTING = 8
_WORD = re.compile(r"[\w.+-]+")
# Programs that a test command may start through make, a script or a package manager.
_PROGRAMS = (
    "python", "python3", "pytest", "tox", "nox", "uv", "poetry", "node", "npm", "npx", "pnpm", "yarn", "bun", "deno",
    "go", "cargo", "rustc", "java", "mvn", "gradle", "dotnet", "php", "ruby", "bundle", "make", "cmake", "gcc", "git",
)  # fmt: skip
_PACKAGES = ("lib/python3*/site-packages", "lib/python3*/dist-packages")


class JudgingCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A command whose results count: where and how it runs, and the reporters that it goes without."""

    command: str
    cwd: str = ""
    network: bool = False
    without: frozenset[str] = frozenset()


def dependencies_of(
    commands: Iterable[JudgingCommand],
    options: SandboxOptions,
    environment: Environment,
    reporting: tuple[str, ...],
    added: Mapping[str, str] | None = None,
) -> str:
    """The digest for commands that run in this order.

    `reporting` says how results are read; `added` are files that the run adds to its tree, with their digests.
    """
    commands = tuple(commands)
    listed = [[one.command, relative_folder(one.cwd), str(one.network), *sorted(one.without)] for one in commands]
    variables = environment.for_step(())
    request = options.sandbox if isinstance(options.sandbox, FreshRequest) else options.sandbox.now
    words = _WORD.findall("\n".join([*(one.command for one in commands), *options.setup]))
    return digest_of(
        [
            [VERSION, _REPORTING, list(reporting)],
            listed,
            [options.isolation, options.shell, list(options.setup), list(request.provide), options.limits.log_bytes],
            variables,
            dict(added or {}),
            dict(_programs(words, variables)),
            {name: list(_states(request.project / name)) for name in request.provide},
        ]
    )


def _programs(words: list[str], variables: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """The state of each program that the commands may start, and of the packages next to it."""
    for name in dict.fromkeys((*_PROGRAMS, *words)):
        found = shutil.which(name, path=variables.get("PATH"))
        if found is None:
            continue
        path = Path(found)
        packages = _packages_near(path) if name.startswith("python") else ()
        yield name, [str(path), str(path.resolve()), _state(path), *packages]


def _packages_near(python: Path) -> Iterator[str]:
    """The folders of packages that this Python finds: in its environment, and in that of the program behind a link."""
    for prefix in dict.fromkeys(place.parent.parent for place in (python, python.resolve())):
        yield from sorted(map(_state, (folder for pattern in _PACKAGES for folder in prefix.glob(pattern))))


def _states(path: Path) -> Iterator[str]:
    """The state of a provided file; of a folder, of what is in it, and of the packages in it.

    To install or to remove a package changes the folder that holds it. Package managers for JavaScript also write a
    lock file into the folder.
    """
    yield _state(path)
    if path.is_dir():
        yield from sorted(f"{entry.name} {_state(Path(entry.path))}" for entry in os.scandir(path))
        yield from sorted(map(_state, (folder for pattern in _PACKAGES for folder in path.glob(pattern))))
        yield from sorted(map(_state, path.glob("bin/*")))


def _state(path: Path) -> str:
    try:
        found = path.stat()
    except OSError:
        return "missing"
    return f"{found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"
