"""Finds the judges of a build: files that the plan's checks read, and files that can make any test pass."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from posixpath import join
from typing import Literal

import msgspec

from loopwright.judging.globs import matches
from loopwright.kernel.files import read_regular_file
from loopwright.kernel.relative_folder import relative_folder
from loopwright.workflow.documents.page import MOST_BYTES
from loopwright.workflow.judging_parts import NODE_RUNNERS, part_of
from loopwright.workflow.slices import Check, Slices

# Files that decide how tests run and how a reviewer judges. If one is changed, deleted or new, a person looks at it.
ALWAYS = (
    "**/conftest.py", "**/pytest.ini", ".pytest.ini", "tox.ini", "noxfile.py", "setup.cfg", "**/pyproject.toml",
    "**/sitecustomize.py", "**/usercustomize.py", "**/*.pth", ".coveragerc", "**/jest.config.*", "**/vitest.config.*",
    ".mocharc*", "karma.conf.*", ".npmrc", "**/.env*", "**/pytest.py", "pytest/**", "unittest/**", "sitecustomize/**",
    "gradlew", "mvnw", ".cargo/config*",
    # Code that runs instead of the source that a person reads.
    "**/*.pyc", "**/*.pyo", "**/*.pyd", "**/*.so",
    # Tools that shells and runners find before the installed tools.
    ".venv/**", "venv/**", "node_modules/**", ".bashrc", ".bash_profile", ".profile", ".zshenv",
    # Instructions and programs that an agent loads first: the reviewer works in the built tree.
    "**/CLAUDE.md", "**/CLAUDE.local.md", "**/AGENTS.md", "**/AGENTS.override.md", "**/GEMINI.md", ".mcp.json",
    ".claude/settings*.json", ".claude/hooks/**", ".claude/agents/**", ".claude/commands/**", ".claude/rules/**",
    ".claude/skills/**", ".agents/**", ".codex/**", ".gemini/**", ".opencode/**", "opencode.json*",
)  # fmt: skip
# Files that a runner reads in addition to those in its command.
_STEERS = {
    "make": ("Makefile", "makefile", "GNUmakefile", "**/*.mk"),
    "gmake": ("Makefile", "makefile", "GNUmakefile", "**/*.mk"),
    "just": ("justfile", "Justfile", ".justfile"),
    "task": ("Taskfile.yml", "Taskfile.yaml"),
    "rake": ("Rakefile",),
    "rspec": (".rspec",),
    **dict.fromkeys(NODE_RUNNERS, ("package.json",)),
}
_TOLD = ("pytest", "py.test", "unittest", "nose2")
_PYTHON_TESTS = ("**/test*.py", "**/*_test.py")
_NODE_TESTS = ("**/*.test.*", "**/*.spec.*", "**/__tests__/**", "test/**", "tests/**")
_FINDS = {
    **dict.fromkeys((*_TOLD, "tox", "nox"), _PYTHON_TESTS),
    **dict.fromkeys((*NODE_RUNNERS, "npx", "jest", "vitest", "mocha", "ava"), _NODE_TESTS),
    "go": ("**/*_test.go",),
    "cargo": ("tests/**", "**/tests/**", "build.rs"),
    "rspec": ("spec/**",),
}  # fmt: skip
# A script or recipe that a check runs is searched for commands too.
_SCRIPTS = (".sh", ".bash", ".mk", "Makefile", "makefile", "GNUmakefile", "justfile", "package.json")
_SHELL_WORDS = re.compile(r"[|&;<>()]+")
_TEST_WORD = re.compile(r"(?:^|[-_./])(?:tests?|specs?|checks?|e2e|__tests__)(?:[-_./]|$)")
_MODULE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_RUNS_PYTHON = re.compile(r"\b(?:python[\d.]*|py\.?test|tox|nox)\b")
# Names that Python imports from the first folder that has them, before its library or an installed tool.
_LIBRARY = frozenset(sys.stdlib_module_names) | {
    "pytest", "_pytest", "pluggy", "iniconfig", "packaging", "py", "xdist", "hypothesis", "coverage", "mock", "nose2",
}  # fmt: skip
Kind = Literal["judge", "neighbour", "none"]


class Judges(msgspec.Struct, frozen=True):
    """The judges: named files and folders, and the folders from which Python imports first."""

    patterns: tuple[str, ...]
    # Folders in which a runner looks for tests: a new file there is a test that the plan does not name.
    folders: tuple[str, ...] = ()
    imports_from: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()

    def kind_of(self, path: str) -> Kind:
        """Whether a file is a judge, or is in a folder of judges."""
        if matches(path, self.patterns) or self._shadows(path):
            return "judge"
        return "neighbour" if matches(path, self.folders) else "none"

    def steers(self, path: str) -> bool:
        """Whether a file decides how tests run although neither plan nor settings name it."""
        return matches(path, ALWAYS) or self._shadows(path)

    def part(self, path: str, data: bytes) -> bytes | None:
        """The part of a file that judges; None if no part does."""
        return part_of(path, data, self.commands)

    def _shadows(self, path: str) -> bool:
        """Whether Python would import this file instead of its library or a test runner."""
        for folder in self.imports_from:
            rest = path.removeprefix(f"{folder}/") if folder else path
            if folder and rest == path:
                continue
            first, _, below = rest.partition("/")
            name = first if below else first.partition(".")[0]
            if name in _LIBRARY and (below or first == name or first.endswith(".py")):
                return True
        return False


def judges_of(slices: Slices, settings: Iterable[str] = (), scripts: Iterable[str] = ()) -> Judges:
    """The judges from settings, plan and checks, and those that always judge.

    `scripts` are the texts of the scripts that the checks run: tests that they name are judges too.
    """
    checks = [(check.command, check.cwd) for check in slices.checks]
    exact = [*settings, *(judge for check in slices.checks for judge in check.judges)]
    folders: list[str] = []
    imports: list[str] = []
    for command, cwd in checks:
        named = paths_in(command, cwd)
        exact += named
        folders += [f"{path}/**" for path in named]
        more, tests = _runners(command, bool(named))
        exact += more
        folders += tests
        if _RUNS_PYTHON.search(command):
            imports += _imports(command, cwd, named)
    for text in scripts:
        for line in text.splitlines():
            named = [path for path in paths_in(line) if _TEST_WORD.search(path)]
            more, tests = _runners(line, bool(named))
            exact += [*named, *more]
            folders += [*(f"{path}/**" for path in named), *tests]
            imports += [""] if _RUNS_PYTHON.search(line) else []
    return Judges(
        tuple(dict.fromkeys([*exact, *ALWAYS])),
        tuple(dict.fromkeys(folders)),
        tuple(dict.fromkeys(imports)),
        tuple(command for command, _ in checks),
    )


def paths_in(command: str, cwd: str = "") -> list[str]:
    """Words of a command that may be files or folders of the project."""
    paths: list[str] = []
    for word in _split(command):
        path = word.partition("::")[0].removeprefix("./").rstrip("/")
        if not path or path.startswith(("-", "/", "~", "$")) or ".." in path.split("/") or "=" in path or " " in path:
            continue
        whole = join(relative_folder(cwd), path)
        if "/" in path or "." in path.strip(".") or _TEST_WORD.search(path):
            paths.append(whole)
        if "unittest" in command and _MODULE.fullmatch(path):
            parts = whole.split(".")
            paths += [f"{'/'.join(parts[:number])}.py" for number in range(2, len(parts) + 1)]
    return paths


def tests_named_by(check: Check) -> tuple[str, ...]:
    """The files of tests that a check names: as its judges, or by a word of its command that means a test."""
    words = (path for path in paths_in(check.command, check.cwd) if _TEST_WORD.search(path))
    return tuple(dict.fromkeys((*check.judges, *words)))


def _split(command: str) -> list[str]:
    try:
        return shlex.split(_SHELL_WORDS.sub(" ", command))
    except ValueError:
        return command.split()


def _runners(command: str, is_told: bool) -> tuple[list[str], list[str]]:
    """The settings files of the runners in a command, and the tests that the runners find themselves."""
    words = [word.rpartition("/")[2] for word in _split(command)]
    steers = [pattern for word in words for pattern in _STEERS.get(word, ())]
    # Runners for other languages than Python find tests by their settings, not by the command line.
    finds = [p for word in words if not (is_told and word in _TOLD) for p in _FINDS.get(word, ())]
    return steers, finds


def _imports(command: str, cwd: str, named: Iterable[str]) -> Iterator[str]:
    """Where Python imports first: the working folder, the folder of the script, and PYTHONPATH."""
    yield cwd.strip("/.")
    for word in _split(command):
        if word.startswith("PYTHONPATH="):
            yield from (part.strip("/.") for part in word.partition("=")[2].split(":") if not part.startswith("/"))
    for path in named:
        yield path.rpartition("/")[0] if path.endswith(".py") else path


def script_texts(root: Path, judges: Judges) -> list[str]:
    """The texts of the judges that are lists of commands."""
    scripts = (root / path for path in judges.patterns if path.endswith(_SCRIPTS))
    return [read_regular_file(path, most=MOST_BYTES).decode("utf-8", "replace") for path in scripts if path.is_file()]
