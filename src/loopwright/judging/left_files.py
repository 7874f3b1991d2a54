"""Which files that a command leaves may steer the programs after it, and which it compares. Pure.

Honest tests leave logs, caches and built files. These rules name only files that a program loads in place of another
file, or without being told.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from posixpath import basename, dirname, join, normpath

from loopwright.judging.controls.shell import compared_pairs
from loopwright.judging.globs import matches
from loopwright.judging.syntax.javascript_source import SUFFIXES
from loopwright.judging.syntax.shell_words import simple_commands

# Settings that a runner or an interpreter searches for, in any folder.
_SEARCHED = (
    "**/conftest.py", "**/sitecustomize.py", "**/usercustomize.py", "**/sitecustomize", "**/usercustomize",
    "**/pytest.ini", "**/.pytest.ini", "**/pytest.toml", "**/tox.ini", "**/setup.cfg", "**/pyproject.toml",
    "**/package.json", "**/node_modules", "**/*.config.js", "**/*.config.[cm]js", "**/*.config.ts",
    "**/[jt]sconfig.json", "**/.mocharc*", "**/.babelrc*", "**/.npmrc", "**/.coveragerc", "**/.swcrc", "**/.env",
)  # fmt: skip
# The same in the home folder.
_SEARCHED_AT_HOME = (
    ".local/lib/python*/site-packages/**", ".node_modules/**", ".node_libraries/**", ".*rc", ".profile",
    ".bash_profile", ".gitconfig", ".config/git/**", ".config/pip/**", ".pip/**", ".config/python/**",
)  # fmt: skip
_PYTHON = (".py", ".pyc", ".pyd", ".so")
_TEXTS = frozenset({"echo", "printf"})
_LIBRARY = frozenset(sys.stdlib_module_names) | {"pytest", "_pytest", "pluggy"}


def steers(path: str, judges: frozenset[str], has: Callable[[str], bool]) -> bool:
    """Whether a new file or folder of the project may be loaded in place of a judge, or by its name.

    `has` tells whether a file exists in the new folder.
    """
    name, folder = basename(path), dirname(path)
    stem, _, kind = name.partition(".")
    if matches(path, _SEARCHED):
        return True
    if name.endswith(_PYTHON) or (not kind and has("__init__.py")):
        return stem in _LIBRARY or stem in _modules(judges)
    if name.endswith(SUFFIXES) or (not kind and (has("index.js") or has("package.json"))):
        # `require("./expected")` finds a script before data and folders.
        siblings = (basename(judge) for judge in judges if dirname(judge) == folder)
        return any(name.partition(".")[0] == stem and name.endswith((*SUFFIXES, ".json")) for name in siblings)
    return False


def steers_from_home(path: str) -> bool:
    """Whether a file of the home folder changes how programs start."""
    return matches(path, _SEARCHED_AT_HOME)


def folders_of_modules(judges: Iterable[str]) -> frozenset[str]:
    """The folders with Python modules that judge: their bytecode must come from these modules."""
    return frozenset(dirname(path) for path in judges if path.endswith(".py"))


def generated_pairs(commands: Iterable[tuple[str, str]], files: frozenset[str]) -> Iterator[tuple[str, str]]:
    """The files that commands compare with each other, if the project has neither: one of them is the expectation."""
    for command, cwd in commands:
        for pair in compared_pairs(command):
            first, second = (normpath(join(cwd, name)) for name in pair)
            if not {first, second} & files:
                yield first, second


def written_by_judges(commands: Iterable[tuple[str, str]], judges: frozenset[str]) -> Iterator[str]:
    """The files into which commands write the output of judges, or a fixed text."""
    for command, cwd in commands:
        words: list[str | None] = []
        for call in simple_commands(command):
            if call.before not in {">", ">>"}:
                words = [word.value for word in call.words]
            elif (name := call.words[0].value) is not None and _is_of_judges(words, cwd, judges):
                yield normpath(join(cwd, name))


def _is_of_judges(words: list[str | None], cwd: str, judges: frozenset[str]) -> bool:
    program, *arguments = words or [None]
    if program in _TEXTS:
        return None not in arguments
    script = next((word for word in arguments if word is not None and not word.startswith("-")), "")
    is_file = arguments[:1] != ["-m"] and arguments[:1] != ["-c"]
    return is_file and normpath(join(cwd, script)) in judges


def _modules(judges: frozenset[str]) -> frozenset[str]:
    return frozenset(basename(path).removesuffix(".py") for path in judges if path.endswith(".py"))
