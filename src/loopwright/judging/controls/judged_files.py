"""Finds the test files and scripts that a command certainly runs.

A test module that a command names counts even if the list does not have it. A script does not: it may be the product.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from loopwright.judging.syntax.javascript_source import SUFFIXES
from loopwright.judging.syntax.shell_words import simple_commands

_NODE_TEST = re.compile(r"(?:.*/)?(?:[^/]+[.\-_]test|test|test-[^/]+)\.[cm]?[jt]s")
_SHELLS = frozenset({"sh", "bash", "dash", "zsh"})


def judged_by(command: str, files: Iterable[str]) -> tuple[str, ...]:
    """Which of these files a command runs; empty if the command is not a single call of a known runner."""
    commands = simple_commands(command)
    words = [word.value for word in commands[0].words] if len(commands) == 1 and not commands[0].after else []
    if not words or None in words:
        return ()
    program, *arguments = [word for word in words if word is not None]
    name = program.rpartition("/")[2]
    known = list(files)
    if name in {"pytest", "py.test"}:
        return _by_pytest(arguments, known)
    if re.fullmatch(r"python[\d.]*", name):
        return _by_python(arguments, known)
    if name == "node":
        return _by_node(arguments, known)
    script = arguments[0] if name in _SHELLS and arguments else program
    return tuple(path for path in known if path == script.removeprefix("./"))


def _by_python(arguments: list[str], files: list[str]) -> tuple[str, ...]:
    while arguments and re.fullmatch(r"-[BEIOPSsu]+", arguments[0]):
        arguments = arguments[1:]
    match arguments:
        case ["-m", "pytest", *rest]:
            return _by_pytest(rest, files)
        case ["-m", "unittest", *rest]:
            # `discover` is told folders: which files it finds there is not certain.
            modules = (word.replace("/", ".").removesuffix(".py") for word in rest if "discover" not in rest)
            named = (module for module in modules if all(part.isidentifier() for part in module.split(".")))
            return tuple(path for module in named for path in _module_files(module))
        case [script, *_]:
            return tuple(path for path in files if path.endswith(".py") and path == script.removeprefix("./"))
        case _:
            return ()


def _module_files(name: str) -> list[str]:
    """The files that `a.b.Case.test_x` may mean."""
    parts = name.split(".")
    return ["/".join(parts[:length]) + ".py" for length in range(1, len(parts) + 1)]


def _by_pytest(arguments: list[str], files: list[str]) -> tuple[str, ...]:
    named = [word.partition("::")[0].removeprefix("./").rstrip("/") for word in arguments if _is_path(word)]
    tests = [path for path in files if re.fullmatch(r"(?:.*/)?(?:test_[^/]*|[^/]*_test)\.py", path)]
    found = [path for path in tests if not named or any(f"{path}/".startswith(f"{name}/") for name in named)]
    return tuple(dict.fromkeys([*found, *(name for name in named if name.endswith(".py"))]))


def _by_node(arguments: list[str], files: list[str]) -> tuple[str, ...]:
    named = [word.removeprefix("./") for word in arguments if word.endswith(SUFFIXES)]
    if named or "--test" not in arguments:
        return tuple(path for path in files if path in named)
    return tuple(path for path in files if _NODE_TEST.fullmatch(path))


def _is_path(word: str) -> bool:
    return not word.startswith("-") and ("/" in word or word.endswith(".py") or "test" in word)
