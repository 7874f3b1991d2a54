"""Lets Python tests record what they expect, in a new sandbox, and reads the record after the run."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from pathlib import Path
from posixpath import dirname, join, normpath

from loopwright.judging.controls.files_of_tests import IsProduct
from loopwright.judging.controls.judged_files import judged_by
from loopwright.judging.controls.watched_values import RecordedValues, WatchedFile, read_record, watch
from loopwright.judging.scope import WorkScope
from loopwright.loop.altered_files import own_file
from loopwright.runner.request import Observer
from loopwright.sandbox.port import Changes, Sandbox
from loopwright.workspace.settings_model import TestCommand

_MOST_READ = 1 << 20
# Files, and their functions that prove something; None: the whole file.
Proving = Mapping[str, frozenset[str] | None]


def watched_files(
    contents: Mapping[str, bytes],
    proving: Proving,
    files: frozenset[str],
    scope: WorkScope,
    changed: tuple[str, ...],
    read: Callable[[str], bytes],
) -> dict[str, WatchedFile]:
    """The test files in which values can be watched, by their paths. `contents` are those of the base.

    `read` reads other files of the base.
    """
    product = frozenset(path for path in files if path.endswith((".py", ".pyi")) and not scope.is_judge(path))
    data_files = frozenset(path.rpartition("/")[2] for path in changed)
    found = {}

    @cache
    def read_tests(path: str) -> bytes | None:
        return read(path) if path in files and scope.is_judge(path) else None

    for path, source in contents.items():
        # A fixed name could be recognised by the work.
        name = f"_record_{secrets.token_hex(4)}"
        leads = partial(_leads_to, product)
        watched = watch(source, proving.get(path), leads, data_files, name=name, path=path, read=read_tests)
        if watched is not None:
            found[path] = watched
    return found


def proving_functions(tests: Iterable[str], commands: Iterable[TestCommand], judges: tuple[str, ...]) -> Proving:
    """The functions that prove something, by their files. Without tests these are the scripts of the commands."""
    found: dict[str, frozenset[str]] = {}
    for test in tests:
        path = test.partition("::")[0]
        found[path] = found.get(path, frozenset()) | {_function_of(test)}
    if found:
        return dict(found)
    scripts = (path for command in commands if not command.cwd for path in judged_by(command.command, judges))
    return dict.fromkeys(scripts)


def _function_of(test: str) -> str:
    """`test_app` for `tests/test_app.py::Tests::test_app[Ann]`."""
    name = test.partition("::")[2].partition("[")[0]
    return name.replace("::", ".").rpartition(".")[2]


def _leads_to(product: frozenset[str], test: str) -> IsProduct:
    """Whether an import in a test file leads to the product: by the paths of its files, wherever they lie."""
    named = {part for path in product for part in (*path.split("/")[:-1], path.rpartition("/")[2].rpartition(".")[0])}

    def leads_there(module: str, name: str, level: int) -> bool:
        if not level:
            return module.partition(".")[0] in named
        folder = normpath(join(dirname(test), *[".."] * (level - 1), *module.split(".")))
        places = (folder, join(folder, name))
        return any(f"{place}{ending}" in product for place in places for ending in (".py", "/__init__.py"))

    return leads_there


class WatchedTests(Observer):
    """Puts test files that record their values into a new sandbox."""

    def __init__(self, files: Mapping[str, WatchedFile]) -> None:
        self._files = files
        self.recorded: dict[str, RecordedValues] = {}

    def before_steps(self, sandbox: Sandbox) -> None:
        """Replace the test files."""
        for path, watched in self._files.items():
            place = own_file(sandbox.place.repo, path)
            if place is not None:
                place.write_bytes(watched.source)

    def after_steps(self, sandbox: Sandbox) -> Changes | None:
        """Read the records. Nothing of this sandbox is kept."""
        for path, watched in self._files.items():
            place = own_file(sandbox.place.repo, join(dirname(path), watched.record))
            self.recorded[path] = read_record(_text(place) if place is not None else "")
        return None


def _text(place: Path) -> str:
    with place.open("rb") as record:
        return record.read(_MOST_READ).decode("utf-8", "replace")
