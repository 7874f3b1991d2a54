"""Which files judge a build: those that the plan's checks read, and those that can make any test pass. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache

from loopwright.workflow.slices import Slices

# What decides how tests run, whoever named them: changed, deleted or new, a person looks at it.
ALWAYS = (
    "conftest.py", "**/conftest.py", "pytest.ini", "**/pytest.ini", "tox.ini", "noxfile.py", "setup.cfg",
    "sitecustomize.py", "**/sitecustomize.py", "usercustomize.py", "**/usercustomize.py", "*.pth", "**/*.pth",
    ".coveragerc", "jest.config.*", "**/jest.config.*", "vitest.config.*", "**/vitest.config.*", ".mocharc*",
    "karma.conf.*", ".npmrc", ".env*", "**/.env*", "pytest.py", "**/pytest.py", "pytest/**", "unittest/**",
    "sitecustomize/**", "gradlew", "mvnw", ".cargo/config*",
)  # fmt: skip
_SHELL_WORDS = re.compile(r"[|&;<>()]+")


def judge_patterns(slices: Slices, settings: Iterable[str] = ()) -> tuple[str, ...]:
    """Globs of judges: the settings', the plan's, those that checks name, and those that always are."""
    named: list[str] = [*settings]
    for check in slices.checks:
        named += check.judges
        named += paths_in(check.command, check.cwd)
    return tuple(dict.fromkeys([*named, *ALWAYS]))


def paths_in(command: str, cwd: str = "") -> list[str]:
    """Words of a command that can be files of the project: each as it stands, and with everything below it."""
    try:
        words = shlex.split(_SHELL_WORDS.sub(" ", command))
    except ValueError:
        words = command.split()
    found: list[str] = []
    for word in words:
        path = word.partition("::")[0].removeprefix("./").rstrip("/")
        if not path or path.startswith(("-", "/", "~", "$")) or ".." in path.split("/") or "=" in path:
            continue
        if "/" in path or "." in path.strip("."):
            whole = f"{cwd.strip('/')}/{path}" if cwd.strip("/.") else path
            found += [whole, f"{whole}/**"]
    return found


def is_judge(path: str, patterns: Iterable[str]) -> bool:
    """Whether a file of the project is one."""
    return any(_matches(path, pattern) for pattern in patterns)


def _matches(path: str, pattern: str) -> bool:
    if any(mark in pattern for mark in "*?["):
        return _compiled(pattern).fullmatch(path) is not None if "**" in pattern else _plain(path, pattern)
    return path == pattern


def _plain(path: str, pattern: str) -> bool:
    """A star stops at a folder, as in a shell."""
    parts, wanted = path.split("/"), pattern.split("/")
    return len(parts) == len(wanted) and all(fnmatchcase(a, b) for a, b in zip(parts, wanted, strict=True))


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    text = re.escape(pattern).replace(r"\*\*/", "(?:.*/)?").replace(r"\*\*", ".*")
    return re.compile(text.replace(r"\*", "[^/]*").replace(r"\?", "[^/]"), re.DOTALL)
