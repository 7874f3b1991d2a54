"""Finds the scripts whose exit code decides whether a command passes. Pure.

Such a script may be the product or the judge of the product: the command does not tell. A script whose output goes
into another program or into a file does not decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from posixpath import dirname, join, normpath

from loopwright.judging.globs import matches
from loopwright.judging.syntax.shell_words import SimpleCommand, shell_words, simple_commands
from loopwright.kernel.relative_folder import relative_folder

_INTERPRETERS = re.compile(r"python[\d.]*|pypy[\d.]*|node|nodejs|bun|deno|ruby|perl|php|lua|(?:ba|da|z|k)?sh|source|\.")
_WRAPPERS = frozenset(["env", "time", "nice", "exec", "command", "xvfb-run", "timeout", "sudo"])
_NOWHERE = "/dev/null"
_NUMBER = re.compile(r"[\d.]+[smh]?")
# The code is in the next word, or in a module.
_DOCTEST = ("-m", "doctest")
_START_FOLDER = frozenset({"discover", "-s", "--start-directory"})
_TOP_FOLDER = frozenset({"-t", "--top-level-directory"})
_RUNS_TESTS = "--test"
_NO_FILE = re.compile(r"-\w*[cem]|--eval|--print")


def deciding_scripts(command: str, cwd: str = "", tests: tuple[str, ...] = ()) -> frozenset[str]:
    """The paths of these scripts in the project; the command runs in the folder `cwd` of the project.

    A file that matches `tests` is no script if a test runner gets it (`node --test FILE`).
    """
    return frozenset(_scripts(command, cwd, tests))


def named_paths(command: str, cwd: str = "") -> frozenset[str]:
    """The paths that a command may name, such as the folder in which a runner looks for tests; most words are none."""
    words = ((word.value, folder) for call, folder in _calls(command, cwd) for word in call.words[1:])
    return frozenset(normpath(join(folder, value)) for value, folder in words if value is not None)


def import_roots(command: str, cwd: str, files: frozenset[str]) -> frozenset[str]:
    """The folders of the project in which Python looks for modules first, if the command runs Python.

    These are the folder of each script, also of one whose output is compared, the folder in which the command runs, and
    those that the command puts into PYTHONPATH.
    """
    return frozenset(root for root in _import_roots(command, cwd, files) if not root.startswith(("../", "/")))


def _import_roots(command: str, cwd: str, files: frozenset[str]) -> Iterator[str]:
    for word in shell_words(command):
        name, _, folders = word.text.replace('"', "").replace("'", "").partition("=")
        if name == "PYTHONPATH":
            yield from (relative_folder(join(cwd, path)) for path in folders.split(":") if path and "$" not in path)
    for call, folder in _calls(command, cwd):
        if call.before[-1:] in ("<", ">"):
            continue  # the file of a redirection
        yield relative_folder(folder)
        values = [word.value for word in call.words]
        if "discover" in values and not _TOP_FOLDER.intersection(values):
            # unittest imports from the folder in which it looks for tests, also if the folder is a package.
            starts = (after for option, after in pairwise(values) if option in _START_FOLDER and after is not None)
            yield from (relative_folder(join(folder, start)) for start in starts if not start.startswith("-"))
        script = _script(values)
        if script is not None and not script.startswith(("/", "~")):
            path = normpath(join(folder, script))
            # Python runs a folder by its `__main__.py`.
            yield path if f"{path}/__main__.py" in files else dirname(path)


def _scripts(command: str, cwd: str, tests: tuple[str, ...]) -> Iterator[str]:
    calls = list(_calls(command, cwd))
    following = [call for call, _ in calls[1:]]
    for (call, folder), after in zip(calls, [*following, None], strict=False):
        for script in () if _is_compared(call, after) else _run_files([word.value for word in call.words]):
            path = normpath(join(folder, script))
            is_test = any(word.value == _RUNS_TESTS for word in call.words) and matches(path, tests)
            if not path.startswith(("../", "/")) and not script.startswith("~") and not is_test:
                yield path


def _calls(command: str, cwd: str) -> Iterator[tuple[SimpleCommand, str]]:
    """Each call with the folder in which it runs."""
    folder = relative_folder(cwd)
    for call in simple_commands(command):
        values = [word.value for word in call.words]
        if values[0] == "cd" and len(values) == 2 and values[1] is not None:
            folder = join(folder, values[1])
        else:
            yield call, folder


def _is_compared(call: SimpleCommand, after: SimpleCommand | None) -> bool:
    """Whether something else may read the output of the call."""
    if call.after.startswith("|"):
        return not call.after.startswith("||")
    is_error = call.words[-1].text == "2"
    target = after.words[0].text if after is not None and call.after.startswith(">") else _NOWHERE
    return not is_error and target != _NOWHERE


def _run_files(values: list[str | None]) -> Iterator[str]:
    """The files that a program call runs: a script, or the documents whose examples doctest runs."""
    script = _script(values)
    if script is not None:
        yield script
    elif _DOCTEST in pairwise(values):
        after = values[values.index(_DOCTEST[1]) + 1 :]
        # A module with examples is the product.
        yield from (value for value in after if value is not None and not value.startswith("-") and value[-3:] != ".py")


def _script(values: list[str | None]) -> str | None:
    """The file that a program call runs; None if it runs no file of its own."""
    while values and ((values[0] or "") in _WRAPPERS or _NUMBER.fullmatch(values[0] or "") or "=" in (values[0] or "")):
        values = values[1:]
    if not values or values[0] is None:
        return None
    if not _INTERPRETERS.fullmatch(values[0].rpartition("/")[2]):
        return values[0] if "/" in values[0] else None
    for value in values[1:]:
        if value is None or _NO_FILE.fullmatch(value):
            return None
        if not value.startswith("-"):
            return value
    return None
